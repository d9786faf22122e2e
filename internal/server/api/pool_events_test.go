package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

// follow follows the events of the pool, from where the headers Last-Event-ID say, if there are
// any; next returns a message and its bytes.
func (w *world) follow(query string, last ...uint64) (next func() (e wire.PoolEvents, bytes int), leave func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.ctx)
	req := must(http.NewRequestWithContext(ctx, http.MethodGet, w.admin.URL+"/v1/pools/p1/events"+query, nil))(w.t)
	req.Header.Set("Authorization", "Bearer "+w.admin.Token)
	for _, n := range last {
		req.Header.Set("Last-Event-ID", strconv.FormatUint(n, 10))
	}
	resp := must(w.admin.HTTP.Do(req))(w.t)
	if resp.StatusCode != http.StatusOK {
		w.t.Fatalf("answered %d", resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 256<<20)
	return func() (e wire.PoolEvents, bytes int) {
		id := ""
		for lines.Scan() {
			if n, is := strings.CutPrefix(lines.Text(), "id: "); is {
				id = n
			}
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				ok(w.t, json.Unmarshal([]byte(data), &e))
				if id != fmt.Sprint(e.Last) || e.Events == nil || len(e.Events) > 0 && e.Events[len(e.Events)-1].N != e.Last {
					w.t.Errorf("id %s, last %d of %+v", id, e.Last, e.Events)
				}
				return e, len(data)
			}
		}
		w.t.Fatal("the stream has ended")
		return e, 0
	}, func() { cancel(); resp.Body.Close() }
}

// TestEventsOfAPool: the five events can be followed, and taken up where a stream broke off.
func TestEventsOfAPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	next, leave := w.follow("")
	t.Cleanup(func() { leave() })
	w.launch("thing\ncat\n")
	var all []wire.PoolEvent
	collect := func(kind int) {
		t.Helper()
		for len(all) == 0 || all[len(all)-1].Event != kind {
			e, _ := next()
			if all = append(all, e.Events...); e.Missed > 0 {
				t.Errorf("missed %d", e.Missed)
			}
		}
	}
	hand, _, err := w.workers[0].Next(w.ctx, 0)
	ok(t, err)
	collect(1)
	seen := all[len(all)-1]
	if seen.Consumer != "assign()" || seen.Worker == nil || seen.Name != "ready_to_work" {
		t.Errorf("event 1 is %+v", seen)
	}
	leave()
	must3(w.workers[0].Submit(w.ctx, hand.Assignment, yes, false, 0))(t)
	for _, x := range []struct {
		query string
		last  []uint64
	}{ // what came while nobody followed
		{fmt.Sprint("?after=", seen.N), nil},
		{"", []uint64{seen.N}},                              // as browsers come back
		{fmt.Sprint("?after=", seen.N-1), []uint64{seen.N}}, // with the address with which they came first
	} {
		next, leave = w.follow(x.query, x.last...)
		e, _ := next()
		if len(e.Events) < 2 || e.Missed != 0 || e.Events[0].N != seen.N+1 || e.Events[0].Event != 2 || e.Events[1].Event != 3 || *e.Events[0].Task != hand.Task {
			t.Errorf("after %d, by %q and %d: %+v", seen.N, x.query, x.last, e)
		}
		leave()
	}
	next, leave = w.follow("?after=0") // from the first that is kept
	if e, _ := next(); e.Events[0].N != all[0].N || e.Restarted || e.Missed != 0 {
		t.Errorf("after 0: %+v, first of all %+v", e, all[0])
	}
	leave()
}

