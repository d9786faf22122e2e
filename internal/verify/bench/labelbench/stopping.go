package labelbench

import (
	"math/rand/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// Stopping is what asking until a label is sure takes, against the same number of answers
// for every task. Labels are those of ds-map from the answers that were bought, for both.
type Stopping struct {
	Confidence float64 `json:"confidence"`
	Fewest     int     `json:"min"`
	Most       int     `json:"at_most"`
	Tasks      int     `json:"tasks"`
	Answers    float64 `json:"answers_per_task"`
	Accuracy   float64 `json:"accuracy"` // of the tasks whose label is known, 0 to 1
	Fixed      []Fixed `json:"fixed"`
	// Saved is the share of answers that is saved against the fewest answers a task, the
	// same for all, with which the labels are as often right; nil: at most_most answers
	// each they are not.
	Saved *float64 `json:"saved,omitempty"`
}

// Fixed is what a number of answers to every task gives.
type Fixed struct {
	Answers  int     `json:"answers_per_task"` // asked for; a task has no more than were recorded
	Bought   float64 `json:"bought_per_task"`
	Accuracy float64 `json:"accuracy"`
}

// replay gives the answers of a data set again.
type replay struct {
	data  *label.Dataset
	known map[string]string
	order [][]int // in which the answers to each task come: who has a name that sorts first is not always first
}

func newReplay(d *label.Dataset, truth label.Truth) *replay {
	r := &replay{data: d, known: make(map[string]string), order: make([][]int, len(d.Tasks()))}
	rng := rand.New(rand.NewPCG(1, 3))
	for i, task := range d.Tasks() {
		_, labels := d.Answers(i)
		r.order[i] = rng.Perm(len(labels))
		if truth[i] != label.None {
			r.known[task] = d.Classes()[truth[i]]
		}
	}
	return r
}

// stopping gives fewest answers first, one to every open task in turn, until the rule has
// enough. The model follows each answer, and looks at the others in small pieces, as an
// engine does.
func (r *replay) stopping(rule label.Rule) (Stopping, error) {
	d := r.data
	s := Stopping{Confidence: rule.Confidence(), Fewest: rule.Fewest(), Most: rule.Most(), Tasks: len(d.Tasks())}
	live, err := rule.Live()
	if err != nil {
		return s, err
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
	s.Answers = float64(total) / float64(len(bought))
	if s.Accuracy, err = r.accuracy(func(i int) int { return bought[i] }); err != nil {
		return s, err
	}
	for n := rule.Fewest(); ; n++ {
		f := Fixed{Answers: n}
		sum := 0
		for _, order := range r.order {
			sum += min(n, len(order))
		}
		f.Bought = float64(sum) / float64(len(bought))
		if len(s.Fixed) > 0 && f.Bought == s.Fixed[len(s.Fixed)-1].Bought {
			return s, nil // nobody has answered more often
		}
		if f.Accuracy, err = r.accuracy(func(int) int { return n }); err != nil {
			return s, err
		}
		s.Fixed = append(s.Fixed, f)
		if s.Saved == nil && f.Accuracy >= s.Accuracy-equal {
			saved := 1 - s.Answers/f.Bought
			s.Saved = &saved
		}
	}
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
