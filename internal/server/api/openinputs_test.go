package api_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// TestRowsOfOpenInputs: an input that is open by its workflow or for one run gets rows over
// the API until it is sealed; a bad row keeps the others out, and names its line.
func TestRowsOfOpenInputs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		text := "workflow: w\ninputs: {things: {columns: [{id: number}]}, more: {open: true, columns: [id]}}\nsteps:\n  count: {from: [things, more], sql: select count(*) as n from things union all select count(*) from more}\n"
		run := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: text, Open: []string{"things"}}))(t)
		if len(run.Needs) != 0 || !run.Nodes[0].Open || !run.Nodes[1].Open {
			t.Errorf("the run is %+v", run)
		}
		add := func(input, rows, feed string, after int64) (wire.AddedRows, error) {
			return w.ann.AddRows(w.ctx, run.ID, client.NewRows{Input: input, Feed: feed, After: after}, strings.NewReader(rows))
		}
		_, err := add("things", "id\n1\n", "", 0)
		refused(t, err, crowd.Conflict)
		must(w.ann.MoveRun(w.ctx, run.ID, "start"))(t)
		_, err = add("things", "id\n1\nx\n\"\n", "f", 0)
		refused(t, err, crowd.Invalid)
		var lines []int
		for _, e := range crowd.ErrorsOf(err) {
			lines = append(lines, e.Row)
		}
		if !slices.Equal(lines, []int{3, 4}) {
			t.Errorf("the bad lines are %v of %v", lines, err)
		}
		if got := must(add("things", "id\n1\n2\n", "f", 0))(t); got != (wire.AddedRows{Input: "things", Added: 2, Feed: 2, Delimiter: ","}) {
			t.Errorf("added: %+v", got)
		}
		if got := must(add("things", "{\"id\": 2}\n{\"id\": 3}\n", "f", 1))(t); got != (wire.AddedRows{Input: "things", Added: 1, Known: 1, Feed: 3}) {
			t.Errorf("added: %+v", got)
		}
		_, err = add("things", "id\n9\n", "f", 7)
		refused(t, err, crowd.Conflict)
		if got := must(w.ann.FeedRows(w.ctx, run.ID, "things", "f"))(t); got != (wire.Feed{Input: "things", Feed: "f", Rows: 3}) {
			t.Errorf("the feed is %+v", got)
		}
		_, err = w.ann.FeedRows(w.ctx, run.ID, "things", "")
		refused(t, err, crowd.Invalid)
		_, err = w.bob.AddRows(w.ctx, run.ID, client.NewRows{Input: "things"}, strings.NewReader("id\n1\n"))
		refused(t, err, crowd.NotFound)
		for query, field := range map[string]string{"?after=0": "feed", "?feed=&after=0": "feed", "?feed=": "feed", "?feed=f&after=": "after", "?feed=f&after=3&after=": "after"} {
			a := w.send(w.ann, "POST", "/v1/runs/"+run.ID.String()+"/inputs/things/rows"+query, "id\n1\n", "Content-Type", "text/csv")
			if p := a.problem(t); p.Status != 422 || len(p.Errors) != 1 || p.Errors[0].Field != field {
				t.Errorf("rows with %s: %+v", query, p)
			}
		}
		if got := must(w.ann.FeedRows(w.ctx, run.ID, "things", "f"))(t); got.Rows != 3 {
			t.Errorf("after what was refused the feed is %+v", got)
		}
		sealed := must(w.ann.SealInput(w.ctx, run.ID, "things"))(t)
		if sealed.Nodes[0].Open || !sealed.Nodes[1].Open || sealed.Ended() {
			t.Errorf("with one input sealed: %+v", sealed)
		}
		_, err = add("things", "id\n4\n", "", 0)
		refused(t, err, crowd.Conflict)
		must(w.ann.MoveRun(w.ctx, run.ID, "seal"))(t)
		synctest.Wait()
		var rows strings.Builder
		ok(t, w.ann.RunOutput(w.ctx, run.ID, "count", &rows, client.TableForm{}))
		if now := must(w.ann.Run(w.ctx, run.ID))(t); now.State != "done" || rows.String() != "n\n3\n0\n" {
			t.Errorf("the run is %s, its rows are %q", now.State, rows.String())
		}
	})
}
