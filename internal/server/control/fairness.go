package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

const (
	fairnessLife  = 24 * time.Hour
	fairnessEvery = time.Minute // a point
	pointBatches  = 100         // are kept by themselves in a point: those that had, or were due, most
	tenantBatches = 10          // and of each tenant, so that a small one is not lost among large ones
	mostPortions  = 200_000     // are kept of a pool: with many batches or tenants, of a shorter time
)

// fairness is how the people of the pools were spread since the server was started. It
// is looked at when pools are sampled, outside the cycle of a worker.
type fairness struct {
	mu    sync.Mutex
	pools map[crowd.PoolID]*poolFairness
}

// A FairnessIndex is how evenly people are spread; NaN is not known.
type FairnessIndex struct {
	Jain    float64 // Jain's index of x_b = R_b/(P_b T_b) over the batches that could use somebody
	JInf    float64 // J∞ of the same; -Inf: some batch has nobody
	Tenants float64 // Jain's index of people by weight over the tenants of these batches
	Served  float64 // share of the looks at which no batch had nobody, so that J∞ was finite; 0 or 1 of one look
}

// A Portion is what a batch or a tenant has had of the time of people.
type Portion struct {
	Tenant crowd.TenantID
	Batch  crowd.BatchID // 0: of the tenant
	Worked time.Duration // of people
	Due    time.Duration // what would have been theirs
}

// keptPoint is what was seen within a minute.
type keptPoint struct {
	from    time.Time     // its begin
	at      time.Time     // its end
	index   FairnessIndex // means of what was known and finite
	worked  time.Duration // of people, by all tenants
	tenants []Portion     // those with most first
	batches []Portion     // those with most first, pointBatches of all and tenantBatches of each tenant
}

// A FairnessPoint is what was seen within a minute.
type FairnessPoint struct {
	At      time.Time      // its end
	Index   FairnessIndex  // means of what was known and finite
	Tenants []NamedPortion // without names, those with most first
	Batches []NamedPortion // without names, those with most first, as many as are kept
}

type poolFairness struct {
	engine    *engine.Engine // at the last look
	since, at time.Time      // first and last look
	index     FairnessIndex
	tenants   map[crowd.TenantID]*account
	batches   map[crowd.BatchID]*account // at the last look, also those that wanted nothing
	wanted    bool                       // something was, at the last look
	point     openPoint
	points    []keptPoint // oldest first
	portions  int         // in points
}

// account is what a batch or a tenant has had since the first look.
type account struct {
	Portion
	held time.Duration // by the engine, at the last look
	part float64       // of the people that it was due at the last look, 0 to 1
}

// openPoint is the point that is not over.
type openPoint struct {
	from                        time.Time
	jain, jinf, tenants, served mean
	byTenant                    map[crowd.TenantID]Portion
	byBatch                     map[crowd.BatchID]Portion
}

// mean is the mean of the values that are known and finite.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		m.sum += x
		m.n++
	}
}

// value is NaN of none.
func (m *mean) value() float64 { return m.sum / float64(m.n) }

// look enters what the engines of pools have counted since the last look.
func (f *fairness) look(ctx context.Context, pools *live.Pools, list []store.Pool) error {
	var errs []error
	for _, p := range list {
		var at time.Time
		var batches []engine.BatchShare
		var tenants []engine.TenantShare
		var of *engine.Engine
		r, err := pools.Get(p.ID)
		if err == nil {
			err = r.Do(ctx, func(e *engine.Engine, now time.Time) { of, at = e, now; batches, tenants = e.Shares(now) })
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("look at the fairness of pool %s: %w", p.ID, err))
			continue
		}
		f.mu.Lock()
		if f.pools[p.ID] == nil {
			f.pools[p.ID] = &poolFairness{since: at, tenants: map[crowd.TenantID]*account{}, batches: map[crowd.BatchID]*account{}, point: newPoint(at)}
		}
		f.pools[p.ID].look(at, of, batches, tenants)
		f.mu.Unlock()
	}
	return errors.Join(errs...)
}

