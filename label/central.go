package label

import (
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/similarity"
)

// Central labels a task with the most central of its answers, which are texts: the one
// that is most like all the others,
//
//	label = argmax over the answers a of Σ over the answers b of sim(Fold(a), Fold(b))
//
// with sim one less the share of characters that an edit must change (Levenshtein), of the
// first thousand of each. Texts
// that are equal but for capitals and spaces are one answer, which is written as most who
// gave it wrote it. A label is always an answer that somebody gave. Its confidence is its
// mean likeness to the answers, itself included: 1 where all are alike. Gold is not used.
//
// Source: the medoid, as of Kaufman and Rousseeuw 1987, "Clustering by means of medoids".
type Central struct{}

// Name returns "central".
func (Central) Name() string { return "central" }

// UsesGold returns false.
func (Central) UsesGold() bool { return false }

// Takes returns Texts.
func (Central) Takes() Answers { return Texts }

// Fold returns a text without differences that seldom mean anything: small letters, and
// one space between words.
func Fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// comparedLength is how many characters of two texts are compared: the time grows with its
// square.
const comparedLength = 1000

// Fit compares the answers to each task. O(Σ n_i² · length²), length at most
// comparedLength.
func (m Central) Fit(d *Dataset, gold Truth) (*Result, error) {
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	r := &Result{Data: d, Method: m.Name(), Converged: true, equal: make([][2]Class, len(d.tasks)), confidence: make([]float64, len(d.tasks))}
	for i := range d.tasks {
		r.equal[i], r.confidence[i] = m.of(d, i)
	}
	r.pickAll()
	return r, nil
}

// spelling is a folded answer to a task.
type spelling struct {
	text     string
	compared string // its first comparedLength characters
	best     Class  // the way in which it was written most often
	most     int    // how often that
	votes    int    // of all ways
}

// of returns the most central answer to a task, and a second one that is as central, or
// the same.
func (Central) of(d *Dataset, task int) (central [2]Class, likeness float64) {
	list := spellings(d, task)
	total := 0
	for _, s := range list {
		total += s.votes
	}
	best := -1.0
	for _, a := range list {
		sum := 0.0
		for n, b := range list {
			d.poll(n * pollEvery) // two long texts take a millisecond
			sum += float64(b.votes) * similarity.Levenshtein(a.compared, b.compared)
		}
		switch sum /= float64(total); {
		case sum > best+tieWithin:
			best, central = sum, [2]Class{a.best, a.best}
		case sum > best-tieWithin:
			central[1] = a.best
		}
	}
	return central, best
}

// spellings lists the folded answers to a task in the order of their classes.
func spellings(d *Dataset, task int) (list []spelling) {
	_, labels := d.Answers(task)
	at := make(map[string]int, len(labels))
	sorted := slices.Sorted(slices.Values(labels))
	for from := 0; from < len(sorted); {
		k, to := sorted[from], from
		for to < len(sorted) && sorted[to] == k {
			to++
		}
		text := Fold(d.classes[k])
		x, there := at[text]
		if !there {
			x = len(list)
			at[text] = x
			list = append(list, spelling{text: text, compared: format.Clip(text, comparedLength)})
		}
		s := &list[x]
		s.votes += to - from
		if to-from > s.most {
			s.best, s.most = k, to-from
		}
		from = to
	}
	return list
}

var _ Method = Central{}
