package sched_test

// The policies once more, plain and slow, straight from the formulas: every
// decision looks at every batch. They are what the fast ones are compared with,
// and share no code with them.

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// A plain names the next batch for a worker, given all open batches.
type plain interface {
	next(open []sched.Batch, w sched.Worker) crowd.BatchID
}

// inOrder hands out the first eligible candidate of an order.
type inOrder struct {
	order func(open []sched.Batch) []sched.Batch // of the candidates
}

func (p inOrder) next(open []sched.Batch, w sched.Worker) crowd.BatchID {
	for _, b := range p.order(open) {
		if w.MayClass(b.Class) && w.MayBatch(b.ID) {
			return b.ID
		}
	}
	return 0
}

// by orders the candidates by a comparison; ties by turn, then id.
func by(compare func(a, b sched.Batch) int) func([]sched.Batch) []sched.Batch {
	return func(open []sched.Batch) []sched.Batch {
		out := slices.DeleteFunc(slices.Clone(open), func(b sched.Batch) bool { return !b.Assignable })
		slices.SortFunc(out, func(a, b sched.Batch) int {
			return cmp.Or(compare(a, b), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.ID, b.ID))
		})
		return out
	}
}

// leastOf orders by a number, least first.
func leastOf(f func(b sched.Batch) float64) func([]sched.Batch) []sched.Batch {
	return by(func(a, b sched.Batch) int { return cmp.Compare(f(a), f(b)) })
}

// An xfunc is x_b and δ_b.
type xfunc func(b sched.Batch) (x, delta float64)

func first(f xfunc) func(sched.Batch) float64 {
	return func(b sched.Batch) float64 { x, _ := f(b); return x }
}

func xFS(b sched.Batch) (float64, float64) { return float64(b.Running), 1 }
func xFSRatio(b sched.Batch) (float64, float64) {
	return float64(b.Running) / float64(b.Planned), 1 / float64(b.Planned)
}
func xWFS(b sched.Batch) (float64, float64) { return float64(b.Running) / b.Priority, 1 / b.Priority }
func xWFSRatio(b sched.Batch) (float64, float64) {
	pt := b.Priority * float64(b.Planned)
	return float64(b.Running) / pt, 1 / pt
}

// xDAFS is eq. 3, term by term, the terms added without rounding.
func xDAFS(f func(n, planned int) *big.Rat) xfunc {
	return func(b sched.Batch) (float64, float64) {
		if !b.Production {
			return xWFSRatio(b)
		}
		left, sum := b.Planned-b.Completed, new(big.Rat)
		for i := 0; i < b.Running; i++ {
			sum.Add(sum, f(max(left-i, 0), b.Planned))
		}
		total, _ := sum.Float64()
		next, _ := f(max(left-b.Running, 0), b.Planned).Float64()
		pt := b.Priority * float64(b.Planned)
		return total / pt, next / pt
	}
}

func plainLog1p(n, planned int) *big.Rat {
	return rat(math.Log1p(float64(n) / float64(planned)))
}
func plainIdentity(n, planned int) *big.Rat { return big.NewRat(int64(n), int64(planned)) }

func rat(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }

// maximinOrder orders by J∞ after the assignment, greatest first, where J∞ is
// computed from eq. 2 for every candidate over every batch, in exact arithmetic:
// O(B²). With a zero component: those with x = 0 first, then by δ.
func maximinOrder(f xfunc) func([]sched.Batch) []sched.Batch {
	return func(open []sched.Batch) []sched.Batch {
		anyZero := slices.ContainsFunc(open, func(b sched.Batch) bool { x, _ := f(b); return x == 0 })
		if anyZero {
			return by(func(a, b sched.Batch) int {
				xa, da := f(a)
				xb, db := f(b)
				return cmp.Or(cmp.Compare(min(1, math.Ceil(xa)), min(1, math.Ceil(xb))), cmp.Compare(da, db))
			})(open)
		}
		j := map[crowd.BatchID]*big.Rat{}
		for _, i := range open {
			if i.Assignable {
				j[i.ID] = jInfinity(raised(open, i.ID, f))
			}
		}
		return by(func(a, b sched.Batch) int { return j[b.ID].Cmp(j[a.ID]) })(open)
	}
}

