package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/wire"
)

// PoolsReport is what came of the scene of live pools.
type PoolsReport struct {
	Pools   []PoolRun   `json:"pools"`
	Tenants []TenantRun `json:"tenants"`
	Crowd   CrowdRun    `json:"crowd"`
	Checks  []Check     `json:"checks"`
	Kept
}

// PoolRun is what came of one pool.
type PoolRun struct {
	ID      crowd.PoolID `json:"id"`
	Name    string       `json:"name"`
	Sizes   string       `json:"controlled_by"`
	Answers int          `json:"answers"` // that count, without training
	Learnt  int          `json:"training_answers"`
	Asked   int          `json:"arrived"` // answers that came to be wanted
	Looks   int          `json:"looks"`   // moments that the means are over
	Size    float64      `json:"mean_size"`
	Off     *float64     `json:"mean_off_c_star"` // mean |size − c*| where c* was known; null: never

	Joined    int `json:"joined"`    // came when they were called
	Abandoned int `json:"abandoned"` // left by themselves
	Released  int `json:"released"`  // were let go
	MovedIn   int `json:"moved_in"`
	MovedOut  int `json:"moved_out"`

	WaitingMicros crowd.Money    `json:"waiting_micros"` // paid for waiting
	FundsMicros   crowd.Money    `json:"funds_micros"`
	Actions       map[string]int `json:"actions"` // by kind
	Why           []Sample       `json:"why"`
}

// Sample is an action with what it was done for.
type Sample struct {
	AtS  float64 `json:"at_s"`
	What string  `json:"what"`
	Why  string  `json:"why"`
}

// TenantRun is what a tenant got and paid.
type TenantRun struct {
	Name          string      `json:"name"`
	Answers       int         `json:"answers"`
	Share         float64     `json:"share"` // of the time for which people held tasks
	SpentMicros   crowd.Money `json:"spent_micros"`
	WaitingMicros crowd.Money `json:"waiting_micros"` // its share of waiting, as far as it was divided: once a minute
}

// CrowdRun is what people did, by their own records.
type CrowdRun struct {
	People   int `json:"people"`
	Asked    int `json:"asked"`
	Came     int `json:"came"`
	TooLate  int `json:"too_late"`
	Declined int `json:"declined"`
	Ignored  int `json:"ignored"`
	Left     int `json:"left"`
	Moved    int `json:"moved"`
	// Crossed counts the requests that were refused since they crossed a move, and
	// Blurred the lists of people that could not be read for one.
	Crossed map[string]int `json:"crossed"`
	Blurred int            `json:"blurred"`
}

// Check is something that must hold. It has failed, too, if it looked at nothing.
type Check struct {
	What   string `json:"what"`
	Looked int    `json:"looked_at"`
	Wrong  string `json:"wrong,omitempty"`
}

// Err returns an error unless everything that must hold did.
func (r *PoolsReport) Err() error {
	if len(r.Checks) == 0 || slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Wrong != "" }) {
		return errors.New("something that must hold does not: see the checks above")
	}
	return nil
}

// check adds a check that looked at so many things.
func (r *PoolsReport) check(what string, looked int, problems ...string) {
	if looked == 0 && len(problems) == 0 {
		problems = []string{"there was nothing to look at"}
	}
	r.Checks = append(r.Checks, Check{what, looked, strings.Join(problems, "; ")})
}

// problemsOf is an error as a list of problems.
func problemsOf(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}

// report takes stock, after everybody has gone; stayed are those who are on duty
// all the same.
func (s *poolScene) report(ctx context.Context, took time.Duration, stayed int) (*PoolsReport, error) {
	r := &PoolsReport{Crowd: s.crowd, Pools: make([]PoolRun, len(s.pools)), Tenants: make([]TenantRun, len(s.tenants))}
	if err := s.reportPools(ctx, r); err != nil {
		return nil, err
	}
	if err := s.reportAnswers(ctx, r, took); err != nil {
		return nil, err
	}
	if err := s.checkMoney(ctx, r); err != nil {
		return nil, err
	}
	if stayed > 0 {
		s.twice = append(s.twice, fmt.Sprintf("%d were on duty after everybody had gone", stayed))
	}
	r.check("nobody was on duty in two pools at a time, nor anywhere in the end", s.onDuty, s.twice...)
	return r, nil
}

// reportAnswers compares every batch's export with what people were told, and adds up.
func (s *poolScene) reportAnswers(ctx context.Context, r *PoolsReport, took time.Duration) error {
	kept, list, err := s.compare(ctx, took)
	if err != nil {
		return err
	}
	for i, name := range tenantNames {
		r.Tenants[i].Name = name
	}
	for _, b := range list {
		t, p := &r.Tenants[b.payer], &r.Pools[b.pool]
		t.Answers += b.counted
		t.SpentMicros += b.now.SpentMicros
		t.Share += b.share
		if b.training {
			p.Learnt += b.counted
		} else {
			p.Answers += b.counted
		}
	}
	r.Kept = kept
	var wrong []string
	if kept.Lost > 0 || kept.Duplicates > 0 || kept.Stored != kept.Acknowledged {
		wrong = append(wrong, kept.String())
	}
	r.check("every acknowledged answer is stored once, and no other", r.Stored, wrong...)
	return nil
}

