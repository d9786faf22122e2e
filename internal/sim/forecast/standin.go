package forecast

import (
	"math"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// accuracyOf estimates with what probability an answer is right in a batch that asks until it is
// sure, from how often the first two answers to a task are equal: a² + (1-a)² of the tasks, where
// there are two classes. Only the first two tell, since when more are asked for depends
// on what they say.
func accuracyOf(b *engine.BatchSnapshot) float64 {
	first, second := make(map[crowd.TaskID]string), make(map[crowd.TaskID]string)
	take := func(task crowd.TaskID, key string) {
		if _, there := first[task]; !there {
			first[task] = key
		} else if _, there := second[task]; !there {
			second[task] = key
		}
	}
	for _, a := range b.Answers {
		take(b.Spec.ID.Task(a.N), a.Key)
	}
	for i := range b.Assignments {
		if a := &b.Assignments[i]; a.Counts() {
			take(a.Task, a.Key)
		}
	}
	equal := agreementWeight * (guessedAgreement*guessedAgreement + (1-guessedAgreement)*(1-guessedAgreement))
	for task, key := range second {
		equal += float64(btoi(first[task] == key))
	}
	p := equal / (float64(len(second)) + agreementWeight)
	return min(max((1+math.Sqrt(max(2*p-1, 0)))/2, 0.55), 0.99)
}

// maxEvidence is how many answers to tasks with labels accuracyOf gets: the error of what it
// makes of them is a hundredth then.
const maxEvidence = 4000

// hideEvidence keeps of the answers to tasks with labels which are equal.
func hideEvidence(b *engine.BatchSnapshot) {
	if len(b.Answers) > maxEvidence {
		b.Answers = b.Answers[len(b.Answers)-maxEvidence:]
	}
	first := make(map[uint32]string)
	list := make([]engine.CountedAnswer, len(b.Answers))
	for i, a := range b.Answers {
		if _, there := first[a.N]; !there {
			first[a.N] = a.Key
		}
		list[i] = engine.CountedAnswer{N: a.N, Key: mostly}
		if a.Key != first[a.N] {
			list[i].Key = otherwise
		}
	}
	b.Answers = list
}
