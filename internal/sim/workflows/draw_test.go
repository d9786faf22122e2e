package workflows

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// plan is a random workflow whose outcome can be said without running it: people
// always answer the truth, which is the column known, and the service doubles.
type plan struct {
	text  strings.Builder
	steps []planned
	items int
	kinds map[string]int // of steps, and how often
	url   string

	declared []store.Service // that its steps name
}

// planned is an input or a step, and what becomes of each item at it. An item is
// its input's number and, behind points, which one of several it was made into.
type planned struct {
	name   string
	state  map[string]store.RowState
	part   map[string]int // the column part, as the last query set it
	base   int            // whose columns id, known and part it has
	family int            // where its items were made
	makers string         // steps on the way that make several items of one
	checks string         // "crowd", "service": what its own first column is
	came   []int          // the steps from which items come to it one by one
	split  []string       // items of which it makes several
}

func known(item int) string { return []string{"yes", "no"}[item%2] }

func numberOf(key string) int {
	n, _, _ := strings.Cut(key, ".")
	i, _ := strconv.Atoi(n)
	return i
}

// draw draws a plan of n steps.
func draw(random *rand.Rand, n, items int, url string) *plan {
	p := &plan{items: items, kinds: make(map[string]int), url: url}
	fmt.Fprintf(&p.text, "workflow: drawn\ninputs: {items: {columns: [{id: number}, known, {part: number}]}}\nsla: {classes: {odd: {when: known == 'no', penalty: linear, after: 1m, every: 1m, cost: 0.10}, even: {penalty: staged, after: 2m, every: 1m, cost: 0.30}}}\nsteps:\n")
	in := planned{name: "items", state: make(map[string]store.RowState), part: make(map[string]int)}
	for i := range items {
		in.state[strconv.Itoa(i+1)] = store.RowOK
	}
	for k := range in.state {
		in.part[k] = 0
	}
	p.steps = append(p.steps, in)
	for i := 1; i <= n; i++ {
		s := planned{name: "s" + strconv.Itoa(i)}
		from := []int{random.IntN(i)}
		if i == 1 {
			from[0] = 0
		}
		other := random.IntN(i)
		switch random.IntN(6) {
		case 0:
			p.allRows(&s, i, from[0])
		case 1, 2:
			p.rowByRow(random, &s, from[0], other)
		default:
			if other != from[0] && p.meet(from[0], other) && p.steps[from[0]].base == p.steps[other].base {
				from = append(from, other)
			}
			p.byItem(random, &s, from)
		}
		p.steps = append(p.steps, s)
	}
	if odd, even := p.ends(); odd+even == 0 { // no item goes one by one, so there are no classes
		text := regexp.MustCompile("(?m)^sla: .*$").ReplaceAllString(p.text.String(), "")
		p.text.Reset()
		p.text.WriteString(text)
	}
	return p
}

// meet reports whether all items of two steps come to both.
func (p *plan) meet(i, j int) bool {
	x, y := &p.steps[i], &p.steps[j]
	return i != j && x.family == y.family && x.makers == y.makers
}

func (p *plan) begin(s *planned, from map[int]string) {
	fmt.Fprintf(&p.text, "  %s:\n    from: {", s.name)
	for k, f := range slices.Sorted(maps.Keys(from)) {
		if k > 0 {
			p.text.WriteString(", ")
		}
		fmt.Fprintf(&p.text, "%s: %s", p.steps[f].name, from[f])
	}
	p.text.WriteString("}\n")
}

// arrives is what an item brings to a step.
func (p *plan) arrives(key string, from []int, all bool) store.RowState {
	ok := 0
	for _, f := range from {
		switch p.steps[f].state[key] {
		case store.RowFailed:
			return store.RowFailed
		case store.RowOK:
			ok++
		}
	}
	if ok == len(from) || ok > 0 && !all {
		return store.RowOK
	}
	return store.RowSkipped
}

