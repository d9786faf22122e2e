package labelbench

import (
	"math/rand/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// Stopping is what asking until a label is sure takes, against the same number of answers
// for every task, as means over some draws of the order in which the answers come. Labels are
// those of ds-map from the answers that were bought, for both.
type Stopping struct {
	Confidence float64 `json:"confidence"`
	Fewest     int     `json:"min"`
	Most       int     `json:"at_most"`
	Draws      int     `json:"draws"`
	Tasks      int     `json:"tasks"`
	Answers    float64 `json:"answers_per_task"`
	Accuracy   float64 `json:"accuracy"` // of the tasks whose label is known, 0 to 1
	Fixed      []Fixed `json:"fixed"`
	// Saved is the share of answers that is saved against so many answers to each task that
	// the labels are as often right, between two numbers in proportion; nil: with all there
	// are they are not.
	Saved *float64 `json:"saved,omitempty"`
}

// Fixed is what a number of answers to every task gives.
type Fixed struct {
	Answers  int     `json:"answers_per_task"` // asked for; a task has no more than were recorded
	Bought   float64 `json:"bought_per_task"`
	Accuracy float64 `json:"accuracy"`
}

// draws is how many orders of the answers are drawn: with a single one, by which of them happen to
// come first, the share that is saved differs by more than a tenth.
const draws = 8

// stopping asks by the rule for the answers of a data set again, in some orders.
func stopping(d *label.Dataset, truth label.Truth, rule label.Rule) (Stopping, error) {
	s := Stopping{Confidence: rule.Confidence(), Fewest: rule.Fewest(), Most: rule.Most(), Draws: draws, Tasks: len(d.Tasks())}
	for seed := range uint64(draws) {
		r := newReplay(d, truth, seed)
		answers, accuracy, err := r.until(rule)
		if err != nil {
			return s, err
		}
		s.Answers, s.Accuracy = s.Answers+answers/draws, s.Accuracy+accuracy/draws
		for i := 0; ; i++ {
			n := rule.Fewest() + i
			bought := r.bought(n)
			if i > 0 && bought == r.bought(n-1) {
				break // nobody has answered more often
			}
			if i == len(s.Fixed) {
				s.Fixed = append(s.Fixed, Fixed{Answers: n, Bought: bought})
			}
			if accuracy, err = r.accuracy(func(int) int { return n }); err != nil {
				return s, err
			}
			s.Fixed[i].Accuracy += accuracy / draws
		}
	}
	s.Saved = s.saved()
	return s, nil
}

// saved is what is saved against equally good labels.
func (s *Stopping) saved() *float64 {
	for i, f := range s.Fixed {
		if f.Accuracy < s.Accuracy-equal {
			continue
		}
		bought := f.Bought
		if i > 0 {
			before := s.Fixed[i-1]
			bought = before.Bought + (s.Accuracy-equal-before.Accuracy)/(f.Accuracy-before.Accuracy)*(f.Bought-before.Bought)
		}
		saved := 1 - s.Answers/bought
		return &saved
	}
	return nil
}

// replay gives the answers of a data set again.
type replay struct {
	data  *label.Dataset
	known map[string]string
	order [][]int // in which the answers to each task come: who has a name that sorts first is not always first
}

func newReplay(d *label.Dataset, truth label.Truth, seed uint64) *replay {
	r := &replay{data: d, known: make(map[string]string), order: make([][]int, len(d.Tasks()))}
	rng := rand.New(rand.NewPCG(seed, 3))
	for i, task := range d.Tasks() {
		_, labels := d.Answers(i)
		r.order[i] = rng.Perm(len(labels))
		if truth[i] != label.None {
			r.known[task] = d.Classes()[truth[i]]
		}
	}
	return r
}

// bought is how many answers a task there are, if each is asked for n.
func (r *replay) bought(n int) float64 {
	sum := 0
	for _, order := range r.order {
		sum += min(n, len(order))
	}
	return float64(sum) / float64(len(r.order))
}

// until gives fewest answers first, one to every open task in turn, until the rule has
// enough. The model follows each answer, and looks at the others in small pieces, as an
// engine does. It returns the answers a task, and the share of labels that are right.
func (r *replay) until(rule label.Rule) (answers, accuracy float64, err error) {
	d := r.data
	live, err := rule.Live()
	if err != nil {
		return 0, 0, err
	}
	bought := make([]int, len(d.Tasks())) // of each task
	done := make([]bool, len(bought))
	total, next := 0, 0
	look := func(i int) {
		done[i] = done[i] || bought[i] > 0 && rule.DecideBy(crowd.BatchID(1).Task(uint32(i)+1), live.Posterior(i), d.Classes(), bought[i], 0).Enough
	}
	for round := range rule.Most() {
		for i, order := range r.order {
			if done[i] || round >= len(order) {
				continue
			}
			workers, labels := d.Answers(i)
			live.Set(i, int(workers[order[round]]), labels[order[round]])
			bought[i], total = bought[i]+1, total+1
			look(i)
			next = live.Renew(next, renewed, look)
		}
	}
	accuracy, err = r.accuracy(func(i int) int { return bought[i] })
	return float64(total) / float64(len(bought)), accuracy, err
}

const (
	// renewed is how many answers' worth of other tasks is looked at again with each answer.
	renewed = 10
	// equal is by how much two accuracies may differ and count as equal.
	equal = .003
)

// accuracy is how often ds-map is right, made of the first so many answers to each task.
func (r *replay) accuracy(first func(task int) int) (float64, error) {
	d := r.data
	var b label.Builder
	for _, class := range d.Classes() {
		b.Class(class)
	}
	for i, task := range d.Tasks() {
		workers, labels := d.Answers(i)
		for _, n := range r.order[i][:min(first(i), len(labels))] {
			b.Add(label.Answer{Task: task, Worker: d.Workers()[workers[n]], Label: d.Classes()[labels[n]]})
		}
	}
	part := b.Build()
	truth, err := part.Truth(r.known)
	if err != nil {
		return 0, err
	}
	fitted, err := label.DefaultDawidSkene().Fit(part, nil)
	if err != nil {
		return 0, err
	}
	share, _ := fitted.Accuracy(truth)
	return share, nil
}