// TestKindsOfEventsAreDocumented: docs/api.md has a row for each kind of event, with its name and
// the fields that it has apart from those of all.
func TestKindsOfEventsAreDocumented(t *testing.T) {
	t.Parallel()
	_, page, _ := strings.Cut(string(must(os.ReadFile("../../../docs/api.md"))(t)), "\n### Events of a pool\n")
	page, _, _ = strings.Cut(page, "\n#")
	fields, consumers := map[int][]string{}, map[int]string{}
	quoted := regexp.MustCompile("`([a-z_]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| ([0-9]+) \\| `([a-z_]+)` \\| [^|]+ \\| `([a-z_]+\\(\\))`[^|]* \\| (.+) \\|$").FindAllStringSubmatch(page, -1) {
		kind := must(strconv.Atoi(row[1]))(t)
		if kind < 1 || kind > int(engine.RemoveTask) || engine.EventKind(kind).String() != row[2] || consumers[kind] != "" {
			t.Fatalf("docs/api.md has %s", row[0])
		}
		consumers[kind] = row[3]
		for _, f := range quoted.FindAllStringSubmatch(row[4], -1) {
			fields[kind] = append(fields[kind], f[1])
		}
	}
	w := newWorld(t)
	next, leave := w.follow("")
	t.Cleanup(leave)
	def := definition()
	def.Redundancy = ptr(label.Agree(2, 3))
	def.Template = wire.Template(`{"kind": "short_text", "question": "Say ${thing}"}`)
	b := must(w.ann.CreateBatch(w.ctx, def))(t)
	must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\ncat\n"), "", false))(t)
	must(w.ann.Launch(w.ctx, b.ID, false))(t)
	for i, c := range append(w.workers, w.person(wire.NewUser{Name: "worker3", Pool: 1})) {
		answer := must(json.Marshal(map[string]string{"label": strings.Repeat(strconv.Itoa(i%2), 300)}))(t)
		must3(c.Submit(w.ctx, w.next(c).Assignment, answer, false, 0))(t)
	}
	for seen := map[int]bool{}; len(seen) < int(engine.RemoveTask); {
		e, _ := next()
		for _, x := range e.Events {
			var has map[string]any
			ok(t, json.Unmarshal(must(json.Marshal(x))(t), &has))
			for _, name := range []string{"n", "event", "name", "at", "consumer"} {
				if delete(has, name); !strings.Contains(page, "`"+name+"`") {
					t.Errorf("docs/api.md has no field %s", name)
				}
			}
			seen[x.Event] = true
			if got := slices.Sorted(maps.Keys(has)); !slices.Equal(got, slices.Sorted(slices.Values(fields[x.Event]))) || x.Consumer != "" && x.Consumer != consumers[x.Event] {
				t.Errorf("event %d, %s, consumed by %s, has %q; docs/api.md has %q, by %s", x.Event, x.Name, x.Consumer, got, fields[x.Event], consumers[x.Event])
			}
		}
	}
}

// TestMissedEventsAreToldAtOnce: who comes with a number after which nothing is kept need not
// wait for the next event to be told so.
func TestMissedEventsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.launch("thing\ncat\n")
	w.next(w.workers[0]) // nobody follows
	next, leave := w.follow("?after=1")
	t.Cleanup(func() { leave() })
	e, _ := next()
	if len(e.Events) > 0 || !e.Restarted || e.Missed != 1 {
		t.Errorf("from before the start: %+v", e)
	}
	leave()
	next, leave = w.follow(fmt.Sprint("?after=", e.Last-1))
	if x, _ := next(); len(x.Events) > 0 || x.Restarted || x.Missed != 1 || x.Last != e.Last {
		t.Errorf("from the one before the last: %+v", x)
	}
}

// TestEventsOfAPoolAreBounded: whoever asks for all that is kept of long answers gets it in
// messages of less than 1 MiB, each event with the beginning of its label, and misses nothing.
func TestEventsOfAPoolAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, leave := w.follow("")
	t.Cleanup(leave)
	const tasks = 330
	def := definition()
	def.Template = wire.Template(`{"kind": "short_text", "question": "Say ${thing}"}`)
	b := must(w.ann.CreateBatch(w.ctx, def))(t)
	must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\n"+strings.Repeat("cat\n", tasks)), "", false))(t)
	must(w.ann.Launch(w.ctx, b.ID, false))(t)
	long := strings.Repeat("<", 9_000)
	answer := must(json.Marshal(map[string]string{"label": long}))(t)
	for work := w.next(w.workers[0]); work != nil; {
		var err error
		_, work, err = w.workers[0].Submit(w.ctx, work.Assignment, answer, true, 0)
		ok(t, err)
	}
	next, leave := w.follow("?after=1")
	t.Cleanup(leave)
	messages, labels := 0, 0
	for last := uint64(0); labels < tasks; messages++ {
		e, bytes := next()
		if bytes > 1<<20 {
			t.Errorf("a message of %d bytes", bytes)
		}
		for _, x := range e.Events {
			if last > 0 && x.N != last+1 {
				t.Errorf("event %d comes after %d", x.N, last)
			}
			if last = x.N; x.Event != 5 {
				continue
			}
			labels++
			if !x.Clipped || len(x.Label) > 1_000 || !strings.HasPrefix(long, strings.TrimSuffix(x.Label, "…")) {
				t.Fatalf("the label is told as %+v", x)
			}
		}
	}
	if messages < 3 {
		t.Errorf("%d labels came in %d messages", labels, messages)
	}
}
