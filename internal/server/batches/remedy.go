package batches

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/engine"
)

// Remedy names the commands that let a batch finish for which the crowd is too small;
// end is the one that ends it early.
func Remedy(c engine.Crowd, end string) string {
	switch {
	case c.People >= c.Wanted && c.Had > 0:
		return "add somebody (throng worker add), or end it early (" + end + ")"
	case len(c.Lacks) == 0:
		return "add people with throng worker add or throng worker invite (--pool NAME, if it is not main)"
	}
	scores := make([]string, len(c.Lacks))
	for i, r := range c.Lacks {
		scores[i] = fmt.Sprintf("%s=%d", r.Name, r.Min)
		if strings.ContainsAny(scores[i], " '$") {
			scores[i] = strconv.Quote(scores[i])
		}
	}
	return "give it to somebody with throng worker qualify NAME " + strings.Join(scores, " ")
}

// The commands that end a batch, and a step of a run.
const (
	EndBatch = "throng batch end"
	EndStep  = "throng workflow end"
)
