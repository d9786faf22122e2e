package pool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// Elasticity and balance would fight if each counted people in its own way: a
// pool whose people were moved would call others in their place, and the pool
// that they came to would let people go. So who moves is lent. They count for
// the pool that they belong to, wherever they are, and
//
//   - go home when home has work for them, or too few people to keep its Min, and they
//     are idle, inside a gate or outside (recall);
//   - are moved by balance or a rule only if no work waits for them where they are, and
//     not before Settings.stay after they came from another pool, unless they have
//     worked since (mayMove);
//   - belong to another pool only where theirs would let one go and that pool
//     would call one in the same step (exchange);
//   - are let go only when the pool that they belong to has too many people
//     (letGo), and not before they have been there for Settings.stay. Those at home are
//     let go only as far as Min of them stay there: others would be called home for them.
//
// With constant targets, calls and releases come to an end: docs/adr/0022 has
// the argument.

// staff is who belongs to a pool at a step.
type staff struct {
	own      int // on duty, here or lent to others
	lent     int // of own, on duty elsewhere or on their way there
	borrowed int // on duty here, of other pools
	free     int // of own, who may be let go
	// elsewhere is to be added to how many people left by themselves: see follow.
	elsewhere int64
}

// minStay is for how long nobody is let go who came from another pool, where
// the cool-down is shorter.
const minStay = time.Minute

// stay is for how long the pool lets nobody go who came from another one.
func (s *Settings) stay() time.Duration { return max(s.Cooldown, minStay) }

// stayed reports whether the person has been where they are for so long.
func (p *Person) stayed(now time.Time, span time.Duration) bool {
	return p.Moved.IsZero() || now.Sub(p.Moved) >= span
}

// mayMove reports whether balance or a rule may take somebody idle out of pool i. For whom
// work waits is needed there: recall would bring them back. Who came from another pool and
// had no task since is not sent round, so that nobody goes back and forth.
func (s *step) mayMove(i int, p *Person) bool {
	if s.control.forGood {
		return true
	}
	return (s.readings[i].Queue == 0 || p.NoWork) && (p.Worked || p.stayed(s.now, s.pools[i].settings.stay()))
}

// A loan is of a person whom one pool has lent to another, as they were last seen.
type loan struct{ home, host crowd.PoolID }

// count counts the staff of every pool. Who is lent to a pool that was not read
// in this step is taken to be there still.
func (s *step) count() {
	for i := range s.readings {
		r := &s.readings[i]
		of := &s.pools[i].staff
		of.own += r.Workers
		of.free += r.Workers - r.listed()
		for _, list := range [...][]Person{r.Idle, r.Working, r.Learning} {
			for k := range list {
				s.enter(i, &list[k])
			}
		}
		for k := range r.Outside {
			s.enterOutside(i, &r.Outside[k])
		}
		for k := range r.Idle {
			s.countFree(i, &r.Idle[k])
		}
		for k := range r.Working {
			s.countFree(i, &r.Working[k])
		}
		for k := range r.Leaving { // their pool is to replace them when they are gone
			if p := &r.Leaving[k]; p.Home != 0 && p.Home != r.Pool {
				s.loans[p.ID] = loan{p.Home, r.Pool}
			}
		}
		for k := range r.Going {
			s.enterGoing(i, &r.Going[k])
		}
	}
	s.follow()
}

// enter counts somebody who is on duty in pool i.
func (s *step) enter(i int, p *Person) {
	if p.Home == 0 || p.Home == s.readings[i].Pool {
		return
	}
	here := &s.pools[i].staff
	here.own--
	here.borrowed++
	s.lend(i, p)
}

// enterOutside counts somebody who stands outside the gate of pool i, where they are not of
// the Workers.
func (s *step) enterOutside(i int, p *Person) {
	if p.Home != 0 && p.Home != s.readings[i].Pool {
		s.lend(i, p)
		s.countFree(i, p)
	}
}

// enterGoing counts somebody who goes to another pool when they have finished what they hold
// in pool i, where they are not of the Workers. Their loan is as it was when they were moved.
func (s *step) enterGoing(i int, p *Person) {
	if x, lent := s.control.loans[p.ID]; lent {
		s.loans[p.ID] = x
	}
	if home, ok := s.home(i, p); ok {
		s.pools[home].staff.own++
		s.pools[home].staff.lent++
	}
}

// lend counts somebody who is lent to pool i in the pool that they belong to.
func (s *step) lend(i int, p *Person) {
	s.loans[p.ID] = loan{p.Home, s.readings[i].Pool}
	if home, ok := s.place[p.Home]; ok {
		s.pools[home].staff.own++
		s.pools[home].staff.lent++
	}
}

