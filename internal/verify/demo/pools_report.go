package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// PoolsReport is what came of the scene of live pools.
type PoolsReport struct {
	Pools   []PoolRun   `json:"pools"`
	Tenants []TenantRun `json:"tenants"`
	Crowd   CrowdRun    `json:"crowd"`
	Checks  []Check     `json:"checks"`

	Acknowledged int     `json:"acknowledged"` // distinct answers that a client was told are kept
	Stored       int     `json:"stored"`       // answers that the server has
	Duplicates   int     `json:"duplicates"`
	Lost         int     `json:"lost"`
	WallS        float64 `json:"wall_s"`
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

// OK reports whether everything that must hold did.
func (r *PoolsReport) OK() bool {
	return len(r.Checks) > 0 && !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Wrong != "" })
}

func (r *PoolsReport) check(what string, looked int, err error) {
	c := Check{What: what, Looked: looked}
	switch {
	case err != nil:
		c.Wrong = err.Error()
	case looked == 0:
		c.Wrong = "there was nothing to look at"
	}
	r.Checks = append(r.Checks, c)
}

// report takes stock, after everybody has gone; stayed are those who are on duty
// all the same.
func (s *poolScene) report(ctx context.Context, took time.Duration, stayed int) (*PoolsReport, error) {
	r := &PoolsReport{WallS: took.Seconds()}
	records := s.gather(r)
	if err := s.poolRuns(ctx, r); err != nil {
		return nil, err
	}
	if err := s.batchRuns(ctx, r, records); err != nil {
		return nil, err
	}
	if err := s.checkMoney(ctx, r); err != nil {
		return nil, err
	}
	var err error
	if len(s.twice) > 0 {
		err = errors.New(strings.Join(s.twice, ", "))
	} else if stayed > 0 {
		err = fmt.Errorf("%d were on duty after everybody had gone", stayed)
	}
	r.check("nobody was on duty in two pools at a time, nor anywhere in the end", s.sights, err)
	s.crowdRun(r)
	return r, nil
}

// gather gathers what people were told.
func (s *poolScene) gather(r *PoolsReport) map[crowd.AssignmentID]*told {
	people := make([]*person, len(s.people))
	for i, p := range s.people {
		people[i] = p.person
	}
	var sum Report
	records := records(people, &sum)
	r.Acknowledged, r.Duplicates = sum.Acknowledged, sum.Duplicates
	return records
}

// batchRuns compares every batch's export with the records, and adds up.
func (s *poolScene) batchRuns(ctx context.Context, r *PoolsReport, records map[crowd.AssignmentID]*told) error {
	var sum Report
	found := make(map[crowd.AssignmentID]bool)
	held, all := make([]float64, len(s.tenants)), 0.0
	r.Tenants = make([]TenantRun, len(s.tenants))
	for i, name := range tenantNames {
		r.Tenants[i].Name = name
	}
	for _, l := range s.launched {
		b, err := s.Admin.Batch(ctx, l.id)
		if err != nil {
			return err
		}
		counted, seconds, err := s.compare(ctx, b, records, found, &sum)
		if err != nil {
			return fmt.Errorf("%s: %w", l.id, err)
		}
		t := &r.Tenants[l.tenant]
		t.Answers += counted
		t.SpentMicros += b.SpentMicros
		if l.learn {
			r.Pools[l.pool].Learnt += counted
		} else {
			r.Pools[l.pool].Answers += counted
		}
		held[l.tenant] += seconds
		all += seconds
	}
	for i := range r.Tenants {
		if all > 0 {
			r.Tenants[i].Share = held[i] / all
		}
	}
	r.Stored = sum.Stored
	r.Duplicates += sum.Duplicates
	for id := range records {
		if !found[id] {
			r.Lost++
		}
	}
	var err error
	if r.Lost > 0 || r.Duplicates > 0 || r.Stored != r.Acknowledged {
		err = fmt.Errorf("acknowledged %d, stored %d, duplicates %d, lost %d", r.Acknowledged, r.Stored, r.Duplicates, r.Lost)
	}
	r.check("every acknowledged answer is stored once, and no other", r.Stored, err)
	return nil
}

