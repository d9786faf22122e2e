package label

import (
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/random"
)

// A ticket is what two equally good labels of one task are compared by: the
// greater wins. It is a hash of the task's id and the label, fixed for good, so
// that the same tie is broken the same way live, in a simulation and in an
// export, while over many tasks no label is favoured.
//
// It is FNV-1a over the task's id, a separator and the label, mixed: FNV alone
// leaves the last byte, which is all that differs between "0" and "1", in the low
// bits. Source: Fowler, Noll and Vo, "The FNV non-cryptographic hash algorithm".
func ticket(task seed, label string) uint64 {
	return random.Mix(fnv(uint64(task), label))
}

// seed is the part of a ticket that is the task's.
type seed uint64

// seedOf returns the seed of a task by its id in text.
func seedOf[S string | []byte](task S) seed {
	return seed((fnv(fnvStart, task) ^ 0xff) * fnvPrime) // 0xff is in no UTF-8 text
}

// seedOfID is seedOf(id.String()) without making the string.
func seedOfID(id crowd.TaskID) seed {
	var buf [24]byte
	text := append(buf[:0], 't')
	text = strconv.AppendInt(text, int64(id.Batch()), 10)
	text = append(text, '.')
	text = strconv.AppendUint(text, uint64(id.N()), 10)
	return seedOf(text)
}

// wins reports whether label a is picked over label b where both are equally good.
func (s seed) wins(a, b string) bool {
	ta, tb := ticket(s, a), ticket(s, b)
	return ta > tb || ta == tb && a > b
}

const (
	fnvStart uint64 = 14695981039346656037
	fnvPrime uint64 = 1099511628211
)

func fnv[S string | []byte](h uint64, s S) uint64 {
	for n := range len(s) {
		h = (h ^ uint64(s[n])) * fnvPrime
	}
	return h
}
