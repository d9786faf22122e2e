package cli

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// PoolQueue is "throng pool queue".
type PoolQueue struct {
	aPool
	Limit int `default:"20" help:"How many batches to show, at most 1000."`
	Remote
}

// Run shows the queue.
func (x *PoolQueue) Run(c *Context, r *remote, id crowd.PoolID) error {
	if x.Limit < 1 || x.Limit > 1000 {
		return wrong("limit", "%d is not a number of batches (1 to 1000)", x.Limit)
	}
	q, err := r.PoolQueue(c.Ctx, id, x.Limit)
	return r.print(q, err, func(w io.Writer) {
		say(w, "%s; for somebody who may do everything and has done nothing yet\n\n", q.Policy)
		if q.All == 0 {
			say(w, "no batch wants answers\n")
			return
		}
		writeTable(w, q.Batches, "PLACE|BATCH|NAME|TENANT|RUNNING|WAITING|WHY", func(b wire.QueuedBatch) []any {
			place := "-"
			if b.Place > 0 {
				place = strconv.Itoa(b.Place)
			}
			return []any{place, b.Batch, b.Name, b.TenantName, b.Running, b.Waiting, b.Why}
		})
		if more := q.All - len(q.Batches); more > 0 {
			say(w, "and %s more\n", format.Count(more, "batch"))
		}
	})
}

// PoolFairness is "throng pool fairness".
type PoolFairness struct {
	aPool
	Since span `default:"1h" help:"How far back, at most 24h; what is shown begins with a whole minute of those that are kept."`
	Limit int  `default:"20" help:"How many batches to show, at most 1000."`
	Remote
}

// Run shows how people were spread.
func (x *PoolFairness) Run(c *Context, r *remote, id crowd.PoolID) error {
	if x.Limit < 1 || x.Limit > 1000 {
		return wrong("limit", "%d is not a number of batches (1 to 1000)", x.Limit)
	}
	if back := x.Since.Duration; back < time.Second || back > 24*time.Hour {
		return wrong("since", "%s is not a time to look back (1s to 24h)", back)
	}
	f, err := r.PoolFairness(c.Ctx, id, x.Since.Duration, x.Limit)
	return r.print(f, err, func(w io.Writer) { showFairness(w, &f) })
}

func showFairness(w io.Writer, f *wire.PoolFairness) {
	if f.Since.IsZero() {
		say(w, "nothing was counted yet: the server looks every ten seconds\n")
		return
	}
	from := f.From
	if f.Since.After(from) {
		from = f.Since
	}
	list := []any{"policy", f.Policy, "counted since", stamp(f.Since), "shown", stamp(from) + " to " + stamp(f.At)}
	if f.Mean != nil {
		list = append(list,
			"Jain's index, batches", inWords("now "+figured(f.Now.Jain), "mean "+figured(f.Mean.Jain)),
			"J∞, batches", inWords("now "+jInfinity(f.Now), "mean "+jInfinity(f.Mean), starving(f.Mean)),
			"Jain's index, tenants", inWords("now "+figured(f.Now.Among), "mean "+figured(f.Mean.Among)),
			"had by due, tenants", inWords("Jain's index "+figured(f.Had.Jain), "since the start "+figured(f.HadEver.Jain), "J∞ "+figured(f.Had.JInf), "since the start "+figured(f.HadEver.JInf), leftOut(f.Had)),
			"tenants", served(f))
	}
	pairs(w, list...)
	if f.Mean == nil && len(f.Tenants)+len(f.Batches) == 0 {
		say(w, "\nno task of yours was worked on or waited in this time\n")
	}
	columns := when(f.Mean != nil, "WORKED|") + "SHARE|DUE"
	if len(f.Tenants) > 0 {
		say(w, "\n")
		writeTable(w, f.Tenants, "TENANT|NAME|"+columns, func(t wire.TenantPortion) []any {
			return append([]any{t.Tenant, t.Name}, cellsOf(&t.Portion)...)
		})
	}
	if len(f.Batches) > 0 {
		say(w, "\n")
		writeTable(w, f.Batches, "BATCH|NAME|TENANT|"+columns, func(b wire.BatchPortion) []any {
			return append([]any{b.Batch, b.Name, b.Tenant}, cellsOf(&b.Portion)...)
		})
	}
}

// leftOut says how many tenants an index leaves out, if any.
func leftOut(x *wire.HadIndex) string {
	if x.LeftOut == 0 {
		return ""
	}
	return "without " + format.Count(x.LeftOut, "tenant") + " due less than 1 %"
}

// served says whether tenants had what they were due.
func served(f *wire.PoolFairness) string {
	switch {
	case f.Least != nil:
		return fmt.Sprintf("%s had the least of what it was due: %s, where %s were due", f.Least.Name, format.Percent(f.Least.Share, 1), format.Percent(f.Least.DueShare, 1))
	case f.Verdict == "even":
		return "every tenant had what it was due, or nearly so"
	}
	return "nobody has worked on tasks in this time"
}

// cellsOf are the columns of a portion; a requester sees no time.
func cellsOf(p *wire.Portion) (cells []any) {
	if p.WorkedSeconds != nil {
		cells = append(cells, lasting(*p.WorkedSeconds))
	}
	return append(cells, format.Percent(p.Share, 1), format.Percent(p.DueShare, 1))
}

// jInfinity writes J∞: it is −∞ where some batch has nobody.
func jInfinity(x *wire.FairnessIndex) string {
	if x.JInf == nil && x.Served != nil {
		return "−∞"
	}
	return figured(x.JInf)
}

// starving says how long some batch had nobody, if any had.
func starving(mean *wire.FairnessIndex) string {
	if mean.Served == nil || *mean.Served == 1 {
		return ""
	}
	if *mean.Served == 0 {
		return "some batch had nobody all of the time"
	}
	return fmt.Sprintf("some batch had nobody %s of the time, which is not in the mean", format.Percent(1-*mean.Served, 1))
}

// figured writes a figure that may not be known.
func figured(f *float64) string {
	if f == nil {
		return "?"
	}
	return fmt.Sprintf("%.3g", *f)
}
