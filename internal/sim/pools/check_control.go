package pools

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/queueing"
)

// decided holds what the control wants to be done against the world: elasticity
// and balance must not fight. It counts people by itself, from where they are and
// where they belong. Where moves are for good nothing is promised.
func (a *audit) decided(w *world, decisions []pool.Decision) error {
	if w.run.ForGood {
		return nil
	}
	going, err := once(decisions)
	if err != nil {
		return err
	}
	a.both(w, decisions)
	for i := range decisions {
		if err := a.whoLeft(w, i, &decisions[i]); err != nil {
			return fmt.Errorf("%s: %w", w.pools[i].Name, err)
		}
		if err := a.minimum(w, i, decisions, going); err != nil {
			return fmt.Errorf("%s: %w", w.pools[i].Name, err)
		}
	}
	if err := a.recalls(w, decisions, going); err != nil {
		return err
	}
	own := w.belong()
	for i := range decisions {
		d := &decisions[i]
		if d.Advice {
			continue
		}
		if len(d.Go) != d.Release {
			return fmt.Errorf("%d are let go, and %d are named", d.Release, len(d.Go))
		}
		for _, id := range d.Go {
			who, known := w.people.at[id]
			if !known {
				return fmt.Errorf("%s is let go, and is not there", id)
			}
			if err := a.letGo(w, &w.people.list[who], going); err != nil {
				return fmt.Errorf("%s is let go of %s: %w", id, w.pools[i].Name, err)
			}
			own[w.people.list[who].home]--
		}
		for _, m := range d.Moves {
			if err := a.moves(w, m, own); err != nil {
				return err
			}
		}
	}
	for i := range decisions {
		if err := a.calls(w, i, &decisions[i], own[i]); err != nil {
			return fmt.Errorf("%s: %w", w.pools[i].Name, err)
		}
	}
	return nil
}

// once returns who is let go or moved in this step, or comes to belong elsewhere, and checks
// that only one of that is to happen to anybody.
func once(decisions []pool.Decision) (map[crowd.WorkerID]bool, error) {
	going := map[crowd.WorkerID]bool{}
	for i := range decisions {
		d := &decisions[i]
		if d.Advice {
			continue
		}
		for _, id := range append(lists.Map(d.Moves, func(m pool.Move) crowd.WorkerID { return m.Worker }), d.Go...) {
			if going[id] {
				return nil, fmt.Errorf("%s is let go or moved twice in one step", id)
			}
			going[id] = true
		}
	}
	return going, nil
}

// both counts the pools of whose people some come to belong elsewhere in this step, and others
// are let go.
func (a *audit) both(w *world, decisions []pool.Decision) {
	exchanged, gone := map[int32]bool{}, map[int32]bool{}
	home := func(id crowd.WorkerID) int32 { return w.people.list[w.people.at[id]].home }
	for i := range decisions {
		if decisions[i].Advice {
			continue
		}
		for _, m := range decisions[i].Moves {
			if m.From == m.To {
				exchanged[home(m.Worker)] = true
			}
		}
		for _, id := range decisions[i].Go {
			gone[home(id)] = true
		}
	}
	for of := range exchanged {
		if gone[of] {
			a.looked.both++
		}
	}
}

// belong counts the people of each pool, wherever they are.
func (w *world) belong() []int {
	own := make([]int, len(w.pools))
	for _, who := range w.people.at {
		if x := &w.people.list[who]; !x.leaving {
			own[x.home]++
		}
	}
	return own
}

// letGo checks that x may be let go: neither did they come from another pool
// within the cool-down, nor are they in training, nor do fewer than Min stay at home for
// whom others were to be called there, nor does anybody stay who likes the pool less, holds
// as little, and might be let go as well.
func (a *audit) letGo(w *world, x *person, going map[crowd.WorkerID]bool) error {
	a.looked.releases++
	if x.moved != never {
		a.looked.returned++
	}
	if err := w.mayGo(x); err != nil {
		return err
	}
	atHome, lent := 0, 0 // of those who stay
	for _, who := range w.people.at {
		switch y := &w.people.list[who]; {
		case y.home != x.home || going[y.id] || y.leaving:
		case y.pool == y.home:
			atHome++
		default:
			lent++
		}
	}
	least := w.run.Pools[x.home].Settings.Min
	if x.pool == x.home && lent > 0 && atHome < least {
		return fmt.Errorf("%d stay of at least %d, and %d are lent", atHome, least, lent)
	}
	for _, who := range w.people.at {
		y := &w.people.list[who]
		if y.pool == y.home && x.pool != x.home && atHome <= least {
			continue
		}
		if y.home != x.home || going[y.id] || y.leaving || w.mayGo(y) != nil ||
			w.run.Pools[y.pool].Settings.Advise != w.run.Pools[x.home].Settings.Advise {
			continue
		}
		switch idle, stays := x.holds == 0, y.holds == 0; {
		case stays && !idle:
			return fmt.Errorf("they hold a task, and %s is idle", y.id)
		case idle == stays && y.prefers[x.home] < x.prefers[x.home]:
			return fmt.Errorf("%s likes the pool less, and stays", y.id)
		}
	}
	return nil
}