func newPoint(from time.Time) openPoint {
	return openPoint{from: from, byTenant: map[crowd.TenantID]Portion{}, byBatch: map[crowd.BatchID]Portion{}}
}

// look enters what there is to see at a time. What people did since the last look was
// due by what was wanted then and is wanted now, half and half; if nothing was wanted at
// either, to those who had it.
//
// Longer than others: batches and tenants are shared out by the same few figures of the
// look, which parts of it would have to hand each other.
func (x *poolFairness) look(at time.Time, e *engine.Engine, batches []engine.BatchShare, tenants []engine.TenantShare) {
	first := x.at.IsZero()
	if x.engine != e { // one that was restored counts from 0 again
		for _, a := range x.batches {
			a.held = 0
		}
		for _, a := range x.tenants {
			a.held = 0
		}
		x.engine = e
	}
	parts := x.measure(batches)
	worked := time.Duration(0)
	had := make(map[crowd.TenantID]time.Duration, len(tenants))
	for _, t := range tenants {
		a := x.tenants[t.Tenant]
		if a == nil {
			a = &account{Portion: Portion{Tenant: t.Tenant}}
			x.tenants[t.Tenant] = a
		}
		had[t.Tenant] = a.since(t.Held, first)
		worked += had[t.Tenant]
	}
	wants := slices.ContainsFunc(batches, func(b engine.BatchShare) bool { return b.Wanted > 0 })
	before, now := 0.5, 0.5
	switch {
	case !x.wanted:
		before, now = 0, 1
	case !wants:
		before, now = 1, 0
	}
	unwanted := !x.wanted && !wants && worked > 0
	byTenant, left := make(map[crowd.TenantID]float64), x.batches
	x.batches = make(map[crowd.BatchID]*account, len(batches))
	for i, b := range batches {
		a := left[b.Batch]
		if a == nil {
			a = &account{Portion: Portion{Tenant: b.Tenant, Batch: b.Batch}}
		}
		delete(left, b.Batch)
		x.batches[b.Batch] = a
		did, part := a.since(b.Held, first), before*a.part+now*parts[i]
		if unwanted {
			part = float64(did) / float64(worked)
		}
		x.point.batch(a.add(did, worked, part))
		a.part = parts[i]
		byTenant[b.Tenant] += parts[i]
	}
	for _, a := range left { // they have ended: nobody worked for them, or more than an engine keeps have
		x.point.batch(a.add(0, worked, before*a.part))
	}
	for _, t := range tenants {
		a := x.tenants[t.Tenant]
		part := before*a.part + now*byTenant[t.Tenant]
		if unwanted {
			part = float64(had[t.Tenant]) / float64(worked)
		}
		a.part = byTenant[t.Tenant]
		x.point.tenant(a.add(had[t.Tenant], worked, part))
	}
	x.at, x.wanted = at, wants
	if at.Sub(x.point.from) >= fairnessEvery {
		x.end(at)
	}
}

// since is the time of people since the last look.
func (a *account) since(held time.Duration, first bool) time.Duration {
	had := held - a.held
	if a.held = held; first {
		return 0
	}
	return had
}

// add enters what was had, and the part that was due of what all worked.
func (a *account) add(had, worked time.Duration, part float64) Portion {
	p := Portion{a.Tenant, a.Batch, had, time.Duration(part * float64(worked))}
	a.Worked += p.Worked
	a.Due += p.Due
	return p
}

