package engine

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Item is what a task belongs to: a unit that is on its way through a workflow.
type Item struct {
	Born   time.Time        // when its way began; zero: with the task
	Class  int              // of the classes of the batch's Terms; 0 without an SLA
	Bound  time.Time        // when its other branches are expected to end; zero: there are none
	Known  string           // key of its known answer; "": there is none. In a batch with Checks only
	Lesson bool             // with Known: it teaches, and checks nobody
	NotBy  []crowd.WorkerID // who must not do the task: they answered its item elsewhere (Spec.NotBy)
}

// Grow adds tasks to an open batch, numbered from first on, one for each item.
// Those that it knows already are passed over, so that it may be said twice; a gap
// is an error. What the new ones can cost at most (Rule.Most rewards each) is
// reserved from the tenant's account, unless the batch has a budget of its own
// (Spec.Budget > 0), which then is all that it may spend. The caller has made sure
// that the tenant has the money.
func (e *Engine) Grow(now time.Time, id crowd.BatchID, first uint32, items []Item) error {
	if err := e.grow(now, id, first, items); err != nil {
		return err
	}
	e.run(now)
	return nil
}

// GrowLast is Grow and Seal before anybody gets one of the tasks: a batch that has enough
// with them hands none of them out.
func (e *Engine) GrowLast(now time.Time, id crowd.BatchID, first uint32, items []Item) error {
	if err := e.grow(now, id, first, items); err != nil {
		return err
	}
	return e.Seal(now, id)
}

func (e *Engine) grow(now time.Time, id crowd.BatchID, first uint32, items []Item) error {
	b, err := e.launched(id)
	if err != nil {
		return err
	}
	known := b.spec.Tasks
	if first < 1 || first > known+1 {
		return crowd.Fieldf("first", "%s has %d tasks: more begin with number %d at most, not %d", id, known, known+1, first)
	}
	if int64(first)+int64(len(items))-1 <= int64(known) {
		return nil // said twice
	}
	items = items[known+1-first:]
	if !b.spec.Open {
		return crowd.Errorf(crowd.Conflict, "%s takes no more tasks: it is sealed at %d", id, known)
	}
	if err := tooMany(int64(known)+int64(len(items)), &b.spec); err != nil {
		return err
	}
	reserve, err := b.reserveFor(known, known+uint32(len(items)))
	if err != nil {
		return err
	}
	if err := b.mayExclude(items); err != nil {
		return err
	}
	if err := b.hasClasses(items); err != nil {
		return err
	}
	answers, lessons := knownOf(known+1, items)
	if err := b.mayKnow(answers, lessons, known+1, known+uint32(len(items))); err != nil {
		return err
	}
	e.extend(now, b, uint32(len(items)), reserve, answers, lessons)
	for i := range items {
		b.backlog.except.add(known+1+uint32(i), items[i].NotBy)
	}
	if o := b.backlog.order; o != nil {
		for i, item := range items {
			if item.Known != "" {
				continue
			}
			o.add(now, known+1+uint32(i), now, item)
		}
	}
	e.touch(now, b, nil)
	e.mayServe(b)
	return nil
}

// knownOf lists the known answers of items, which are tasks from first on, and those of them that teach.
func knownOf(first uint32, items []Item) (known map[uint32]string, lessons []uint32) {
	for i := range items {
		if key := items[i].Known; key != "" {
			if known == nil {
				known = make(map[uint32]string)
			}
			known[first+uint32(i)] = key
		}
		if items[i].Lesson {
			lessons = append(lessons, first+uint32(i))
		}
	}
	return known, lessons
}

// extend gives a batch more tasks for everybody, of which some have known answers, and some of these teach,
// and reserves money for it.
func (e *Engine) extend(now time.Time, b *batch, tasks uint32, reserve crowd.Money, known map[uint32]string, lessons []uint32) {
	if b.waiting() == 0 {
		b.waitsFrom = now
	}
	b.spec.Tasks += tasks
	e.learnKnown(now, b, known, lessons)
	b.backlog.extend(b.spec.Tasks)
	more := (int(tasks) - len(known)) * b.fewest
	b.planned += more
	e.wanted(now, b, more)
	e.reserve(now, b, reserve)
}

// reserve adds to a batch's budget from its tenant's account.
func (e *Engine) reserve(now time.Time, b *batch, amount crowd.Money) {
	b.escrow += amount
	e.transfer(Transfer{At: now, Kind: Reserve, From: Account{TenantAccount, int64(b.spec.Tenant)}, To: Account{BatchAccount, int64(b.spec.ID)}, Amount: amount})
}

// reserveFor is what is to be reserved for more tasks of an open batch, and the checks that may
// go with them: for those after number from, up to number to.
func (b *batch) reserveFor(from, to uint32) (crowd.Money, error) {
	if b.spec.Budget > 0 {
		return 0, nil
	}
	cost, ok := b.spec.MostCost(from, to)
	if !ok || cost > crowd.MaxMoney-b.escrow {
		return 0, crowd.Fieldf("items", "%d more tasks of %s may cost too much (a batch holds at most %s)", to-from, b.spec.ID, crowd.MaxMoney)
	}
	return cost, nil
}

// Seal says that no more tasks come to an open batch: it ends when all have their
// labels, at once if they have. To say it twice is no error while the batch runs.
func (e *Engine) Seal(now time.Time, id crowd.BatchID) error {
	b, err := e.launched(id)
	if err != nil {
		return err
	}
	if !b.spec.Open {
		return nil
	}
	b.spec.Open, b.total = false, 0
	e.touch(now, b, nil)
	e.endIfDone(now, b)
	e.run(now)
	return nil
}

// endIfDone ends a batch all of whose tasks have their labels or were taken out,
// unless more may come. It does not wait for those who are learning.
func (e *Engine) endIfDone(now time.Time, b *batch) {
	if !b.spec.Open && b.open == b.learning() && b.untouched() == 0 {
		e.end(now, b, crowd.BatchDone)
	}
}
