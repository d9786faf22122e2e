package forecast

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

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

// pause has people stay away from a batch, and no rule act on anybody: how good answers will be, a
// forecast does not know.
func pause(b *engine.BatchSnapshot, people []int64) {
	b.Spec.Quality, b.Actions, b.Standings, b.Paused = nil, nil, nil, nil
	for i, w := range people {
		b.Spec.Quality = []engine.QualityRule{{When: "answers < 0", Do: string(engine.PausePerson)}}
		b.Actions = append(b.Actions, engine.Action{Batch: b.Spec.ID, N: uint32(i + 1), Worker: crowd.WorkerID(w), Rule: 1, Kind: engine.PausePerson})
	}
}
