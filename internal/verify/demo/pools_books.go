package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/wire"
)

// What the server says of the pools while people work and in the end: figures
// from second to second, and the books.

// readEvery is how often the pools are read: as often as they are sized.
const readEvery = time.Second

// watched sums up what was seen of a pool.
type watched struct {
	now        wire.PoolDetail
	looks      int
	size       float64 // summed over the looks
	known      int     // looks at which c* was known
	off        float64 // summed |size − c*|
	leastFunds crowd.Money
}

// sight is somebody seen on duty, by a request that was sent at from.
type sight struct {
	pool string
	from time.Time
}

// watch looks at the pools until quit is done.
func (s *poolScene) watch(quit context.Context) error {
	view := &screen{to: s.screen, live: s.live}
	defer view.end()
	for next := s.begun; load.Sleep(quit, time.Until(next)); next = next.Add(readEvery) {
		on := make(map[crowd.WorkerID]sight)
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
func (s *poolScene) look(ctx context.Context, p *livePool, on map[crowd.WorkerID]sight) error {
	d, err := s.Admin.PoolDetail(ctx, p.id)
	if err != nil {
		return err
	}
	if d.Metrics != nil && d.At.After(p.seen.now.At) {
		w := &p.seen
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
	p.seen.now = d
	from := time.Now()
	people, err := s.Admin.PoolPeople(ctx, p.id)
	if err != nil && strings.Contains(err.Error(), "is not the id of a worker") {
		s.blurred++ // a person who moved just then is in the list without their id
		return nil
	}
	if err != nil {
		return err
	}
	s.sees(p.name, from, people, on)
	return nil
}

// sees notes who is on duty in a pool that was asked at from.
func (s *poolScene) sees(pool string, from time.Time, people []wire.PoolPerson, on map[crowd.WorkerID]sight) {
	for _, x := range people {
		if !x.On {
			continue
		}
		s.sights++
		if other, ok := on[x.Worker]; ok && !x.Since.After(other.from) {
			s.twice = append(s.twice, fmt.Sprintf("%s in %s and %s", x.Name, other.pool, pool))
		}
		on[x.Worker] = sight{pool, from}
	}
}

// entry is one of a pool's ledger entries.
type entry struct {
	ID           int64       `json:"id"`
	Kind         string      `json:"kind"`
	From         string      `json:"from"`
	To           string      `json:"to"`
	AmountMicros crowd.Money `json:"amount_micros"`
}

// account reads all of a pool's ledger entries, newest first, and its balance.
func (s *poolScene) account(ctx context.Context, id crowd.PoolID) (balance crowd.Money, list []entry, err error) {
	const page = 1000
	for before := int64(0); ; {
		var out struct {
			BalanceMicros crowd.Money `json:"balance_micros"`
			Entries       []entry     `json:"entries"`
		}
		path := fmt.Sprintf("/v1/pools/%s/account?limit=%d", id, page)
		if before > 0 {
			path += "&before=" + strconv.FormatInt(before, 10)
		}
		if err := s.get(ctx, path, func(r io.Reader) error { return json.NewDecoder(r).Decode(&out) }); err != nil {
			return 0, nil, err
		}
		if before == 0 {
			balance = out.BalanceMicros
		}
		list = append(list, out.Entries...)
		if len(out.Entries) < page {
			return balance, list, nil
		}
		before = list[len(list)-1].ID
	}
}

// counted reads the server's metrics of the pools: for each name and pool.
func (s *poolScene) counted(ctx context.Context) (map[string]int, error) {
	out := make(map[string]int)
	err := s.get(ctx, "/metrics", func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			name, rest, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "throng_pool_"), "{")
			labels, value, ok2 := strings.Cut(rest, "} ")
			_, id, ok3 := strings.Cut(labels, `pool="`)
			id, _, ok4 := strings.Cut(id, `"`)
			if !ok || !ok2 || !ok3 || !ok4 || !strings.HasSuffix(name, "_total") || name == "actions_total" {
				continue
			}
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return fmt.Errorf("%q: %w", lines.Text(), err)
			}
			out[name+" "+id] = int(x)
		}
		return lines.Err()
	})
	return out, err
}

// get reads what package client has no method for.
func (s *poolScene) get(ctx context.Context, path string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Admin.URL+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.Admin.Token)
	resp, err := s.Admin.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return read(resp.Body)
}

// actions reads all of a pool's log, newest first.
func (s *poolScene) actions(ctx context.Context, id crowd.PoolID) ([]wire.PoolAction, error) {
	const page = 1000
	var all []wire.PoolAction
	for before := int64(0); ; {
		list, err := s.Admin.PoolActions(ctx, id, before, page)
		all = append(all, list...)
		if err != nil || len(list) < page {
			return all, err
		}
		before = list[len(list)-1].ID
	}
}
