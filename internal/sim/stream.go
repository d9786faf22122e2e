package sim

import "github.com/throng-dev/throng/internal/kit/random"

// A Stream is a named source of random figures of one repetition. It has no
// state: At gives the figures of the thing numbered n, the same ones on every
// call.
type Stream uint64

// NewStream names a stream of a repetition.
func NewStream(seed uint64, rep int, name string) Stream {
	h := random.Mix(seed ^ random.Golden)
	h = random.Mix(h ^ uint64(rep))
	for _, c := range []byte(name) {
		h = random.Mix(h ^ uint64(c))
	}
	return Stream(h)
}

// At returns the figures that belong to n.
func (s Stream) At(n uint64) Rand { return Rand(random.Mix(uint64(s) ^ random.Mix(n+1))) }

// A Rand is a sequence of random figures.
type Rand = random.Source