// countFree counts somebody of pool i, who is not in training, among those who may
// be let go.
func (s *step) countFree(i int, p *Person) {
	home, ok := s.home(i, p)
	if ok && p.stayed(s.now, s.pools[home].settings.stay()) {
		s.pools[home].staff.free++
	}
}

// home is the place of the pool to which somebody on duty in pool i belongs;
// false: it was not read.
func (s *step) home(i int, p *Person) (int, bool) {
	if p.Home == 0 {
		return i, true
	}
	home, ok := s.place[p.Home]
	return home, ok
}

// follow compares the loans with those of the step before. Who was lent and has
// left by themselves has left the pool that lent them: that is the one in which
// somebody is to be called in their place.
func (s *step) follow() {
	gone := map[loan]int64{}
	for id, x := range s.control.loans {
		if _, there := s.loans[id]; there {
			continue
		}
		if _, read := s.place[x.host]; read {
			gone[x]++
			continue
		}
		s.loans[id] = x
		if home, ok := s.place[x.home]; ok {
			s.pools[home].staff.own++
			s.pools[home].staff.lent++
		}
	}
	s.control.loans = s.loans
	for _, i := range s.order {
		p := &s.pools[i]
		counted := s.readings[i].Counters.Abandoned
		left := max(0, counted-p.abandoned)
		p.abandoned = counted
		for _, k := range s.order {
			n := min(left, gone[loan{s.readings[k].Pool, s.readings[i].Pool}])
			left -= n
			p.elsewhere -= n
			s.pools[k].elsewhere += n
		}
	}
	for i := range s.pools {
		s.pools[i].staff.elsewhere = s.pools[i].elsewhere
	}
}

// recall sends idle people home whom home can use, those first who like it best
// compared with where they are.
func (s *step) recall(home int) {
	r, p := &s.readings[home], &s.pools[home]
	short := p.settings.Min - r.Workers
	need := max(r.Queue, short)
	if need <= 0 || p.staff.lent == 0 {
		return
	}
	elsewhere := func(host int) bool { return host != home }
	lent := append(s.idleOf(home, elsewhere), s.outsideOf(home, elsewhere)...)
	if short <= 0 {
		lent = lists.Filter(lent, func(x located) bool { return !r.NoWork[x.ID] })
	}
	slices.SortStableFunc(lent, func(a, b located) int {
		return cmp.Compare(b.PrefersAt(home)-b.PrefersAt(b.host), a.PrefersAt(home)-a.PrefersAt(a.host))
	})
	n := 0
	for _, x := range lent {
		if n == need {
			break
		}
		if s.move(x, home) {
			n++
		}
	}
	if n == 0 {
		return
	}
	why := fmt.Sprintf("for %d in the queue", r.Queue)
	if short > r.Queue {
		why = fmt.Sprintf("as at least %d are to be on duty and %d were", p.settings.Min, r.Workers)
	}
	p.d.Why = append(p.d.Why, fmt.Sprintf("%s home from other pools, %s", format.Count(n, "person"), why))
}

// A located person is on duty in the pool at place host.
type located struct {
	*Person
	host    int
	busy    bool
	outside bool // of a gate, and not of the Workers there
}

// idleOf lists the idle people who belong to pool home and are in pools of which
// in holds, those here first, then by pool; of each pool the longest idle first.
func (s *step) idleOf(home int, in func(host int) bool) []located {
	return s.peopleOf(home, in, func(r *Reading) []Person { return r.Idle }, false)
}

// outsideOf lists those who belong to pool home and stand outside the gates of others.
func (s *step) outsideOf(home int, in func(host int) bool) []located {
	people := s.peopleOf(home, in, func(r *Reading) []Person { return r.Outside }, false)
	people = lists.Filter(people, func(x located) bool { return x.host != home })
	for i := range people {
		people[i].outside = true
	}
	return people
}

func (s *step) peopleOf(home int, in func(host int) bool, list func(*Reading) []Person, busy bool) (people []located) {
	look := func(host int) {
		if !in(host) || s.pools[host].settings.Advise != s.pools[home].settings.Advise {
			return
		}
		list := list(&s.readings[host])
		for k := range list {
			if at, ok := s.home(host, &list[k]); ok && at == home && !s.moved[list[k].ID] {
				people = append(people, located{Person: &list[k], host: host, busy: busy})
			}
		}
	}
	look(home)
	for _, host := range s.order {
		if host != home {
			look(host)
		}
	}
	return people
}

