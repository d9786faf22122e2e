package workflows

import (
	"encoding/json"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/store"
)

// answer is what a worker answers to a task: the truth with the chance of
// accuracy, else something else. Where the task has no known answer, the truth
// is drawn for the item.
func (j *job) answer(seed uint64, asked *store.Task, chance *sim.Rand) json.RawMessage {
	truth := sim.NewStream(seed, int(asked.Item), "truth "+j.name).At(0)
	right := chance.Float64() < j.model.Accuracy
	return j.shape.Simulate(asked.Gold, right, &truth, chance)
}
