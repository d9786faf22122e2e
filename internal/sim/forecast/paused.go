package forecast

import (
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// never is the condition of a rule that acts on nobody.
const never = "answers < 0"

// keepActions leaves of the rules of a batch what they did: whom they paused, and whose answers count less. No
// rule acts on anybody else: how good answers will be, a forecast does not know.
func keepActions(b *engine.BatchSnapshot) {
	people, of := paused(b), weights(b)
	b.Spec.Quality, b.Actions, b.Standings, b.Paused = nil, nil, nil, nil
	pause(b, people)
	weigh(b, of)
}

// paused lists whom quality rules keep from a batch, those of the batch that it reviews among them.
func paused(b *engine.BatchSnapshot) (people []int64) {
	for _, w := range b.Paused {
		people = append(people, int64(w))
	}
	for i := range b.Actions {
		if a := &b.Actions[i]; a.Kind == engine.PausePerson && a.UndoneAt.IsZero() {
			people = append(people, int64(a.Worker))
		}
	}
	return people
}

// pause has people stay away from a batch.
func pause(b *engine.BatchSnapshot, people []int64) {
	for _, w := range people {
		act(b, engine.Action{Worker: crowd.WorkerID(w), Kind: engine.PausePerson}, string(engine.PausePerson))
	}
}

// weights has what the answers to a batch count, in hundredths, of those whose answers count less.
func weights(b *engine.BatchSnapshot) map[int64]int {
	var of map[int64]int
	for i := range b.Actions {
		a := &b.Actions[i]
		if a.Weight == 0 || !a.UndoneAt.IsZero() {
			continue
		}
		if of == nil {
			of = make(map[int64]int)
		}
		if is, less := of[int64(a.Worker)]; !less || int(a.Weight) < is {
			of[int64(a.Worker)] = int(a.Weight)
		}
	}
	return of
}

// weigh has people's answers to a batch count less.
func weigh(b *engine.BatchSnapshot, of map[int64]int) {
	for _, w := range slices.Sorted(maps.Keys(of)) {
		weight := label.Weight(min(max(of[w], 1), int(label.Full)))
		act(b, engine.Action{Worker: crowd.WorkerID(w), Kind: engine.LowerWeight, Weight: weight}, string(engine.LowerWeight)+" 0.01")
	}
}

// act enters an action of a rule that does so, and acts no more.
func act(b *engine.BatchSnapshot, a engine.Action, do string) {
	rule := engine.QualityRule{When: never, Do: do}
	a.Batch, a.N, a.Rule = b.Spec.ID, uint32(len(b.Actions)+1), slices.Index(b.Spec.Quality, rule)+1
	if a.Rule == 0 {
		b.Spec.Quality = append(b.Spec.Quality, rule)
		a.Rule = len(b.Spec.Quality)
	}
	b.Actions = append(b.Actions, a)
}
