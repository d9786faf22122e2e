package label

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// Truth holds, for each task of one Dataset, the class that is known to be
// right, or None. As gold it teaches a Method; as truth it scores a Result. The
// nil Truth knows nothing.
type Truth []Class

// Truth looks up the known labels of tasks by name. Tasks of which the data
// set has no answer are passed over. A label that is no class of the data set
// is an error: name it to Builder.Class.
func (d *Dataset) Truth(known map[string]string) (Truth, error) {
	truth := make(Truth, len(d.tasks))
	for i, task := range d.tasks {
		truth[i] = None
		name, ok := known[task]
		if !ok {
			continue
		}
		k, ok := d.classOf(name)
		if !ok {
			return nil, crowd.Fieldf("truth", "task %q is said to be %q, which is none of the classes", task, name)
		}
		truth[i] = k
	}
	return truth, nil
}

// Known counts the tasks whose class is known.
func (t Truth) Known() int { return lists.Count(t, func(k Class) bool { return k != None }) }

// Right counts, for each worker of d, the answers to tasks whose truth is known,
// and those of them that are right. Truth must be of d.
func (d *Dataset) Right(truth Truth) (right, known []int) {
	right, known = make([]int, len(d.workers)), make([]int, len(d.workers))
	for i := range d.tasks {
		want := truth.of(i)
		if want == None {
			continue
		}
		workers, labels := d.Answers(i)
		for n, j := range workers {
			known[j]++
			if labels[n] == want {
				right[j]++
			}
		}
	}
	return right, known
}

// of returns the known class of a task, or None.
func (t Truth) of(task int) Class {
	if t == nil {
		return None
	}
	return t[task]
}

// validFor checks that t was made for d.
func (t Truth) validFor(d *Dataset) error {
	if t != nil && len(t) != len(d.tasks) {
		return crowd.Fieldf("gold", "is for %d tasks, the data set has %d", len(t), len(d.tasks))
	}
	for _, k := range t {
		if k < None || int(k) >= len(d.classes) {
			return crowd.Fieldf("gold", "class number %d is out of range, the data set has %d", k, len(d.classes))
		}
	}
	return nil
}
