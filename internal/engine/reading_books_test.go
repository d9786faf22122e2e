package engine_test

import (
	"cmp"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/pool"
)

// The part of the books that is about what a pool reads of itself.

func (k *books) checkReading(got pool.Reading, present int) error {
	k.tally.Withdrawn = k.tally.Arrived - k.tally.Completed - k.outstanding() + k.carried
	var idle, working, learning, going, leaving []crowd.WorkerID
	want := pool.Reading{Pool: poolID, Counters: k.tally, Affordable: -1, Rate: float64(k.retainer.Rate) / float64(crowd.Unit)}
	for id, p := range k.people {
		switch {
		case p.on && k.departure(id) == engine.Moved:
			going = append(going, id)
		case p.on && k.departure(id) == engine.Left:
			leaving = append(leaving, id)
		case !p.on || k.departure(id) != "":
		case p.training > 0:
			want.Training++
			learning = append(learning, id)
		case k.holding[id] != nil:
			want.Busy++
			working = append(working, id)
		default:
			idle = append(idle, id)
		}
	}
	slices.SortFunc(idle, func(x, y crowd.WorkerID) int {
		return cmp.Or(k.person(x).idle.Compare(k.person(y).idle), cmp.Compare(x, y))
	})
	want.Workers = want.Busy + want.Training + len(idle)
	for _, b := range k.batches {
		waits := b.kept.Planned - b.counted - b.running
		stopped := k.stopped || b.stopped || k.tenants[b.spec.Tenant].Stopped || b.kept.State != crowd.BatchRunning
		if b.spec.Training || stopped || waits == 0 || k.promised(b)+b.spec.Reward > k.accounts[b.account()] || k.enough(b) != "" {
			continue
		}
		want.Queue += waits
		want.OldestWait = max(want.OldestWait, k.now.Sub(b.waitsFrom))
	}
	if k.retainer.Rate > 0 {
		free := k.accounts[poolAccount] - money(k.unpaidDue())
		each := times(int64(k.retainer.Rate), int64(max(k.retainer.Promise, time.Minute)))
		want.Affordable = max(int(new(big.Int).Div(whole(max(free, 0)), each).Int64())-present, 0)
	}
	var waited []time.Duration
	for _, h := range k.handed[max(0, len(k.handed)-512):] {
		if k.now.Sub(h.At) <= 10*time.Minute {
			waited = append(waited, h.At.Sub(h.from))
		}
	}
	if slices.Sort(waited); len(waited) > 0 { // the least that 95 of 100 do not exceed
		for i := len(waited) - 1; i >= 0 && (i+1)*100 >= 95*len(waited); i-- {
			want.WaitP95 = waited[i]
		}
	}
	for i, list := range [...][]crowd.WorkerID{working, learning, going, leaving} {
		slices.Sort(list)
		if of := slices.Sorted(slices.Values(idsOf([...][]pool.Person{got.Working, got.Learning, got.Going, got.Leaving}[i]))); !slices.Equal(of, list) {
			return fmt.Errorf("list %d of the reading: %v, want %v", i, of, list)
		}
	}
	ids := idsOf(got.Idle)
	got.Idle, got.Working, got.Learning, got.Going, got.Leaving, got.Withdrawn = nil, nil, nil, nil, nil, nil
	if !reflect.DeepEqual(got, want) || !slices.Equal(ids, idle) {
		return fmt.Errorf("reading:\n got %+v %v\nwant %+v %v", got, ids, want, idle)
	}
	return nil
}

// outstanding is how many answers are wanted and have not come, those in people's hands included.
func (k *books) outstanding() (n int64) {
	for _, b := range k.batches {
		if !b.spec.Training && b.kept.State.Open() {
			n += int64(b.kept.Planned - b.counted)
		}
	}
	return n
}

func idsOf(people []pool.Person) []crowd.WorkerID {
	return lists.Map(people, func(p pool.Person) crowd.WorkerID { return p.ID })
}