// betaOrder orders by J_β after the assignment, greatest first, for an integer β other
// than 0 and 1: by the sum of eq. 1, of which the least is the best, in exact
// arithmetic over every batch for every candidate. Zeros as in maximinOrder.
func betaOrder(beta int, f xfunc) func([]sched.Batch) []sched.Batch {
	return func(open []sched.Batch) []sched.Batch {
		idle := func(b sched.Batch) bool { x, _ := f(b); return x == 0 }
		if beta > 1 && slices.ContainsFunc(open, idle) {
			return maximinOrder(f)(open)
		}
		if !slices.ContainsFunc(open, func(b sched.Batch) bool { return !idle(b) }) {
			return by(func(a, b sched.Batch) int { return 0 })(open) // J = 1 for every choice
		}
		sums := map[crowd.BatchID]*big.Rat{}
		for _, i := range open {
			if i.Assignable {
				sums[i.ID] = equation1Sum(raised(open, i.ID, f), 1-beta)
			}
		}
		return by(func(a, b sched.Batch) int { return sums[a.ID].Cmp(sums[b.ID]) })(open)
	}
}

// raised returns x after an assignment of one batch.
func raised(open []sched.Batch, id crowd.BatchID, f xfunc) []*big.Rat {
	out := make([]*big.Rat, len(open))
	for k, b := range open {
		x, delta := f(b)
		out[k] = rat(x)
		if b.ID == id {
			out[k].Add(out[k], rat(delta))
		}
	}
	return out
}

// jInfinity is eq. 2.
func jInfinity(x []*big.Rat) *big.Rat {
	sum, worst := new(big.Rat), new(big.Rat)
	for _, v := range x {
		sum.Add(sum, v)
	}
	for _, v := range x {
		if q := new(big.Rat).Quo(sum, v); q.Cmp(worst) > 0 {
			worst = q
		}
	}
	return worst.Neg(worst)
}

// plainTenants is tenant-fair: shares summed again at each decision.
type plainTenants struct {
	turns map[crowd.TenantID]uint64 // kept by the world
	fresh func() plain
	inner map[crowd.TenantID]plain
}

func (p *plainTenants) sorted(open []sched.Batch) []crowd.TenantID {
	share := map[crowd.TenantID]float64{}
	var ids []crowd.TenantID
	for _, b := range open {
		if _, seen := share[b.Tenant]; !seen {
			ids = append(ids, b.Tenant)
		}
		share[b.Tenant] += float64(b.Running)
	}
	weight := map[crowd.TenantID]float64{}
	for _, b := range open {
		weight[b.Tenant] = b.TenantWeight
	}
	slices.SortFunc(ids, func(a, b crowd.TenantID) int {
		return cmp.Or(cmp.Compare(share[a]/weight[a], share[b]/weight[b]), cmp.Compare(p.turns[a], p.turns[b]), cmp.Compare(a, b))
	})
	return ids
}

func of(open []sched.Batch, tenant crowd.TenantID) []sched.Batch {
	return slices.DeleteFunc(slices.Clone(open), func(b sched.Batch) bool { return b.Tenant != tenant })
}

func (p *plainTenants) next(open []sched.Batch, w sched.Worker) crowd.BatchID {
	for _, tenant := range p.sorted(open) {
		if p.inner[tenant] == nil {
			p.inner[tenant] = p.fresh()
		}
		if id := p.inner[tenant].next(of(open, tenant), w); id != 0 {
			return id
		}
	}
	return 0
}

// order is the whole order, for a stateless inner policy.
func (p *plainTenants) order(open []sched.Batch) (out []sched.Batch) {
	for _, tenant := range p.sorted(open) {
		out = append(out, p.fresh().(inOrder).order(of(open, tenant))...)
	}
	return out
}

// plainStrict is strict-priority: the inner policy of each priority, the highest first.
type plainStrict struct {
	fresh func() plain
	inner map[float64]plain
}

func (p *plainStrict) next(open []sched.Batch, w sched.Worker) crowd.BatchID {
	with := map[float64][]sched.Batch{}
	for _, b := range open {
		with[b.Priority] = append(with[b.Priority], b)
	}
	maps.DeleteFunc(p.inner, func(priority float64, _ plain) bool { return with[priority] == nil })
	priorities := slices.Sorted(maps.Keys(with))
	slices.Reverse(priorities)
	for _, priority := range priorities {
		if p.inner[priority] == nil {
			p.inner[priority] = p.fresh()
		}
		if id := p.inner[priority].next(with[priority], w); id != 0 {
			return id
		}
	}
	return 0
}

// plainReward is by-reward: the inner policy of batches with another priority.
type plainReward struct{ inner plain }

func (p plainReward) next(open []sched.Batch, w sched.Worker) crowd.BatchID {
	open = slices.Clone(open)
	for i := range open {
		open[i].Priority = max(float64(open[i].Reward)/1e4, sched.MinPriority)
	}
	return p.inner.next(open, w)
}

