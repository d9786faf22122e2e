package pools

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
)

// crowdState is where recruits come from: the pool.Recruiter of this world.
type crowdState struct {
	w       *world
	asked   [][]uint64 // by pool: the numbers of those asked and not here, ascending
	recruit uint64     // asked for so far
	stream  sim.Stream
	comers  uint64 // of the process, so far
	used    TraceUse
	choice  *choice // nil: no pool chooses whom it calls
}

func (c *crowdState) init(w *world) {
	c.w, c.asked, c.stream = w, make([][]uint64, len(w.pools)), w.stream("recruitment")
	if slices.ContainsFunc(w.run.Pools, func(p Pool) bool { return p.Settings.LeastPreference > 0 }) {
		c.choice = &choice{w: w, likes: make([]float64, len(w.pools)), people: map[uint64]uint64{}}
	}
	if w.run.People.Recruiting == Process {
		c.nextComer()
	}
}

// delay is the n-th recruitment time.
func (c *crowdState) delay(n uint64) int64 {
	if t := c.w.run.People.Trace; t != nil {
		return nanos(c.used.take(&c.used.Recruitments, t.Recruitments, n))
	}
	if c.w.run.People.Recruitment == nil {
		return 0
	}
	r := c.stream.At(n)
	return nanos(c.w.run.People.Recruitment.Draw(&r))
}

// Recruit implements pool.Recruiter. Of a crowd that is used up nobody is asked.
func (c *crowdState) Recruit(_ time.Time, p crowd.PoolID, n int) error {
	w, i := c.w, int32(p-1)
	w.pools[i].elapse(w.now)
	for range n {
		if !c.next(i) {
			w.pools[i].books.out.Refused += int64(n)
			return nil
		}
		n--
		c.asked[i] = append(c.asked[i], c.recruit)
		w.pools[i].coming++
		w.pools[i].books.out.Asked++
		if w.run.People.Recruiting != Process {
			w.schedule(w.now+c.delay(c.recruit), event{kind: recruitComes, who: i, n: c.recruit})
		}
		c.recruit++
	}
	return nil
}

// next finds the next person to ask for pool i; false: nobody is left.
func (c *crowdState) next(i int32) bool {
	if c.choice != nil {
		return c.choice.find(i, c.recruit)
	}
	most := c.w.run.People.Outside
	return most == 0 || c.recruit < uint64(most)
}

// Withdraw implements pool.Recruiter.
func (c *crowdState) Withdraw(_ time.Time, p crowd.PoolID, n int) error {
	i := int32(p - 1)
	c.w.pools[i].elapse(c.w.now)
	n = min(n, len(c.asked[i]))
	if c.choice != nil {
		for _, number := range c.asked[i][len(c.asked[i])-n:] {
			delete(c.choice.people, number)
		}
	}
	c.asked[i] = c.asked[i][:len(c.asked[i])-n]
	c.w.pools[i].coming -= n
	c.w.pools[i].books.out.Withdrawn += int64(n)
	return nil
}

// comes lets a recruit come, unless they were withdrawn.
func (c *crowdState) comes(w *world, i int32, number uint64) bool {
	at, found := slices.BinarySearch(c.asked[i], number)
	if !found {
		return false
	}
	w.pools[i].elapse(w.now)
	c.asked[i] = slices.Delete(c.asked[i], at, at+1)
	w.pools[i].coming--
	w.pools[i].books.out.Joined++
	person := number
	if c.choice != nil {
		person = c.choice.comes(number)
	}
	w.join(i, recruit(person), w.people.starters+number)
	return true
}

// somebody lets the next of the process come, for whoever asked first, and
// returns the pool; nowhere if nobody did.
func (c *crowdState) somebody(w *world) int32 {
	c.nextComer()
	first := int32(nowhere)
	for i := range c.asked {
		if len(c.asked[i]) > 0 && (first == nowhere || c.asked[i][0] < c.asked[first][0]) {
			first = int32(i)
		}
	}
	if first != nowhere {
		c.comes(w, first, c.asked[first][0])
	}
	return first
}

func (c *crowdState) nextComer() {
	c.w.schedule(c.w.now+max(c.delay(c.comers), 1), event{kind: somebodyComes})
	c.comers++
}

var _ pool.Recruiter = (*crowdState)(nil)