// byItem draws a step of people or a service.
func (p *plan) byItem(random *rand.Rand, s *planned, from []int) {
	edges := make(map[int]string)
	for _, f := range from {
		edges[f] = []string{"stream", "batch"}[random.IntN(2)]
	}
	p.begin(s, edges)
	first := &p.steps[from[0]]
	s.base, s.family, s.makers, s.part, s.state = first.base, first.family, first.makers, first.part, make(map[string]store.RowState)
	s.came = from
	all := len(from) > 1 && random.IntN(2) == 0
	if all {
		p.text.WriteString("    join: all\n")
		p.kinds["join all"]++
	}
	if len(from) > 1 {
		p.kinds["join"]++
	}
	least := 0
	if random.IntN(4) == 0 {
		least = random.IntN(2) * p.items / 2
		fmt.Fprintf(&p.text, "    when: id > %d\n", least)
	}
	strict := false
	if random.IntN(3) == 0 {
		strict = random.IntN(2) == 0
		path := s.name
		if strict {
			path += "/strict"
		}
		where := fmt.Sprintf("url: %q, concurrency: %d", p.url+"/"+path, 1+random.IntN(4))
		if len(p.steps)%2 == 0 {
			where = "name: doubler, path: " + path
			p.declared = []store.Service{{Name: "doubler", URL: p.url, Concurrency: 2, Rate: crowd.Rate{Calls: 120, Per: time.Minute}, AllTenants: true}}
			p.kinds["declared"]++
		}
		fmt.Fprintf(&p.text, "    service: {%s, send: [id], timeout: 5s, tries: 3, backoff: 100ms, response: {type: object, required: [d_%s], properties: {d_%s: {type: number}}}}\n    on_error: %s\n",
			where, s.name, s.name, []string{"hold", "drop"}[random.IntN(2)])
		s.checks = "service"
	} else {
		fmt.Fprintf(&p.text, "    crowd:\n      template: {kind: choose_one, question: \"Which?\", options: [\"yes\", \"no\"], show: [id]}\n      redundancy: {count: %d}\n      reward: 0.01\n      truth: known\n      simulate: {accuracy: 1, time: %ds, spread: 0.5}\n",
			1+random.IntN(3), 5+random.IntN(30))
		s.checks = "crowd"
	}
	p.kinds[s.checks]++
	for key := range first.state {
		state := p.arrives(key, from, all)
		if state == store.RowOK && numberOf(key) <= least {
			state = store.RowSkipped
		}
		if state == store.RowOK && strict && numberOf(key)%5 == 3 {
			state = store.RowFailed
		}
		s.state[key] = state
	}
}

// allRows draws a query over all rows, whose rows are new items.
func (p *plan) allRows(s *planned, self, from int) {
	p.begin(s, map[int]string{from: "batch"})
	src := &p.steps[from]
	p.query(fmt.Sprintf("select id, known, part from %s where id > %d order by id, part", src.name, p.items/4))
	p.kinds["all rows"]++
	s.base, s.family, s.state, s.part = self, self, make(map[string]store.RowState), make(map[string]int)
	for key, state := range src.state {
		if state == store.RowOK && numberOf(key) > p.items/4 {
			s.state[key], s.part[key] = store.RowOK, src.part[key]
		}
	}
}

func (p *plan) query(text string) {
	fmt.Fprintf(&p.text, "    sql: \"%s\"\n    columns: {id: number, part: number}\n", text)
}

