package demo

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/pages"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/wire"
)

// What the server says of the pools while people work and in the end: figures
// from second to second, and the books.

// readEvery is how often the pools are read: as often as they are sized.
const readEvery = time.Second

// observed sums up what was seen of a pool.
type observed struct {
	now        wire.PoolDetail
	looks      int
	size       float64 // summed over the looks
	known      int     // looks at which c* was known
	off        float64 // summed |size − c*|
	leastFunds crowd.Money
}

// sighting is somebody seen on duty, by a request that was sent at from.
type sighting struct {
	pool string
	from time.Time
}

// watch looks at the pools until quit is done.
func (s *poolScene) watch(quit context.Context) error {
	view := &screen{to: s.Screen, live: s.Live}
	defer view.end()
	for next := s.begun; load.Sleep(quit, time.Until(next)); next = next.Add(readEvery) {
		on := make(map[crowd.WorkerID]sighting)
		for _, p := range s.pools {
			if err := s.look(quit, p, on); err != nil {
				if quit.Err() != nil {
					return nil
				}
				return fmt.Errorf("look at %s: %w", p.name, err)
			}
		}
		s.show(view)
	}
	return nil
}

// look takes a pool's figures in. Who was seen on duty in another pool, and is so
// here since before the other was asked, is on duty in two.
func (s *poolScene) look(ctx context.Context, p *livePool, on map[crowd.WorkerID]sighting) error {
	d, err := s.Admin.PoolDetail(ctx, p.id)
	if err != nil {
		return err
	}
	w := &p.seen
	if d.Metrics != nil && d.At.After(w.now.At) {
		if w.looks == 0 || d.Account.Funds < w.leastFunds {
			w.leastFunds = d.Account.Funds
		}
		w.looks++
		w.size += float64(d.Metrics.Workers)
		if c := d.Metrics.CStar; c != nil {
			w.known++
			w.off += max(float64(d.Metrics.Workers-*c), float64(*c-d.Metrics.Workers))
		}
	}
	w.now = d
	from := time.Now()
	people, err := s.Admin.PoolPeople(ctx, p.id)
	if err != nil && strings.Contains(err.Error(), "is not the id of a worker") {
		s.count(&s.crowd.Blurred) // a person who moved just then is in the list without their id
		return nil
	}
	s.note(p.name, from, people, on)
	return err
}

// note notes who is on duty in a pool that was asked at from.
func (s *poolScene) note(pool string, from time.Time, people []wire.PoolPerson, on map[crowd.WorkerID]sighting) {
	for _, x := range people {
		if !x.On {
			continue
		}
		s.onDuty++
		if other, ok := on[x.Worker]; ok && !x.Since.After(other.from) {
			s.twice = append(s.twice, fmt.Sprintf("%s in %s and %s", x.Name, other.pool, pool))
		}
		on[x.Worker] = sighting{pool, from}
	}
}

// show shows how the pools are while people work.
func (s *poolScene) show(v *screen) {
	seconds := time.Since(s.begun).Seconds()
	rows, parts := []string{
		fmt.Sprintf("%5.1f s  %d people  %s", seconds, len(s.people), s.URL),
		fmt.Sprintf("%-10s %5s %5s %5s %5s %6s %8s  ", "pool", "size", "c*", "queue", "idle", "coming", "cost/h"),
	}, []string{}
	for _, p := range s.pools {
		m := p.seen.now.Metrics
		if m == nil {
			rows, parts = append(rows, fmt.Sprintf("%-10s %5s", p.name, "-")), append(parts, p.name+" not read yet")
			continue
		}
		best := number(m.CStar, "%d", "?")
		rows = append(rows, fmt.Sprintf("%-10s %5d %5s %5d %5d %6d %8.2f  %s", p.name, m.Workers, best, m.Queue, m.Idle, m.Coming, m.CostPerHour, bar(m.Busy, max(m.Busy, m.Workers))))
		parts = append(parts, fmt.Sprintf("%s %d of c* %s, queue %d, %d idle, %d coming, %.2f/h", p.name, m.Workers, best, m.Queue, m.Idle, m.Coming, m.CostPerHour))
	}
	v.show(rows, fmt.Sprintf("%.0f s: %s", seconds, strings.Join(parts, "; ")))
}

// page is how much of a list is read at a time.
const page = 1000

// entries reads all of a pool's ledger entries, newest first, and its balance.
func (s *poolScene) entries(ctx context.Context, id crowd.PoolID) (balance crowd.Money, list []wire.Entry, err error) {
	list, err = pages.List(page, func(before int64, limit int) ([]wire.Entry, error) {
		a, err := s.Admin.PoolAccount(ctx, id, before, limit)
		balance = a.BalanceMicros
		return a.Entries, err
	}, func(e *wire.Entry) int64 { return e.ID })
	return balance, list, err
}

// actions reads all of a pool's log, newest first, but for the transfers to it, which
// stand in the log of the pool that lends, too.
func (s *poolScene) actions(ctx context.Context, id crowd.PoolID) ([]wire.PoolAction, error) {
	log, err := pages.List(page, func(before int64, limit int) ([]wire.PoolAction, error) {
		return s.Admin.PoolActions(ctx, id, before, limit)
	}, func(a *wire.PoolAction) int64 { return a.ID })
	return slices.DeleteFunc(log, func(a wire.PoolAction) bool { return a.To == id }), err
}

var poolMetric = regexp.MustCompile(`(?m)^throng_pool_(\w+)_total\{name="[^"]*",pool="(\w+)"\} (\S+)$`)

// metrics reads what the server has counted, by "name pool".
func (s *poolScene) metrics(ctx context.Context) (map[string]int, error) {
	var text bytes.Buffer
	if err := s.Admin.Metrics(ctx, &text); err != nil {
		return nil, err
	}
	out := make(map[string]int)
	for _, m := range poolMetric.FindAllStringSubmatch(text.String(), -1) {
		x, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", m[0], err)
		}
		out[m[1]+" "+m[2]] = int(x)
	}
	return out, nil
}