// poolRuns reads what the server says of each pool.
func (s *poolScene) poolRuns(ctx context.Context, r *PoolsReport) error {
	counts, err := s.counted(ctx)
	if err != nil {
		return err
	}
	told, failed, entries := 0, []string(nil), 0 // told: that they are in
	r.Pools = make([]PoolRun, len(s.pools))
	for i, p := range s.pools {
		x := &r.Pools[i]
		count := func(counts map[string]int, name string) int { return counts[name+"_total "+p.id.String()] }
		x.ID, x.Name, x.Sizes, x.Looks = p.id, p.name, p.sizes, p.seen.looks
		x.Asked, x.Joined = count(counts, "arrived"), count(counts, "joined")
		x.Abandoned, x.Released = count(s.counts, "abandoned"), count(s.counts, "released") // in the end all leave
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
		x.Actions = make(map[string]int)
		for _, a := range log {
			if a.Advice || a.Kind == set {
				continue
			}
			if a.Failed != "" {
				failed = append(failed, fmt.Sprintf("%s: %s %d: %s", p.name, a.Kind, a.N, a.Failed))
			}
			if a.Kind == "transfer" && a.Failed == "" {
				x.MovedOut++
				if to := slices.IndexFunc(s.pools, func(q *livePool) bool { return q.id == a.To }); to >= 0 {
					r.Pools[to].MovedIn++
				}
			}
			x.Actions[a.Kind]++
		}
		x.Why = s.samples(log)
		for _, c := range s.people {
			told += c.joined[p.id]
		}
	}
	came := 0
	for _, x := range r.Pools {
		came += x.Joined
	}
	var wrong error
	if told != came {
		wrong = fmt.Errorf("%d people were told that they are in, the pools have counted %d", told, came)
	}
	r.check("whoever came was counted", told, wrong)
	r.check("what the controllers decided could be done", entries, joined(failed))
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

func (c *bookCheck) problem(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// checkMoney compares the pools' books with those of the people.
func (s *poolScene) checkMoney(ctx context.Context, r *PoolsReport) error {
	c := &bookCheck{waited: make(map[string]crowd.Money)}
	for i, p := range s.pools {
		if err := s.checkPoolMoney(ctx, c, p, &r.Pools[i], r.Tenants); err != nil {
			return err
		}
	}
	for _, p := range s.people {
		if err := c.checkEarnings(ctx, p); err != nil {
			return err
		}
	}
	for _, to := range slices.Sorted(maps.Keys(c.waited)) {
		c.problem("%s was paid for waiting to %s, who is nobody", c.waited[to], to)
	}
	r.check("people got for waiting what the pools paid, to the micro-unit", c.paid, joined(c.wrong))
	r.check("no pool's money was ever below zero", c.entries, joined(c.negative))
	return nil
}

// joined is an error of all the problems; nil if there are none.
func joined(list []string) error {
	if len(list) == 0 {
		return nil
	}
	return errors.New(strings.Join(list, "; "))
}

// checkPoolMoney adds up a pool's ledger entries, and compares the sum with what the
// server says of the pool.
func (s *poolScene) checkPoolMoney(ctx context.Context, c *bookCheck, p *livePool, x *PoolRun, tenants []TenantRun) error {
	balance, list, err := s.account(ctx, p.id)
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
			for k, id := range s.tenants {
				if e.From == id.String() {
					tenants[k].WaitingMicros += e.AmountMicros
				}
			}
		case "deposit":
			have += e.AmountMicros
		default:
			c.problem("%s has an entry %q", p.name, e.Kind)
		}
		if have < 0 {
			c.negative = append(c.negative, fmt.Sprintf("%s had %s", p.name, have))
		}
	}
	if x.FundsMicros = balance; have != balance {
		c.problem("%s has %s, and its entries make %s", p.name, balance, have)
	}
	d, err := s.Admin.PoolDetail(ctx, p.id)
	if err != nil {
		return err
	}
	if d.Account.Paid != x.WaitingMicros || d.Account.Owed != 0 {
		c.problem("%s says that it has paid %s and owes %s, its entries say %s", p.name, d.Account.Paid, d.Account.Owed, x.WaitingMicros)
	}
	if p.seen.leastFunds < 0 {
		c.negative = append(c.negative, fmt.Sprintf("%s was seen with %s", p.name, p.seen.leastFunds))
	}
	return nil
}