// reportPools reads what the server says of each pool.
func (s *poolScene) reportPools(ctx context.Context, r *PoolsReport) error {
	counts, err := s.metrics(ctx)
	if err != nil {
		return err
	}
	came, entries, failed, miscounted := 0, 0, []string(nil), []string(nil)
	for i, p := range s.pools {
		x, id := &r.Pools[i], " "+p.id.String()
		x.ID, x.Name, x.Sizes, x.Looks = p.id, p.name, p.sizes, p.seen.looks
		x.Asked, x.Joined = counts["arrived"+id], counts["joined"+id]
		x.Abandoned, x.Released = s.counts["abandoned"+id], s.counts["released"+id] // in the end all leave
		came += x.Joined
		if p.seen.looks > 0 {
			x.Size = p.seen.size / float64(p.seen.looks)
		}
		if p.seen.known > 0 {
			off := p.seen.off / float64(p.seen.known)
			x.Off = &off
		}
		log, err := s.actions(ctx, p.id)
		if err != nil {
			return err
		}
		entries += len(log)
		x.Actions, x.Why = make(map[string]int), s.samples(log)
		for _, a := range log {
			if a.Advice || a.Kind == set {
				continue
			}
			x.Actions[a.Kind]++
			if a.Failed != "" {
				failed = append(failed, fmt.Sprintf("%s: %s %d: %s", p.name, a.Kind, a.N, a.Failed))
			} else if a.Kind == "transfer" {
				x.MovedOut++
				if to := slices.IndexFunc(s.pools, func(q *livePool) bool { return q.id == a.To }); to >= 0 {
					r.Pools[to].MovedIn++
				}
			}
		}
	}
	if told := r.Crowd.Came; told != came {
		miscounted = append(miscounted, fmt.Sprintf("%d people were told that they are in, the pools have counted %d", told, came))
	}
	r.check("whoever came was counted", r.Crowd.Came, miscounted...)
	r.check("what the controllers decided could be done", entries, failed...)
	return nil
}

// set is the kind of action by which an admin changes a pool.
const set = "set"

// samples are two actions of a pool, each the first of its kind: rather such as
// were decided when c* was known.
func (s *poolScene) samples(log []wire.PoolAction) []Sample {
	list, kinds := []Sample{}, make(map[string]bool)
	for _, known := range []bool{true, false} {
		for _, a := range slices.Backward(log) {
			if a.Advice || a.Kind == set || kinds[a.Kind] || len(a.Why) == 0 || len(list) == 2 || known && (a.Saw == nil || a.Saw.CStar == nil) {
				continue
			}
			kinds[a.Kind] = true
			what := fmt.Sprintf("%s %d", a.Kind, a.N)
			if a.To != 0 {
				what = fmt.Sprintf("transfer %s to %s", a.Worker, a.To)
			}
			list = append(list, Sample{a.At.Sub(s.begun).Seconds(), what, strings.Join(a.Why, "; ")})
		}
	}
	return list
}

// bookCheck is what a comparison of the pools' books with those of the people finds.
type bookCheck struct {
	waited          map[string]crowd.Money // paid for waiting, by the account that it went to
	wrong, negative []string
	entries         int
	paid            int // people who were paid for waiting
}