// plainPromises serves first, in an order, what has something to lose, and then the
// rest as the inner policy has it, which sees all.
type plainPromises struct {
	order func([]sched.Batch) []sched.Batch
	loses func(sched.Batch) bool
	inner plain
}

func (p plainPromises) next(open []sched.Batch, w sched.Worker) crowd.BatchID {
	losing, rest := []sched.Batch{}, slices.Clone(open)
	for i, b := range rest {
		if p.loses(b) {
			losing = append(losing, b)
			rest[i].Assignable = false
		}
	}
	if id := (inOrder{p.order}).next(losing, w); id != 0 {
		return id
	}
	return p.inner.next(rest, w)
}

// plainWCFS is Algorithm 4 as printed, but for the last line.
type plainWCFS struct {
	order    func([]sched.Batch) []sched.Batch
	k        int
	conceded map[crowd.BatchID]int
}

func (p *plainWCFS) next(open []sched.Batch, w sched.Worker) crowd.BatchID {
	for id := range p.conceded { // a batch that is gone is forgotten
		if !slices.ContainsFunc(open, func(b sched.Batch) bool { return b.ID == id }) {
			delete(p.conceded, id)
		}
	}
	l := w.LastBatch()
	var eligible []crowd.BatchID
	for _, b := range p.order(open) {
		if w.MayClass(b.Class) && w.MayBatch(b.ID) {
			eligible = append(eligible, b.ID)
		}
	}
	for _, b := range eligible {
		switch {
		case l == b || l == 0:
			p.conceded[b] = 0
			return b
		case p.conceded[b] < p.k:
			p.conceded[b]++
		default:
			p.conceded[b] = 0
			return b
		}
	}
	if len(eligible) == 0 {
		return 0
	}
	p.conceded[eligible[0]] = 0 // work is conserved
	return eligible[0]
}

// byPenalty is the order of listing 1: by the added penalty, greatest first, then by
// the time of the request.
var byPenalty = by(func(a, b sched.Batch) int { return cmp.Or(cmp.Compare(b.Added, a.Added), a.Since.Compare(b.Since)) })

// byATC is the order of apparent tardiness cost in its own words, as of a moment:
// by c/p·exp(-slack/k), greatest first, with the stake as c, the task time as p and
// what is left until Due as slack; what has no step to escape comes last; then by
// the time of the request. What differs by less than a millisecond of slack counts
// as equal.
func byATC(look time.Duration) func([]sched.Batch) []sched.Batch {
	index := func(b sched.Batch) float64 {
		if b.Due.IsZero() {
			return math.Inf(-1)
		}
		slack := b.Due.Sub(epoch).Seconds()
		return math.Round(1000 * (look.Seconds()*math.Log(float64(max(b.Stake, 1))/float64(crowd.Unit)/b.TaskTime.Minutes()) - slack))
	}
	return by(func(a, b sched.Batch) int { return cmp.Or(cmp.Compare(index(b), index(a)), a.Since.Compare(b.Since)) })
}

// byRest is the order of form=rest in its own words, as byATC: by c/W·exp(-t/D), with
// the stake as c, the work that is left as W, and what is left until it falls due as t.
func byRest(look func(sched.Batch) time.Duration) func([]sched.Batch) []sched.Batch {
	return func(list []sched.Batch) []sched.Batch {
		told := slices.Clone(list)
		ids := map[crowd.BatchID]sched.Batch{}
		pool := time.Duration(0)
		for i, b := range told {
			ids[b.ID], pool = b, look(b)
			if told[i].TaskTime = b.Work; b.Work <= 0 {
				told[i].TaskTime = b.TaskTime
			}
			if !b.Due.IsZero() {
				told[i].Due = b.Falls
			}
		}
		out := byATC(pool)(told)
		for i, b := range out {
			out[i] = ids[b.ID]
		}
		return out
	}
}

// xfuncs are the workforces by their names in beta-fair.
var xfuncs = map[string]xfunc{
	"fs": xFS, "fs-ratio": xFSRatio, "wfs": xWFS, "wfs-ratio": xWFSRatio, "dafs": xDAFS(plainLog1p),
}