// measure takes the indexes as they are now, over the batches that want something, and
// returns which part of the people each batch is due, in sum 1, or 0 if none wants any.
func (x *poolFairness) measure(batches []engine.BatchShare) []float64 {
	claims, xs := make([]sched.Claim, len(batches)), make([]float64, 0, len(batches))
	weights, running, people := make(map[crowd.TenantID]float64), make(map[crowd.TenantID]int), 0
	for i, b := range batches {
		if claims[i] = b.Claim; b.Wanted == 0 {
			continue
		}
		xs = append(xs, sched.Workforce(b.Running, b.Planned, b.Priority))
		weights[b.Tenant] = b.TenantWeight
		running[b.Tenant] += b.Running
		people += b.Running
	}
	x.index.Jain, x.index.JInf = sched.Fairness(xs)
	var tenants sched.Spread
	for _, id := range slices.Sorted(maps.Keys(weights)) {
		tenants.Add(float64(running[id]) / weights[id])
	}
	x.index.Tenants = tenants.Jain()
	x.point.jain.add(x.index.Jain)
	x.index.Served = served(x.index.JInf)
	x.point.jinf.add(x.index.JInf)
	x.point.tenants.add(x.index.Tenants)
	x.point.served.add(x.index.Served)

	due, sum := sched.Due(float64(max(people, 1)), claims), 0.0
	for _, d := range due {
		sum += d
	}
	for i := range due {
		due[i] /= max(sum, math.SmallestNonzeroFloat64)
	}
	return due
}

func (p *openPoint) batch(x Portion) {
	if !x.none() { // in a pool may be many that want nothing
		p.byBatch[x.Batch] = x.plus(p.byBatch[x.Batch])
	}
}

func (p *openPoint) tenant(x Portion) { p.byTenant[x.Tenant] = x.plus(p.byTenant[x.Tenant]) }

func (x Portion) plus(y Portion) Portion {
	x.Worked += y.Worked
	x.Due += y.Due
	return x
}

func (x Portion) none() bool { return x.Worked == 0 && x.Due == 0 }

// larger orders portions by the greater of what they had and were due.
func larger(x, y Portion) int {
	return cmp.Or(cmp.Compare(max(y.Worked, y.Due), max(x.Worked, x.Due)), cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Batch, y.Batch))
}

// close is the point as it stands.
func (p *openPoint) close(at time.Time) keptPoint {
	out := keptPoint{from: p.from, at: at, index: FairnessIndex{p.jain.value(), p.jinf.value(), p.tenants.value(), p.served.value()},
		tenants: slices.SortedFunc(maps.Values(p.byTenant), larger), batches: slices.SortedFunc(maps.Values(p.byBatch), larger)}
	of, all := make(map[crowd.TenantID]int), 0
	out.batches = slices.Clip(lists.Filter(out.batches, func(b Portion) bool {
		of[b.Tenant]++
		all++
		return !b.none() && (all <= pointBatches || of[b.Tenant] <= tenantBatches)
	}))
	out.worked = lists.Sum(out.tenants, func(t Portion) time.Duration { return t.Worked })
	out.tenants = slices.DeleteFunc(out.tenants, Portion.none)
	return out
}

// served is 1 if J∞ is finite, 0 if some batch has nobody, and NaN if there is none.
func served(jinf float64) float64 {
	switch {
	case math.IsNaN(jinf):
		return jinf
	case math.IsInf(jinf, -1):
		return 0
	}
	return 1
}

// end keeps the point, and begins the next one.
func (x *poolFairness) end(at time.Time) {
	p := x.point.close(at)
	x.points, x.point = append(x.points, p), newPoint(at)
	x.portions += len(p.tenants) + len(p.batches)
	drop := 0
	for drop < len(x.points)-1 && (x.portions > mostPortions || at.Sub(x.points[drop].at) >= fairnessLife) {
		x.portions -= len(x.points[drop].tenants) + len(x.points[drop].batches)
		drop++
	}
	x.points = slices.Delete(x.points, 0, drop)
}

// FairnessView is how evenly a pool's people were spread. To a requester it shows only
// what their own tenants and batches had and were due.
type FairnessView struct {
	Pool   crowd.PoolID
	Policy string
	Whole  bool      // of all tenants: the indexes are known, too
	Since  time.Time // when counting began: the server was started; zero: it has not yet
	At     time.Time // of the last look
	From   time.Time // begin of the window: of the first minute of which something is kept, or as asked for if there is none

	Now  FairnessIndex // at the last look
	Mean FairnessIndex // over the window

	// Had is Jain's index and J∞ of what each tenant had in the window by what it was due,
	// HadEver that since counting began.
	Had, HadEver HadIndex

	Worked  time.Duration // of people, by all tenants in the window
	Tenants []NamedPortion
	Batches []NamedPortion // those with most in the window first, as many as asked for
	Points  []FairnessPoint
}

