package label

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// PerOption labels tasks whose answers are sets of options, written as JSON lists such as
// ["cat","dog"]: each option is a question of its own, answered yes by those who chose it
// and no by those who did not, and Method answers it over all tasks. The label is the set
// of those more probable than not. Its confidence is the least of any option: that all of
// the set is right can be no likelier.
//
// Gold is used if Method uses it; its classes are sets, too.
//
// Source: binary relevance, as in Tsoumakas and Katakis 2007, "Multi-label
// classification: an overview".
type PerOption struct{ Method }

// Name returns "per-option".
func (PerOption) Name() string { return "per-option" }

// Takes returns Sets.
func (PerOption) Takes() Answers { return Sets }

// Check refuses an answer that is no JSON list of texts.
func (PerOption) Check(label string) error {
	_, err := optionsOf(label)
	return err
}

func optionsOf(class string) (options []string, err error) {
	if err := json.Unmarshal([]byte(class), &options); err != nil || options == nil {
		return nil, crowd.Errorf(crowd.Invalid, `%.80q is not a JSON list of options, such as ["a","b"]`, class)
	}
	return options, nil
}

// maxOptions bounds the options of a data set: each is a fit.
const maxOptions = 1000

// Fit fits each option. Its time is Method's for each, with two classes.
func (m PerOption) Fit(d *Dataset, gold Truth) (*Result, error) {
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	chosen := make([][]string, len(d.classes))
	var options []string
	for k, class := range d.classes {
		var err error
		if chosen[k], err = optionsOf(class); err != nil {
			return nil, err
		}
		options = append(options, chosen[k]...)
	}
	options = commonOrder(options, chosen)
	if len(options) > maxOptions {
		return nil, crowd.Errorf(crowd.TooLarge, "%d options are too many to be asked one by one: at most %d", len(options), maxOptions)
	}
	r := &Result{Data: d, Method: m.Name(), Converged: true, options: options, chosen: make([]float64, len(d.tasks)*len(options))}
	for o, option := range options {
		has := lists.Map(chosen, func(list []string) bool { return slices.Contains(list, option) })
		part, err := m.Method.Fit(d.yesOrNo(has), gold.yesOrNo(has))
		if err != nil {
			return nil, err
		}
		r.Iterations, r.Converged = max(r.Iterations, part.Iterations), r.Converged && part.Converged
		for i := range d.tasks {
			r.chosen[i*len(options)+o] = part.Posterior(i)[yes]
		}
	}
	r.pickSets()
	return r, nil
}

// commonOrder returns the options, each once, in an order that all sets keep, or by name
// where there is none: a label is written as an answer is.
func commonOrder(options []string, sets [][]string) []string {
	slices.Sort(options)
	options = slices.Compact(options)
	after := make(map[string]map[string]bool) // what stands behind an option in some set
	before := make(map[string]int)            // how many options stand right before one
	for _, set := range sets {
		for n := 1; n < len(set); n++ {
			if after[set[n-1]] == nil {
				after[set[n-1]] = make(map[string]bool)
			}
			if !after[set[n-1]][set[n]] {
				after[set[n-1]][set[n]] = true
				before[set[n]]++
			}
		}
	}
	var order []string
	left := slices.Clone(options)
	for len(left) > 0 {
		n := slices.IndexFunc(left, func(o string) bool { return before[o] == 0 })
		if n < 0 {
			return options
		}
		for o := range after[left[n]] {
			before[o]--
		}
		order = append(order, left[n])
		left = slices.Delete(left, n, n+1)
	}
	return order
}

// The classes of one option.
const (
	no Class = iota
	yes
)

// yesOrNo returns the answers as whether the class has an option.
func (d *Dataset) yesOrNo(has []bool) *Dataset {
	out := *d
	out.classes = []string{"no", "yes"}
	out.label = lists.Map(d.label, func(k Class) Class { return of(has[k]) })
	return &out
}

func (t Truth) yesOrNo(has []bool) Truth {
	if t == nil {
		return nil
	}
	return lists.Map(t, func(k Class) Class {
		if k == None {
			return None
		}
		return of(has[k])
	})
}

func of(chosen bool) Class {
	if chosen {
		return yes
	}
	return no
}

// pickSets makes the labels of the options' probabilities.
func (r *Result) pickSets() {
	n := len(r.options)
	r.Labels, r.Ties = make([]Class, len(r.Data.tasks)), make([]bool, len(r.Data.tasks))
	r.values, r.confidence = make([]string, len(r.Data.tasks)), make([]float64, len(r.Data.tasks))
	for i := range r.Data.tasks {
		set, least := []string{}, 1.0
		for o, p := range r.chosen[i*n : (i+1)*n] {
			if p > .5 {
				set = append(set, r.options[o])
			}
			least = min(least, max(p, 1-p))
			r.Ties[i] = r.Ties[i] || p > .5-tieWithin && p < .5+tieWithin
		}
		r.values[i], r.confidence[i] = jsonList(set), least
		k, there := r.Data.classOf(r.values[i])
		if !there { // nobody chose just these: what most chose stands for them where a class is needed
			k, _ = r.pick(i)
		}
		r.Labels[i] = k
	}
}

// jsonList writes a list as answers are written: without spaces, and characters as they are.
func jsonList(list []string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(list) // texts always can be written
	return strings.TrimSuffix(b.String(), "\n")
}

var _ Method = PerOption{}
