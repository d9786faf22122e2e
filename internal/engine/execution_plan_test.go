package engine_test

import (
	"fmt"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// Nothing is out of order in many jobs, and everything that the document names
// has happened in them.
func TestJobsFollowTheExecutionPlan(t *testing.T) {
	t.Parallel()
	first, err := scripted()
	if err != nil {
		t.Fatal(err)
	}
	all := []*jobs{first}
	for rep := range 300 {
		w, err := random(uint64(rep))
		if err != nil {
			t.Fatalf("job %d: %v", rep, err)
		}
		all = append(all, w)
	}
	for i, w := range all {
		for _, fault := range w.wrong {
			t.Errorf("job %d: %s", i, fault)
		}
		for k := range w.seen {
			if s := &w.seen[k]; s.wrong != "" || s.producer == "" {
				t.Errorf("job %d: %+v", i, *s)
			}
		}
	}
	counts := map[string]int{}
	for _, w := range all {
		for k := range w.seen {
			if s := &w.seen[k]; s.Consumer != "" {
				counts[fmt.Sprint(s.Kind, " by ", s.producer)]++
				counts[fmt.Sprint(s.Kind, " to ", s.Consumer)]++
			} else {
				counts["waits"]++
			}
		}
		for _, how := range w.ends {
			counts[how]++
		}
		counts["early"] += w.early
	}
	expected := map[string]bool{
		"waits": true, "early": true, endEmpty: true, endStopped: true,
		// What the document does not have.
		fmt.Sprint(engine.ReadyToWork, " by ", giveBack): true, fmt.Sprint(engine.TryToAggregate, " by ", giveBack): true, fmt.Sprint(engine.TryToAggregate, " by ", runOut): true,
	}
	for _, p := range executionPlan {
		expected[fmt.Sprint(p.kind, " to ", p.consumer)] = true
		for _, producer := range p.producers {
			expected[fmt.Sprint(p.kind, " by ", producer)] = true
		}
	}
	for name := range expected {
		if counts[name] == 0 {
			t.Errorf("%s: it did not happen", name)
		}
	}
	for name, n := range counts {
		if !expected[name] && n > 0 {
			t.Errorf("%s: %d times, which no plan has", name, n)
		}
	}
}

// Each producer of the document is in the script, so a run of few repetitions
// shows it.
func TestTheScriptHasEveryProducer(t *testing.T) {
	t.Parallel()
	w, err := scripted()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range w.seen {
		s := &w.seen[i]
		seen[s.Kind.String()+" "+s.producer] = true
		if s.Consumer == "" && s.Kind != engine.ReadyToWork {
			t.Errorf("%+v waits", *s)
		}
	}
	for _, p := range executionPlan {
		for _, producer := range p.producers {
			if !seen[p.kind.String()+" "+producer] {
				t.Errorf("event %d is not produced by %s", p.kind, producer)
			}
		}
	}
	if len(w.ends) != 2 || w.early == 0 {
		t.Errorf("ends %v, %d labels of the early one", w.ends, w.early)
	}
}

// An engine that did otherwise would be found out.
func TestTheCheckFindsFaults(t *testing.T) {
	t.Parallel()
	begin := func() *jobs {
		w, err := newJobs(3)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.launch(2, label.Agree(2, 3)); err != nil {
			t.Fatal(err)
		}
		return w
	}
	task := crowd.BatchID(1).Task(1)
	for name, c := range map[string]struct {
		event  engine.Event
		before []seenEvent
		set    func(w *jobs)
	}{
		"an event that another consumes": {event: engine.Event{Kind: engine.ReadyToAggregate, Consumer: aggregate, Task: task}},
		"an event that nobody consumes":  {event: engine.Event{Kind: engine.ReadyToAggregate, Task: task}},
		"a label without event 3": {event: engine.Event{Kind: engine.RemoveTask, Task: task, Label: "yes"}, set: func(w *jobs) {
			w.ch.Labels = []engine.Label{{Task: task, Value: "yes"}}
		}},
		"a label that is not kept":          {event: engine.Event{Kind: engine.RemoveTask, Task: task, Label: "yes"}, before: []seenEvent{{Event: engine.Event{Kind: engine.TryToAggregate, Task: task}}}},
		"a number that does not change":     {event: engine.Event{Kind: engine.UpdateTask, Task: task, Number: 2}, before: []seenEvent{{Event: engine.Event{Kind: engine.TryToAggregate, Task: task}}}},
		"aggregation while somebody works":  {event: engine.Event{Kind: engine.TryToAggregate, Task: task}, before: []seenEvent{{Event: engine.Event{Kind: engine.ReadyToAggregate, Task: task}}}, set: func(w *jobs) { w.live[task], w.answers[task] = 1, 1 }},
		"aggregation of nothing":            {event: engine.Event{Kind: engine.TryToAggregate, Task: task}, before: []seenEvent{{Event: engine.Event{Kind: engine.ReadyToAggregate, Task: task}}}},
		"an annotation after the label":     {event: engine.Event{Kind: engine.ReadyToAggregate, Task: task}, set: func(w *jobs) { w.labelled[task] = true }},
		"an annotation that is from nobody": {event: engine.Event{Kind: engine.ReadyToAggregate, Task: task}},
	} {
		w := begin()
		if c.set != nil {
			c.set(w)
		}
		s := seenEvent{Event: c.event}
		w.explain(&s, "", c.before, map[engine.EventKind]int{})
		if s.planned() {
			t.Errorf("%s: %+v", name, s)
		}
	}
	w := begin()
	s := seenEvent{Event: engine.Event{Kind: engine.ReadyToAggregate, Consumer: readyToAggregate, Task: task}, producer: annotate}
	if w.follow(&s, nil); s.planned() {
		t.Error("event 2 without event 3, though nobody holds the task")
	}
	w = begin()
	w.labelled[task], w.labelled[crowd.BatchID(1).Task(2)] = true, true
	if w.settle(); len(w.wrong) != 1 {
		t.Errorf("an empty table and a job that runs: %v", w.wrong)
	}
	w = begin()
	w.state, w.ch.Progress = crowd.BatchDone, nil
	if w.settle(); len(w.wrong) != 1 {
		t.Errorf("a full table and a job that is done: %v", w.wrong)
	}
	if s := (seenEvent{Event: engine.Event{Kind: engine.RemoveTask, Consumer: removeTask, Task: task}, producer: annotate}); s.planned() {
		t.Error("a label by an annotation")
	}
}
