package cli

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// Explain is "throng explain".
type Explain struct {
	State      string `required:"" placeholder:"FILE" help:"Batches, as JSON, JSON Lines or CSV; - for standard input."`
	Policy     string `required:"" help:"The policy, such as dafs or tenant-fair(wfs)."`
	WorkerLast string `placeholder:"ID" help:"The batch that the worker did last, which wcfs looks at."`
	At         string `placeholder:"TIME" help:"The time of the decision: RFC 3339, or seconds as in the state."`
	Output
}

// explanation is what explain prints.
type explanation struct {
	Policy  string      `json:"policy"`
	Chosen  *string     `json:"chosen"` // nil: nothing can be handed out
	Batches []explained `json:"batches"`
}

// explained is a batch with its key.
type explained struct {
	ID        string `json:"id"`
	Tenant    string `json:"tenant,omitempty"`
	Place     int    `json:"place,omitempty"` // in the policy's order, from 1; 0: has no work left
	Chosen    bool   `json:"chosen"`
	Open      bool   `json:"open"`      // wants more answers
	Candidate bool   `json:"candidate"` // something may be handed out
	Planned   int    `json:"planned"`
	Running   int    `json:"running"`
	Completed int    `json:"completed"`
	Waiting   int    `json:"waiting"`
	keyFigures
}

// keyFigures is the part of a sched.Key that can be checked by hand.
type keyFigures struct {
	Policy  string         `json:"policy,omitempty"`
	Words   string         `json:"words,omitempty"`
	Rank    []sched.Number `json:"rank,omitempty"` // least first
	Turn    uint64         `json:"turn"`
	Figures []sched.Figure `json:"figures,omitempty"`
	Inner   *keyFigures    `json:"inner,omitempty"`
}

// Run reads the state and explains it.
func (x *Explain) Run(c *Context) error {
	policy, err := sched.Parse(x.Policy)
	if err != nil {
		return err
	}
	in, _, err := c.open(x.State)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := readState(in, x.State)
	if err != nil {
		return ofFile(x.State, err)
	}
	at, err := x.at(st)
	if err != nil {
		return err
	}
	var last crowd.BatchID
	if x.WorkerLast != "" {
		i := slices.IndexFunc(st.batches, func(b stateBatch) bool { return b.id == x.WorkerLast })
		if i < 0 {
			return wrong("worker-last", "there is no batch %q in %s", x.WorkerLast, x.State)
		}
		last = st.batches[i].ID
	}
	out := st.explain(policy, at, last)
	return x.print(c, out, out.show)
}

// at is the time of the decision.
func (x *Explain) at(st *state) (time.Time, error) {
	if x.At == "" {
		return st.now(now()), nil
	}
	at, dated, err := readTime(x.At)
	if err != nil {
		return at, wrong("at", "%v", err)
	}
	st.dated = st.dated || dated
	return at, nil
}

