package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// PoolActions is "throng pool actions".
type PoolActions struct {
	aPool
	Limit  int   `default:"20" help:"How many, at most 1000."`
	Before int64 `placeholder:"ID" help:"Only those before this one."`
	Remote
}

// Run shows the log.
func (x *PoolActions) Run(c *Context, r *remote, id crowd.PoolID) error {
	if x.Limit < 1 || x.Limit > 1000 {
		return wrong("limit", "%d is not a number of entries (1 to 1000)", x.Limit)
	}
	list, err := r.PoolActions(c.Ctx, id, x.Before, x.Limit)
	return r.print(list, err, func(w io.Writer) {
		if len(list) == 0 {
			say(w, "nothing was done yet\n")
			return
		}
		actions(w, id, list)
	})
}

// moved says of a transfer which side of it a pool is.
func moved(id crowd.PoolID, a *wire.PoolAction) string {
	if a.To == id {
		return fmt.Sprintf(": %s comes from %s", a.Worker, a.From)
	}
	return fmt.Sprintf(": %s goes to %s", a.Worker, a.To)
}

// actions writes a pool's log.
func actions(w io.Writer, id crowd.PoolID, list []wire.PoolAction) {
	for _, a := range list {
		who := cmp.Or(when(a.By != 0, a.By.String()), "controller")
		kind := a.Kind
		switch {
		case kind == "release" && a.N == 0: // the money for it is gone
			kind = "pay for waiting ends"
		case kind == "funded":
			kind = "pay for waiting goes on"
		}
		what := kind + when(a.N > 0, fmt.Sprintf(" %d", a.N)) + when(a.Worker != 0, moved(id, &a)) + when(a.Advice, " (advice only)")
		say(w, "%d  %s  %s: %s\n", a.ID, stamp(a.At), who, what)
		if a.Failed != "" {
			say(w, "     failed: %s\n", clean(a.Failed))
		}
		for _, why := range a.Why {
			say(w, "     %s\n", clean(strings.ReplaceAll(why, "\n", " ")))
		}
		if m := a.Saw; m != nil {
			say(w, "     %ssaw %d on duty (%d busy, %d idle), %d coming, c* %s, queue %d\n", when(a.To == id, fmt.Sprintf("in %s, ", a.From)), m.OnDuty, m.Busy, m.Idle, m.Coming, orUnknown(m.CStar), m.Queue)
		}
	}
}
