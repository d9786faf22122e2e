package orchestrator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// TestManyStepsBesideEachOther has all items go through many steps, each of which passes
// over them. What is read is in proportion to the rows that are made, though an end or a
// join is where an item has come to all of the steps; and no pass reads more than is good
// for other runs.
func TestManyStepsBesideEachOther(t *testing.T) {
	const steps, n = 60, 200
	const perItem = "sla: {per: item, penalty: constant, after: 1m, cost: 1}\n"
	for name, c := range map[string]struct {
		head, first, from, last string
		ended                   int64
	}{
		"ends": {head: perItem, from: "items", ended: n},
		"ends of made items": {head: perItem, from: "parts", ended: 2 * n, // and not those that they were made of
			first: "  parts: {from: {items: stream}, sql: \"select items.id as id, value as part from items, json_each('[1,2]')\"}\n"},
		"a join": {from: "items", last: "  last: {from: {ALL}, " + choose + "}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var all []string
			text := "workflow: wide\n" + c.head + "inputs: {items: {columns: [id]}}\nsteps:\n" + c.first
			for i := range steps {
				text += fmt.Sprintf("  s%d: {from: {%s: stream}, when: id == \"no\", %s}\n", i, c.from, choose)
				all = append(all, fmt.Sprintf("s%d: stream", i))
			}
			file := "id\n"
			for i := range n {
				file += fmt.Sprintln(i)
			}
			id := w.start(text+strings.ReplaceAll(c.last, "ALL", strings.Join(all, ", ")), file)
			w.now = w.now.Add(2 * time.Minute)
			read := 0
			for w.view(id).State == store.RunRunning {
				w.store.rows = 0
				w.o.Step(w.ctx)
				if w.store.rows > 20_000 {
					t.Errorf("one pass has read %d rows", w.store.rows)
				}
				read += w.store.rows
			}
			v, made := w.view(id), int64(0)
			for _, x := range v.Nodes {
				made += x.Last
			}
			if int64(read) > 6*made {
				t.Errorf("%d rows were read for %d that were made", read, made)
			}
			if v.Ended != c.ended || v.Penalty != crowd.Money(c.ended)*crowd.Unit {
				t.Errorf("%d items have ended for %s, want %d", v.Ended, v.Penalty, c.ended)
			}
		})
	}
}
