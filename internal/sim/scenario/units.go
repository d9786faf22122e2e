package scenario

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// Bounds of what a scenario may ask for. They are far beyond what makes sense, and
// keep a mistyped figure from taking all memory or from overflowing.
const (
	maxDuration  = yamlfile.MaxDuration
	maxReps      = 100_000
	maxPeople    = 10_000_000
	maxBatches   = 5_000_000 // of one flow or trace
	maxAlpha     = 100
	maxPerSecond = 100_000
	maxAnswers   = engine.MaxBatchAnswers - 1 // to one batch
	maxSize      = 10_000_000                 // tasks in a drawn batch, where nothing is said
	maxName      = 100
	maxTitle     = 200
	maxOptions   = 1000
)

// maxExpected is how many expectations the entries may make, one for each policy
// and α that they are about.
const maxExpected = 10_000

// parseSeconds is yamlfile.Duration for the cells of a table, where a number
// without a unit is in seconds.
func parseSeconds(text string) (time.Duration, error) {
	f, err := yamlfile.Number(text)
	switch {
	case err != nil:
		return yamlfile.Duration(text)
	case f < 0:
		return 0, fmt.Errorf("%s is negative: it must not be less than 0", yamlfile.Quote(text))
	case f > maxDuration.Seconds():
		return 0, fmt.Errorf("%s seconds are too long (at most %s)", yamlfile.Quote(text), yamlfile.Words(maxDuration))
	}
	return time.Duration(math.Round(f * float64(time.Second))), nil
}