// rowByRow draws a query that takes each item by itself: with one or several rows
// or none for it, with a table to look into, or of two sources.
func (p *plan) rowByRow(random *rand.Rand, s *planned, from, other int) {
	src := &p.steps[from]
	s.base, s.family, s.makers, s.state, s.part = len(p.steps), src.family, src.makers, make(map[string]store.RowState), make(map[string]int)
	gives := func(key string) int { return 1 }
	came, wrong := []int{from}, false
	switch kind := random.IntN(4); {
	case kind == 0 && p.meet(from, other) && src.base == p.steps[other].base:
		p.begin(s, map[int]string{from: "stream", other: "stream"})
		came = append(came, other)
		join := "join"
		gives = func(key string) int {
			if p.steps[other].state[key] == store.RowOK && src.state[key] == store.RowOK {
				return 1
			}
			return 0
		}
		if random.IntN(2) == 0 {
			join = "left join"
			gives = func(key string) int {
				if src.state[key] == store.RowOK {
					return 1
				}
				return 0
			}
		}
		p.query(fmt.Sprintf("select %s.id, %s.known, %s.part from %s %s %s on true", src.name, src.name, src.name, src.name, join, p.steps[other].name))
		p.kinds["two sources"]++
	case kind == 1 && other != from:
		p.begin(s, map[int]string{from: "stream", other: "batch"})
		there := make(map[int]bool)
		for key, state := range p.steps[other].state {
			there[numberOf(key)] = there[numberOf(key)] || state == store.RowOK
		}
		gives = func(key string) int {
			if there[numberOf(key)] {
				return 1
			}
			return 0
		}
		p.query(fmt.Sprintf("select id, known, part from %s where exists (select 1 from %s as o where o.id = %s.id)", src.name, p.steps[other].name, src.name))
		p.kinds["lookup"]++
	case kind == 2:
		p.begin(s, map[int]string{from: "stream"})
		gives = func(key string) int { return numberOf(key) % 4 }
		s.makers += s.name + " "
		p.query(strings.ReplaceAll("select X.id, known, part * 4 + value as part from X, json_each(case X.id % 4 when 0 then '[]' when 1 then '[1]' when 2 then '[1,2]' else '[1,2,3]' end)", "X", src.name))
		p.kinds["few rows"]++
	default:
		p.begin(s, map[int]string{from: "stream"})
		if random.IntN(2) == 0 {
			p.query(fmt.Sprintf("select id, known, part from %s", src.name))
			p.kinds["one row"]++
			break
		}
		wrong = true
		p.query(fmt.Sprintf("select id, known, case when id %% 6 = 5 then abs(-9223372036854775807 - 1) else part end as part from %s", src.name))
		fmt.Fprintf(&p.text, "    on_error: %s\n", []string{"hold", "drop"}[random.IntN(2)])
		p.kinds["wrong"]++
	}
	s.came = came
	for key := range src.state {
		s.state[key] = p.arrives(key, came, false)
		if s.state[key] != store.RowOK {
			continue
		}
		part := src.part[key]
		many := strings.HasSuffix(s.makers, s.name+" ")
		switch n := gives(key); {
		case wrong && numberOf(key)%6 == 5:
			s.state[key] = store.RowFailed
		case n == 1 && many:
			s.part[key] = part*4 + 1
		case n == 1:
			s.part[key] = part
		default:
			s.state[key] = store.RowSkipped
			if n > 1 {
				s.split = append(s.split, key)
			}
			for i := range n {
				made := fmt.Sprint(key, ".", s.name, ".", i+1)
				s.state[made], s.part[made] = store.RowOK, part*4+i+1
			}
		}
	}
}

// ends is how many items come to the end of their way, the odd ones and the even ones: those of
// families that steps hand on. One of which several were made ends itself only where a last
// step has it in another way than as skipped.
func (p *plan) ends() (odd, even int64) {
	keys := make(map[int]map[string]bool)
	handedOn := make(map[int]bool)
	for i, s := range p.steps {
		if i > 0 && s.family != i {
			if keys[s.family] == nil {
				keys[s.family] = make(map[string]bool)
			}
			for key := range s.state {
				keys[s.family][key] = true
			}
		}
		for _, from := range s.came {
			handedOn[from] = true
		}
	}
	for _, s := range p.steps {
		for _, key := range s.split {
			delete(keys[s.family], key)
		}
	}
	for i, s := range p.steps {
		if list := keys[s.family]; list != nil && i > 0 && s.family != i && !handedOn[i] {
			for key, state := range s.state {
				if state != store.RowSkipped {
					list[key] = true
				}
			}
		}
	}
	for _, list := range keys {
		for key := range list {
			if numberOf(key)%2 == 1 {
				odd++
			} else {
				even++
			}
		}
	}
	return odd, even
}