// exchange lets people whom pool home has lent belong to the pools in which they
// are, where home would let people go and those would call some: those first who like it best
// there compared with home.
func (s *step) exchange(home int) {
	p := &s.pools[home]
	if p.d.Release == 0 || p.staff.lent == 0 {
		return
	}
	elsewhere := func(host int) bool { return host != home && s.pools[host].d.Recruit > 0 }
	lent := append(s.idleOf(home, elsewhere), s.peopleOf(home, elsewhere, func(r *Reading) []Person { return r.Working }, true)...)
	slices.SortStableFunc(lent, func(a, b located) int {
		return cmp.Compare(b.PrefersAt(b.host)-b.PrefersAt(home), a.PrefersAt(a.host)-a.PrefersAt(home))
	})
	for _, x := range lent {
		host := &s.pools[x.host]
		if p.d.Release == 0 || host.d.Recruit == 0 {
			continue
		}
		s.moved[x.ID] = true
		s.exchanged(home, x.host)
		at := s.readings[x.host].Pool
		if !p.settings.Advise {
			delete(s.loans, x.ID)
		}
		host.d.Moves = append(host.d.Moves, Move{Worker: x.ID, From: at, To: at, Home: at})
	}
}

// exchanged counts that somebody of pool from belongs to pool to from now on.
func (s *step) exchanged(from, to int) {
	f, t := &s.pools[from], &s.pools[to]
	f.d.Release--
	t.d.Recruit--
	f.d.Why = append(f.d.Why, fmt.Sprintf("1 fewer is let go: they belong to %s from now on", s.nameOf(to)))
	t.d.Why = append(t.d.Why, fmt.Sprintf("1 fewer is called: somebody of %s belongs here from now on", s.nameOf(from)))
}

// letGo names those who are let go of pool home's people: the idle before those
// who hold a task, and of either whoever likes the pool best last. Of those who
// like it equally, the longest idle and the longest on duty go first.
func (s *step) letGo(home, n int) {
	p := &s.pools[home]
	if n == 0 {
		return
	}
	all := func(int) bool { return true }
	people := slices.Concat(s.outsideOf(home, all), s.idleOf(home, all), s.peopleOf(home, all, func(r *Reading) []Person { return r.Working }, true))
	span := p.settings.stay()
	people = lists.Filter(people, func(x located) bool { return x.stayed(s.now, span) })
	slices.SortStableFunc(people, func(a, b located) int {
		switch {
		case b.busy && !a.busy:
			return -1
		case a.busy && !b.busy:
			return 1
		}
		return cmp.Compare(a.PrefersAt(home), b.PrefersAt(home))
	})
	r := &s.readings[home] // whom it lends in this step, gives has counted: so many stay besides
	chosen, spare, kept := people[:0], max(0, r.Workers-p.staff.borrowed-p.settings.Min), false
	for _, x := range people {
		switch {
		case len(chosen) == n:
		case x.host != home:
			chosen = append(chosen, x)
		case spare > 0: // of those at home
			spare--
			chosen = append(chosen, x)
		default:
			kept = true
		}
	}
	unlisted := min(n-len(chosen), max(0, r.Workers-r.listed()), spare)
	p.d.Release += unlisted
	if fewer := n - len(chosen) - unlisted; fewer > 0 && kept {
		p.d.Why = append(p.d.Why, fmt.Sprintf("%d fewer are let go: at least %d stay here, and others are lent", fewer, p.settings.Min))
	}
	for _, x := range chosen {
		if !p.settings.Advise {
			delete(s.loans, x.ID) // they do not leave by themselves
		}
		host := &s.pools[x.host].d
		host.Release++
		host.Go = append(host.Go, x.ID)
		if x.host != home {
			host.Lent++
			host.Why = append(host.Why, fmt.Sprintf("1 is let go whom %s has lent: %s", s.nameOf(home), strings.Join(p.d.Why, "; ")))
		}
	}
}

// latest lists the people of a pool in the order in which the paper's control lets
// them go: of the idle whoever likes the pool least, of those the longest idle, and
// then those who were added last. at is the pool's place in the preferences; those in
// moved go elsewhere.
func latest(r *Reading, at int, moved map[crowd.WorkerID]bool) []*Person {
	pick := func(list []Person) (people []*Person) {
		for k := range list {
			if !moved[list[k].ID] {
				people = append(people, &list[k])
			}
		}
		return people
	}
	idle, rest := pick(r.Idle), append(pick(r.Working), pick(r.Learning)...)
	slices.SortStableFunc(idle, func(x, y *Person) int { return cmp.Compare(x.PrefersAt(at), y.PrefersAt(at)) })
	slices.SortFunc(rest, func(x, y *Person) int { return cmp.Compare(y.ID, x.ID) })
	return append(idle, rest...)
}
