// Package examples is what the example workflows of the folder workflows need:
// it makes their data, with what is true of it, and it is the local services
// that one of them calls. Its tests run each example whole.
//
// All data is made up here, from a seed: no product, comment or claim is
// anybody's.
package examples

import (
	"encoding/csv"
	"strings"

	"github.com/throng-dev/throng/internal/sim"
)

// Seed is what the data in the folder is made from.
const Seed = 1

// File is a data file of an example.
type File struct {
	Path string // from the folder of examples
	Text string
}

// Files makes the data of all examples. The same seed makes the same files.
func Files(seed uint64) []File {
	var list []File
	list = append(list, products(seed)...)
	list = append(list, comments(seed), claims(seed))
	return list
}

// sheet is a CSV file in the making.
type sheet struct {
	b strings.Builder
	w *csv.Writer
}

func newSheet(columns ...string) *sheet {
	s := &sheet{}
	s.w = csv.NewWriter(&s.b)
	s.add(columns...)
	return s
}

func (s *sheet) add(cells ...string) { _ = s.w.Write(cells) } // a strings.Builder takes all

func (s *sheet) file(path string) File {
	s.w.Flush()
	return File{Path: path, Text: s.b.String()}
}

// dice are the random draws of one example.
type dice struct{ sim.Rand }

func newDice(seed uint64, name string) *dice { return &dice{sim.NewStream(seed, 0, name).At(0)} }

func (d *dice) pick(list []string) string { return list[d.IntN(len(list))] }

// chance is true with probability p.
func (d *dice) chance(p float64) bool { return d.Float64() < p }

// shuffle puts n things into a random order.
func (d *dice) shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, d.IntN(i+1))
	}
}