// check compares what came of a run with the plan.
func (p *plan) check(t *testing.T, w *World) {
	t.Helper()
	v, err := w.Orchestrator.View(t.Context(), 0, w.Run)
	if err != nil {
		t.Fatal(err)
	}
	if v.State != store.RunDone {
		t.Errorf("the run is %s", v.State)
	}
	odd, even := p.ends()
	classes := append(v.Classes, make([]orchestrator.ClassView, 2)...) // there are none where no item ends
	if v.Ended != odd+even || classes[0].Ended != odd || classes[1].Ended != even || classes[0].Penalty+classes[1].Penalty != v.Penalty {
		t.Errorf("%d items have ended for %s, of the classes %+v, want %d and %d\n%s", v.Ended, v.Penalty, v.Classes, odd, even, p.text.String())
	}
	for i, s := range p.steps {
		res, err := w.Orchestrator.Results(t.Context(), 0, w.Run, s.name)
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]int)
		for key, state := range s.state {
			if state == store.RowOK {
				want[fmt.Sprint(numberOf(key), "/", s.part[key])]++
			} else {
				want[string(state)]++
			}
		}
		if got := p.got(t, &s, res); !maps.Equal(got, want) {
			t.Errorf("step %d has %v, want %v\n%s", i, got, want, p.text.String())
		}
	}
}

// got counts the rows of a step: by id and part, or by state if it is not ok.
func (p *plan) got(t *testing.T, s *planned, res *orchestrator.Results) map[string]int {
	t.Helper()
	at := make(map[string]int)
	for i, c := range res.Columns {
		at[c.Name] = i
	}
	got := make(map[string]int)
	for row, err := range res.Rows {
		if err != nil {
			t.Fatal(err)
		}
		if row.State != store.RowOK {
			got[string(row.State)]++
			continue
		}
		id := row.Cells[at["id"]]
		n, _ := strconv.Atoi(id)
		switch s.checks {
		case "crowd":
			if row.Cells[at[s.name]] != known(n) {
				t.Errorf("item %d has %q at %s", row.Item, row.Cells, s.name)
			}
		case "service":
			if row.Cells[at["d_"+s.name]] != strconv.Itoa(2*n) {
				t.Errorf("item %d has %q at %s", row.Item, row.Cells, s.name)
			}
		}
		got[id+"/"+row.Cells[at["part"]]]++
	}
	return got
}

// newDoubler starts a service that doubles the field id. It fails on the first
// try of a third of the calls, and under /strict refuses some ids for good.
func newDoubler(t *testing.T, seed uint64) string {
	var mu sync.Mutex
	seen := make(map[string]bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		step, strict := strings.CutSuffix(strings.Trim(r.URL.Path, "/"), "/strict")
		var in struct{ ID float64 }
		raw, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(raw, &in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		key := r.Header.Get("Idempotency-Key")
		h := fnv.New64a()
		fmt.Fprint(h, key, seed)
		mu.Lock()
		first := !seen[key]
		seen[key] = true
		mu.Unlock()
		switch {
		case strict && int(in.ID)%5 == 3:
			http.Error(w, "not this one", http.StatusUnprocessableEntity)
		case first && h.Sum64()%3 == 0:
			http.Error(w, "not now", http.StatusServiceUnavailable)
		default:
			fmt.Fprintf(w, `{"d_%s": %g}`, step, 2*in.ID)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}