// explain asks a policy, which has no batches yet, for its decision. The order
// is the policy's own: it asks a worker who wants nothing about every candidate.
func (st *state) explain(policy sched.Policy, at time.Time, last crowd.BatchID) *explanation {
	out := &explanation{Policy: policy.Name(), Batches: make([]explained, 0, len(st.batches))}
	for i := range st.batches {
		b := &st.batches[i]
		if !b.arrived {
			b.Arrived = at
		}
		b.Since = b.Arrived // of its tasks a state says no more
		policy.Set(&b.Batch)
	}
	picky := &asker{last: last, order: make(map[crowd.BatchID]int)}
	policy.Next(at, picky)
	keys := make(map[crowd.BatchID]sched.Key, len(st.batches))
	for i := range st.batches {
		b := &st.batches[i]
		if k, ok := policy.Key(b.ID); ok {
			keys[b.ID] = k
		}
	}
	chosen := policy.Next(at, &asker{last: last})
	sorted := slices.Clone(st.batches)
	slices.SortStableFunc(sorted, func(a, b stateBatch) int {
		pa, pb := picky.place(a.ID), picky.place(b.ID)
		ka, openA := keys[a.ID]
		kb, openB := keys[b.ID]
		switch {
		case pa != pb:
			return cmp.Compare(pa, pb)
		case openA != openB:
			return cmp.Compare(btoi(openB), btoi(openA))
		case openA && ka.Before(kb):
			return -1
		case openA && kb.Before(ka):
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
	for i := range sorted {
		b := &sorted[i]
		e := explained{ID: b.id, Tenant: b.tenant, Chosen: b.ID == chosen, Planned: b.Planned, Running: b.Running, Completed: b.Completed}
		e.Waiting = max(b.Planned-b.Completed-b.Running, 0)
		if k, ok := keys[b.ID]; ok {
			e.Place, e.Open, e.Candidate, e.keyFigures = i+1, true, k.Candidate, st.figures(k)
		}
		if e.Chosen {
			out.Chosen = &e.ID
		}
		out.Batches = append(out.Batches, e)
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// How a policy's sentences name a tenant and a time.
var (
	tenantID = regexp.MustCompile(`\btenant n([0-9]+)\b`)
	dateTime = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)
)

// figures gives the ids in a key their names in the file, and times that it counts in
// seconds those.
func (st *state) figures(k sched.Key) keyFigures {
	name := func(text string) string {
		if !st.dated {
			text = dateTime.ReplaceAllStringFunc(text, func(found string) string {
				at, _, _ := readTime(found)
				return strconv.FormatFloat(float64(at.UnixNano())/1e9, 'f', -1, 64) + "s"
			})
		}
		return tenantID.ReplaceAllStringFunc(text, func(found string) string {
			n, _ := strconv.ParseInt(strings.TrimPrefix(found, "tenant n"), 10, 64)
			return "tenant " + strconv.Quote(st.tenants[crowd.TenantID(n)])
		})
	}
	out := keyFigures{Policy: k.Policy, Words: name(k.Words), Rank: k.Rank, Turn: k.Turn}
	for _, f := range k.Figures {
		f.Note = name(f.Note)
		out.Figures = append(out.Figures, f)
	}
	if k.Inner != nil {
		inner := st.figures(*k.Inner)
		out.Inner = &inner
	}
	return out
}

// asker is a worker who may do everything and takes the first batch offered,
// or, with an order, notes in which order they are asked and takes none.
type asker struct {
	last  crowd.BatchID
	order map[crowd.BatchID]int
}

func (a *asker) LastBatch() crowd.BatchID  { return a.last }
func (a *asker) MayClass(sched.Class) bool { return true }

func (a *asker) MayBatch(id crowd.BatchID) bool {
	if a.order == nil {
		return true
	}
	a.order[id] = len(a.order)
	return false
}

// place returns when the batch was asked about; those never asked about come last.
func (a *asker) place(id crowd.BatchID) int {
	if n, asked := a.order[id]; asked {
		return n
	}
	return len(a.order)
}

// show prints the explanation for people.
func (out *explanation) show(w io.Writer) {
	if out.Chosen == nil {
		say(w, "%s hands out nothing: no batch has anything to hand out\n\n", out.Policy)
	} else {
		say(w, "%s picks %s\n\n", out.Policy, clean(*out.Chosen))
	}
	writeTable(w, out.Batches, "|BATCH|TENANT|PLANNED|RUNNING|DONE|RANK|TURN|WHY", func(b explained) []any {
		mark, why := "", b.Words
		switch {
		case b.Chosen:
			mark = "→"
		case !b.Open:
			why = "has all its answers"
		case !b.Candidate:
			why = "nothing to hand out; " + why
		}
		for in := b.Inner; in != nil; in = in.Inner {
			why += "; " + in.Words
		}
		return []any{mark, b.ID, b.Tenant, b.Planned, b.Running, b.Completed, joined(b.Rank, number), b.Turn, why}
	})
	out.showFigures(w)
}

// showFigures prints what the ranks were computed from.
func (out *explanation) showFigures(w io.Writer) {
	var names []string
	values := make([]map[string]sched.Number, len(out.Batches))
	for i := range out.Batches {
		values[i] = make(map[string]sched.Number)
		for k := &out.Batches[i].keyFigures; k != nil; k = k.Inner {
			for _, f := range k.Figures {
				if !slices.Contains(names, f.Name) {
					names = append(names, f.Name)
				}
				values[i][f.Name] = f.Value
			}
		}
	}
	if len(names) == 0 {
		return
	}
	rows := [][]string{append([]string{"BATCH"}, names...)}
	for i, b := range out.Batches {
		if !b.Open {
			continue
		}
		row := []string{b.ID}
		for _, n := range names {
			v, known := values[i][n]
			row = append(row, when(known, number(v)))
		}
		rows = append(rows, row)
	}
	say(w, "\n")
	columns(w, rows)
}

func number(n sched.Number) string { return strconv.FormatFloat(float64(n), 'g', 8, 64) }