// NamedPortion is a portion, as a part of what all had in the same time.
type NamedPortion struct {
	Portion
	Name  string
	Share float64 // 0 to 1
	Part  float64 // the due share, 0 to 1
}

// view is a pool's fairness within the last time, with the portions of the tenants that
// are shown. Names are for the caller to add.
func (f *fairness) view(id crowd.PoolID, now time.Time, back time.Duration, shown func(crowd.TenantID) bool) FairnessView {
	v := FairnessView{Pool: id, From: now.Add(-min(back, fairnessLife)), Now: unknownIndex, Mean: unknownIndex, Had: hadIndex(nil), HadEver: hadIndex(nil)}
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.pools[id]
	if x == nil {
		return v
	}
	v.Since, v.At, v.Now = x.since, x.at, x.index
	if !x.at.IsZero() { // else a short time may lie after the last look, and be without any figure
		v.From = x.at.Add(-min(back, fairnessLife))
	}
	points := slices.Clone(x.points)
	if x.at.After(x.point.from) || len(points) == 0 {
		points = append(points, x.point.close(x.at))
	}
	points = slices.DeleteFunc(points, func(p keptPoint) bool { return !p.at.After(v.From) })
	if len(points) > 0 { // the first is shown whole, and nothing is kept of before it
		v.From = points[0].from
	}
	var jain, jinf, among, hadSome mean
	tenants, batches := map[crowd.TenantID]Portion{}, map[crowd.BatchID]Portion{}
	for _, p := range points {
		jain.add(p.index.Jain)
		jinf.add(p.index.JInf)
		among.add(p.index.Tenants)
		hadSome.add(p.index.Served)
		v.Worked += p.worked
		for _, t := range p.tenants {
			tenants[t.Tenant] = t.plus(tenants[t.Tenant])
		}
		for _, b := range p.batches {
			batches[b.Batch] = b.plus(batches[b.Batch])
		}
	}
	v.Mean = FairnessIndex{jain.value(), jinf.value(), among.value(), hadSome.value()}
	v.Had = hadIndex(slices.SortedFunc(maps.Values(tenants), larger))
	var ever []Portion
	for _, id := range slices.Sorted(maps.Keys(x.tenants)) {
		ever = append(ever, x.tenants[id].Portion)
	}
	v.HadEver = hadIndex(ever)
	hidden := func(p Portion) bool { return !shown(p.Tenant) }
	v.Points = lists.Map(points, func(p keptPoint) FairnessPoint {
		return FairnessPoint{p.at, p.index, partsOf(p.worked, slices.DeleteFunc(slices.Clone(p.tenants), hidden)), partsOf(p.worked, slices.DeleteFunc(slices.Clone(p.batches), hidden))}
	})
	v.Tenants = partsOf(v.Worked, slices.DeleteFunc(slices.SortedFunc(maps.Values(tenants), larger), hidden))
	v.Batches = partsOf(v.Worked, slices.DeleteFunc(slices.SortedFunc(maps.Values(batches), larger), hidden))
	return v
}

var unknownIndex = FairnessIndex{math.NaN(), math.NaN(), math.NaN(), math.NaN()}

// sharesOnly leaves the parts, in whole percent, and not the times that they are parts of:
// of both could be computed what others had.
func sharesOnly(list []NamedPortion) {
	for i := range list {
		p := &list[i]
		p.Worked, p.Due = 0, 0
		p.Share, p.Part = math.Round(100*p.Share)/100, math.Round(100*p.Part)/100
	}
}

// partsOf gives portions as parts of a whole.
func partsOf(whole time.Duration, list []Portion) []NamedPortion {
	return lists.Map(list, func(p Portion) NamedPortion {
		return NamedPortion{Portion: p, Share: float64(p.Worked) / float64(max(whole, 1)), Part: float64(p.Due) / float64(max(whole, 1))}
	})
}