// checkEarnings compares what a person has with the rewards that they were told of
// and what the pools paid them for waiting.
func (c *bookCheck) checkEarnings(ctx context.Context, p *onCall) error {
	has, _, err := p.client.Earnings(ctx)
	if err != nil {
		return err
	}
	rewards := crowd.Money(0)
	for _, t := range p.told {
		rewards += t.out.PaidMicros
	}
	account := p.id.String()
	if c.waited[account] > 0 {
		c.paid++
	}
	if has-rewards != c.waited[account] {
		c.problem("%s has %s, of which %s for answers, and was paid %s for waiting", p.name, has, rewards, c.waited[account])
	}
	delete(c.waited, account)
	return nil
}

func (s *poolScene) crowdRun(r *PoolsReport) {
	c := &r.Crowd
	c.People, c.Crossed, c.Blurred = len(s.people), make(map[string]int), s.blurred
	for _, p := range s.people {
		c.Asked += p.asked
		c.TooLate += p.late
		c.Declined += p.declined
		c.Ignored += p.ignored
		c.Moved += p.moved
		for what, n := range p.crossed {
			c.Crossed[what] += n
		}
		for _, n := range p.joined {
			c.Came += n
		}
		for _, n := range p.left {
			c.Left += n
		}
	}
}

// WriteTable writes the report for people.
func (r *PoolsReport) WriteTable(to io.Writer) {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(format string, args ...any) { _, _ = fmt.Fprintf(t, format+"\t\n", args...) } // a Builder cannot fail
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(&text, format+"\n", args...) }
	row("pool\tcontrol\tanswers\tof\ttraining\tmean size\tmean |size-c*|\tjoined\tabandoned\treleased\tmoved in\tmoved out\tpaid for waiting\tleft")
	for _, p := range r.Pools {
		row("%s\t%s\t%d\t%d\t%d\t%.1f\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s", p.Name, p.Sizes, p.Answers, p.Asked, p.Learnt, p.Size, number(p.Off, "%.1f"),
			p.Joined, p.Abandoned, p.Released, p.MovedIn, p.MovedOut, p.WaitingMicros, p.FundsMicros)
	}
	_ = t.Flush()
	say("")
	row("tenant\tanswers\tshare of the work\tpaid for answers\tfor waiting, as divided so far")
	for _, x := range r.Tenants {
		row("%s\t%d\t%.1f%%\t%s\t%s", x.Name, x.Answers, 100*x.Share, x.SpentMicros, x.WaitingMicros)
	}
	_ = t.Flush()
	say("")
	for _, p := range r.Pools {
		var kinds []string
		for _, k := range slices.Sorted(maps.Keys(p.Actions)) {
			kinds = append(kinds, fmt.Sprintf("%s %d", k, p.Actions[k]))
		}
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
	say("acknowledged %d, stored %d, duplicates %d, lost %d", r.Acknowledged, r.Stored, r.Duplicates, r.Lost)
	for _, x := range r.Checks {
		if x.Wrong == "" {
			say("ok   %s (%d)", x.What, x.Looked)
		} else {
			say("BAD  %s (%d): %s", x.What, x.Looked, x.Wrong)
		}
	}
	_, _ = io.WriteString(to, text.String()) // the caller's writer keeps its error
}