// must notes a problem unless something holds.
func (c *bookCheck) must(holds bool, format string, args ...any) {
	if !holds {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
}

// checkMoney compares the pools' books with those of the people.
func (s *poolScene) checkMoney(ctx context.Context, r *PoolsReport) error {
	c := &bookCheck{waited: make(map[string]crowd.Money)}
	for i := range s.pools {
		if err := s.checkPoolMoney(ctx, c, r, i); err != nil {
			return err
		}
	}
	for _, p := range s.people {
		if err := c.checkEarnings(ctx, p); err != nil {
			return err
		}
	}
	for _, to := range slices.Sorted(maps.Keys(c.waited)) {
		c.must(false, "%s was paid for waiting to %s, who is nobody", c.waited[to], to)
	}
	r.check("people got for waiting what the pools paid, to the micro-unit", c.paid, c.wrong...)
	r.check("no pool's money was ever below zero", c.entries, c.negative...)
	return nil
}

// checkPoolMoney adds up a pool's ledger entries, and compares the sum with what the
// server says of the pool.
func (s *poolScene) checkPoolMoney(ctx context.Context, c *bookCheck, r *PoolsReport, i int) error {
	p, x := s.pools[i], &r.Pools[i]
	balance, list, err := s.entries(ctx, p.id)
	if err != nil {
		return err
	}
	c.entries += len(list)
	have := crowd.Money(0)
	for _, e := range slices.Backward(list) {
		switch e.Kind {
		case "waiting":
			have -= e.AmountMicros
			c.waited[e.To] += e.AmountMicros
			x.WaitingMicros += e.AmountMicros
		case "waiting_share":
			have += e.AmountMicros
			if k := slices.IndexFunc(s.tenants, func(id crowd.TenantID) bool { return e.From == id.String() }); k >= 0 {
				r.Tenants[k].WaitingMicros += e.AmountMicros
			}
		case "deposit":
			have += e.AmountMicros
		default:
			c.must(false, "%s has an entry %q", p.name, e.Kind)
		}
		if have < 0 {
			c.negative = append(c.negative, fmt.Sprintf("%s had %s", p.name, have))
		}
	}
	if p.seen.leastFunds < 0 {
		c.negative = append(c.negative, fmt.Sprintf("%s was seen with %s", p.name, p.seen.leastFunds))
	}
	x.FundsMicros = balance
	c.must(have == balance, "%s has %s, and its entries make %s", p.name, balance, have)
	d, err := s.Admin.PoolDetail(ctx, p.id)
	c.must(err != nil || d.Account.Paid == x.WaitingMicros && d.Account.Owed == 0, "%s says that it has paid %s and owes %s, its entries say %s", p.name, d.Account.Paid, d.Account.Owed, x.WaitingMicros)
	return err
}

// checkEarnings compares what a person has with the rewards that they were told of
// and what the pools paid them for waiting.
func (c *bookCheck) checkEarnings(ctx context.Context, p *person) error {
	has, _, err := p.client.Earnings(ctx)
	if err != nil {
		return err
	}
	rewards, waited := crowd.Money(0), c.waited[p.id.String()]
	for _, r := range p.receipts {
		rewards += r.out.PaidMicros
	}
	if waited > 0 {
		c.paid++
	}
	c.must(has-rewards == waited, "%s has %s, of which %s for answers, and was paid %s for waiting", p.id, has, rewards, waited)
	delete(c.waited, p.id.String())
	return nil
}

// WriteTable writes the report for people.
func (r *PoolsReport) WriteTable(to io.Writer) {
	var text strings.Builder
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(&text, format+"\n", args...) } // a Builder cannot fail
	pools := [][]any{{"pool", "control", "answers", "of", "training", "mean size", "mean |size-c*|", "joined", "abandoned", "released", "moved in", "moved out", "paid for waiting", "left"}}
	for _, p := range r.Pools {
		pools = append(pools, []any{
			p.Name, p.Sizes, p.Answers, p.Asked, p.Learnt, fmt.Sprintf("%.1f", p.Size), number(p.Off, "%.1f", "-"),
			p.Joined, p.Abandoned, p.Released, p.MovedIn, p.MovedOut, p.WaitingMicros, p.FundsMicros,
		})
	}
	table(&text, pools)
	say("")
	tenants := [][]any{{"tenant", "answers", "share of the work", "paid for answers", "for waiting, as divided so far"}}
	for _, x := range r.Tenants {
		tenants = append(tenants, []any{x.Name, x.Answers, fmt.Sprintf("%.1f%%", 100*x.Share), x.SpentMicros, x.WaitingMicros})
	}
	table(&text, tenants)
	say("")
	for _, p := range r.Pools {
		kinds := lists.Map(slices.Sorted(maps.Keys(p.Actions)), func(k string) string { return fmt.Sprintf("%s %d", k, p.Actions[k]) })
		say("%s: %s", p.Name, strings.Join(kinds, ", "))
		for _, x := range p.Why {
			say("  %.1f s  %s: %s", x.AtS, x.What, x.Why)
		}
	}
	c := &r.Crowd
	say("\n%d people, %.1f s: asked %d times, came %d times, %d times too late; declined %d, ignored %d; %d times somebody left, %d times somebody was moved",
		c.People, r.WallS, c.Asked, c.Came, c.TooLate, c.Declined, c.Ignored, c.Left, c.Moved)
	for _, what := range slices.Sorted(maps.Keys(c.Crossed)) {
		say("%q crossed a move and was refused: %d times", what, c.Crossed[what])
	}
	if c.Blurred > 0 {
		say("a list of people could not be read since somebody moved: %d times", c.Blurred)
	}
	say("%s", &r.Kept)
	for _, x := range r.Checks {
		if x.Wrong == "" {
			say("ok   %s (%d)", x.What, x.Looked)
		} else {
			say("BAD  %s (%d): %s", x.What, x.Looked, x.Wrong)
		}
	}
	_, _ = io.WriteString(to, text.String()) // the caller's writer keeps its error
}