// mayGo says why somebody may not be let go.
func (w *world) mayGo(x *person) error {
	span := max(w.run.Pools[x.home].Settings.Cooldown, time.Minute)
	switch since := time.Duration(w.now - x.moved); {
	case x.learns && x.holds != 0:
		return fmt.Errorf("they are in training")
	case x.moved != never && since < span:
		return fmt.Errorf("they came from another pool %s ago, less than %s", since, span)
	}
	return nil
}

// moves checks a move, and counts whom it makes belong elsewhere.
func (a *audit) moves(w *world, m pool.Move, own []int) error {
	x := &w.people.list[w.people.at[m.Worker]]
	home, to, at := int(x.home), int(m.To)-1, int(m.Home)-1
	switch {
	case at == to && home == to: // also by the random balance
		a.looked.recalls++
	case at == to:
		a.looked.exchanges++
		own[home]--
		own[to]++
	case at == home:
		a.looked.loans++
	default:
		return fmt.Errorf("%s belongs to %d, is lent to %d, and would belong to %d", m.Worker, home, to, at)
	}
	return nil
}

// recalls checks that those of a pool's idle people elsewhere are called home first who
// like it best compared with where they are. More than the pool has work for are brought
// by rules and balancers, in orders of their own, and its Max may have room only for those.
func (a *audit) recalls(w *world, decisions []pool.Decision, going map[crowd.WorkerID]bool) error {
	home := make([][]*person, len(w.pools)) // who is called there
	for i := range decisions {
		for _, m := range decisions[i].Moves {
			if x := &w.people.list[w.people.at[m.Worker]]; !decisions[i].Advice && m.From != m.To && int32(m.To)-1 == x.home {
				home[x.home] = append(home[x.home], x)
			}
		}
	}
	gain := func(x *person) float64 { return x.prefers[x.home] - x.prefers[x.pool] }
	for i, called := range home {
		r, s := &w.control.readings[i], &w.pools[i].Settings
		if len(called) == 0 || len(called) > max(r.Queue, s.Min-r.Workers) || s.Max > 0 {
			continue
		}
		x := slices.MinFunc(called, func(x, y *person) int { return cmp.Compare(gain(x), gain(y)) })
		for _, who := range w.people.at {
			y := &w.people.list[who]
			if int(y.home) != i || y.pool == y.home || y.holds != 0 || y.leaving || going[y.id] || w.pools[y.pool].Settings.Advise != s.Advise {
				continue
			}
			a.looked.chosen++
			if gain(y) > gain(x) {
				return fmt.Errorf("%s is called home to %s, and not %s, who likes it better by more", x.id, w.pools[i].Name, y.id)
			}
		}
	}
	return nil
}

// whoLeft checks that a pool is told of those who belong to it and left, and of nobody
// else: who leaves while they are lent is to be replaced where they belong, and only there.
func (a *audit) whoLeft(w *world, i int, d *pool.Decision) error {
	p := &a.pools[i]
	if p.leaving == nil {
		p.leaving = queueing.NewWindow(cmp.Or(w.run.Pools[i].Settings.Window, pool.DefaultWindow))
	} else if length := time.Duration(w.now - p.decided).Seconds(); length > 0 {
		p.leaving.Add(w.time(), float64(p.left), length)
	}
	if p.leftLent > 0 {
		a.looked.replaced++
	}
	p.left, p.leftLent, p.decided = 0, 0, w.now
	if want := p.leaving.Rate(w.time()).Value; math.Abs(d.Saw.Abandonment-want) > 1e-9 {
		return fmt.Errorf("it counts %.6g people a second who leave, where %.6g of its own do", d.Saw.Abandonment, want)
	}
	return nil
}

// minimum checks that who is idle elsewhere comes home to a pool that has fewer people than
// its Min, as long as it takes people at all.
func (a *audit) minimum(w *world, i int, decisions []pool.Decision, going map[crowd.WorkerID]bool) error {
	r, s, d := &w.control.readings[i], &w.pools[i].Settings, &decisions[i]
	short := s.Min - r.Workers
	if short <= 0 || d.Advice || s.Max > 0 {
		return nil
	}
	for _, from := range decisions {
		for _, m := range from.Moves {
			if m.From != m.To && int(m.To) == i+1 {
				short--
			}
		}
	}
	for _, who := range w.people.at {
		x := &w.people.list[who]
		if int(x.home) != i || x.pool == x.home {
			continue
		}
		a.looked.short++
		if idle := x.holds == 0 && !x.leaving; idle && short > 0 && !going[x.id] && w.pools[x.pool].Settings.Advise == s.Advise {
			return fmt.Errorf("%d on duty of at least %d, and %s, who belongs here, is left idle elsewhere", r.Workers, s.Min, x.id)
		}
	}
	return nil
}

// calls checks that nobody is called for whom somebody is lent: in a pool of a
// fixed size, that all who belong to it and who come are no more than that.
func (a *audit) calls(w *world, i int, d *pool.Decision, own int) error {
	if d.Advice || d.Recruit == 0 {
		return nil
	}
	a.looked.calls++
	s := &w.pools[i].Settings
	n, least := 0, s.Min
	if _, err := fmt.Sscanf(s.Elasticity, "static(n=%d)", &n); err != nil || s.Stability != "none" {
		return nil
	}
	if all := own + w.pools[i].coming + d.Recruit; all > max(n, least) {
		return fmt.Errorf("%d are called to %d and %d coming, and %d are wanted", d.Recruit, own, w.pools[i].coming, n)
	}
	return nil
}