// plains makes the plain policy of a name; turns are the tenants' last turns.
func plains(turns map[crowd.TenantID]uint64) map[string]func() plain {
	stateless := map[string]func([]sched.Batch) []sched.Batch{
		"fifo": by(func(a, b sched.Batch) int { return a.Arrived.Compare(b.Arrived) }),
		"sjf":  by(func(a, b sched.Batch) int { return cmp.Compare(a.TaskTime, b.TaskTime) }),
		"edf": by(func(a, b sched.Batch) int {
			if a.Deadline.IsZero() != b.Deadline.IsZero() {
				return map[bool]int{true: 1, false: -1}[a.Deadline.IsZero()]
			}
			return a.Deadline.Compare(b.Deadline)
		}),
		"penalty":           byRest(func(b sched.Batch) time.Duration { return b.Look }),
		"penalty(look=10s)": byRest(func(sched.Batch) time.Duration { return 10 * time.Second }),
		"penalty(form=atc)": byATC(time.Minute),

		"penalty(form=atc,look=10s)": byATC(10 * time.Second),
		"penalty(form=event)":        byPenalty,
		"penalty(form=loop)":         byPenalty,
		"rr":                         by(func(a, b sched.Batch) int { return 0 }),
		"fs":                         leastOf(first(xFS)),
		"fs-ratio":                   leastOf(first(xFSRatio)),
		"wfs":                        leastOf(first(xWFS)),
		"wfs-ratio":                  leastOf(first(xWFSRatio)),
		"sdafs":                      leastOf(first(xDAFS(plainLog1p))),
		"sdafs(f=identity)":          leastOf(first(xDAFS(plainIdentity))),
		"dafs":                       maximinOrder(xDAFS(plainLog1p)),
		"dafs(f=identity)":           maximinOrder(xDAFS(plainIdentity)),
		"beta-fair(beta=inf)":        maximinOrder(xWFSRatio),

		"beta-fair(beta=-1)":       betaOrder(-1, xWFSRatio),
		"beta-fair(beta=2,x=dafs)": betaOrder(2, xDAFS(plainLog1p)),
	}
	for name, f := range xfuncs {
		if name != "wfs-ratio" {
			stateless["beta-fair(beta=inf,x="+name+")"] = maximinOrder(f)
		}
	}
	out := map[string]func() plain{}
	for name, order := range stateless {
		out[name] = func() plain { return inOrder{order} }
	}
	tenants := func(inner string) *plainTenants {
		return &plainTenants{turns: turns, fresh: out[inner], inner: map[crowd.TenantID]plain{}}
	}
	wcfs := func(order func([]sched.Batch) []sched.Batch, k int) plain {
		return &plainWCFS{order: order, k: k, conceded: map[crowd.BatchID]int{}}
	}
	out["wcfs(wfs,k=3)"] = func() plain { return wcfs(stateless["wfs"], 3) }
	out["wcfs(penalty,k=3)"] = func() plain { return wcfs(stateless["penalty"], 3) }
	out["wcfs(dafs,k=0)"] = func() plain { return wcfs(stateless["dafs"], 0) }
	out["wcfs(dafs,k=2)"] = func() plain { return wcfs(stateless["dafs"], 2) }
	due := func(b sched.Batch) bool { return !b.Due.IsZero() }
	promises := func(name string, loses func(sched.Batch) bool, inner string) func() plain {
		return func() plain { return plainPromises{stateless[name], loses, out[inner]()} }
	}
	out["tenant-fair(fifo)"] = func() plain { return tenants("fifo") }
	out["penalty(wfs)"] = promises("penalty", due, "wfs")
	out["penalty(dafs,form=atc)"] = promises("penalty(form=atc)", due, "dafs")
	out["penalty(tenant-fair(fifo),form=event)"] = promises("penalty(form=event)", func(b sched.Batch) bool { return b.Added > 0 }, "tenant-fair(fifo)")
	for _, inner := range []string{"fifo", "wfs", "dafs", "penalty", "penalty(wfs)", "penalty(form=event)", "penalty(form=loop)", "wcfs(wfs,k=3)", "beta-fair(beta=-1)"} {
		out["tenant-fair("+inner+")"] = func() plain { return tenants(inner) }
	}
	for _, inner := range []string{"fifo", "fs", "dafs", "wcfs(wfs,k=3)", "tenant-fair(wfs)"} {
		out["strict-priority("+inner+")"] = func() plain { return &plainStrict{fresh: out[inner], inner: map[float64]plain{}} }
	}
	for _, inner := range []string{"wfs", "dafs", "strict-priority(fifo)", "tenant-fair(wfs)"} {
		out["by-reward("+inner+")"] = func() plain { return plainReward{out[inner]()} }
	}
	out["tenant-fair(strict-priority(fs))"] = func() plain {
		return &plainTenants{turns: turns, fresh: out["strict-priority(fs)"], inner: map[crowd.TenantID]plain{}}
	}
	out["wcfs(tenant-fair(dafs),k=2)"] = func() plain { return wcfs(tenants("dafs").order, 2) }
	return out
}
