package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
)

// notes are the errors of an upload that is refused: the lines, and those that were first.
func notes(t *testing.T, a answer) string {
	t.Helper()
	var out []string
	for _, e := range a.problem(t).Errors {
		out = append(out, fmt.Sprintf("%d=%d %s", e.Line, e.SameAs, e.Message))
	}
	return strings.Join(out, "; ")
}

func TestTasksThatAreThereTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const file = "thing,n\na dog,1\na cat,1\na dog,1\na dog,2\n"
	b := must(w.ann.CreateBatch(w.ctx, definition()))(t)
	path := "/v1/batches/" + b.ID.String() + "/tasks"
	for query, want := range map[string]string{
		"":                                       `"tasks":4,"bad":0,"dropped":0`,
		"?duplicates=keep":                       `"tasks":4,"bad":0,"dropped":0`,
		"?duplicates=drop":                       `"tasks":3,"bad":0,"dropped":1`,
		"?duplicates=drop&key=n":                 `"tasks":2,"bad":0,"dropped":2`,
		"?duplicates=drop&key=none":              `"field":"key"`,
		"?key=n":                                 `"field":"key"`,
		"?duplicates=once":                       `duplicates`,
		"?duplicates=refuse&key=n&skip_bad=true": `"tasks":2,"bad":2,"dropped":0`,
	} {
		if a := w.send(w.ann, http.MethodPut, path+query, file); !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %s", query, a.shown())
		}
	}
	if got := notes(t, w.send(w.ann, http.MethodPut, path+"?duplicates=refuse", file)); got != "4=2 the row is the same as line 2" {
		t.Errorf("refused: %s", got)
	}
	if got := notes(t, w.send(w.ann, http.MethodPut, path+"?duplicates=refuse&key=thing", file)); got != "4=2 is what line 2 has, too; 5=2 is what line 2 has, too" {
		t.Errorf("refused by a column: %s", got)
	}
	must(w.ann.UploadTable(w.ctx, b.ID, strings.NewReader(file), client.Table{Duplicates: table.Duplicates{Do: table.Drop}}))(t)
	must(w.ann.Launch(w.ctx, b.ID, false))(t)
	added := must(w.ann.AddTasks(w.ctx, b.ID, strings.NewReader(file), client.Addition{Table: client.Table{Duplicates: table.Duplicates{Do: table.Drop, Key: "thing"}}, AddBudget: true}))(t)
	if now := must(w.ann.Batch(w.ctx, b.ID))(t); added.Tasks != 2 || added.Dropped != 2 || now.Tasks != 5 {
		t.Errorf("added %+v, the batch has %d tasks", added, now.Tasks)
	}
}

func TestRowsThatAreThereTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		run := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow, Open: []string{"things"}}))(t).ID
		load := "/v1/runs/" + run.String() + "/inputs/things"
		const file = "id,thing\n1,a dog\n2,a cat\n1,a dog\nx,bad\n2,a cow\n"
		a := w.send(w.ann, http.MethodPut, load+"?duplicates=refuse&key=id", file)
		if got := notes(t, a); a.StatusCode != 422 || got != "4=2 is what line 2 has, too; 6=3 is what line 3 has, too" {
			t.Errorf("refused: %s", a.shown())
		}
		loaded := must(w.ann.LoadTable(w.ctx, run, "things", strings.NewReader(file), client.Table{Duplicates: table.Duplicates{Do: table.Drop}}))(t)
		if loaded.Rows != 4 || loaded.Dropped != 1 || loaded.Bad != 1 {
			t.Errorf("loaded: %+v", loaded)
		}
		must(w.ann.MoveRun(w.ctx, run, "start"))(t)
		add := func(rows, feed string, after int64, d table.Duplicates) (wire.AddedRows, error) {
			return w.ann.AddRows(w.ctx, run, client.NewRows{Input: "things", Feed: feed, After: after, Duplicates: d}, strings.NewReader(rows))
		}
		byID := table.Duplicates{Do: table.Drop, Key: "id"}
		got := must(add("thing,id\nnew,7\nold,1\nnew,7\nnewer,8\n", "", 0, byID))(t)
		if got != (wire.AddedRows{Input: "things", Added: 2, Dropped: 2, Delimiter: ","}) {
			t.Errorf("added: %+v", got)
		}
		got = must(add("thing,id\na dog,1\nnew,7\n", "", 0, table.Duplicates{Do: table.Drop}))(t)
		if got != (wire.AddedRows{Input: "things", Dropped: 2, Delimiter: ","}) {
			t.Errorf("added, when all are there: %+v", got)
		}
		got = must(add("thing,id\na dog,1\n", "", 0, table.Duplicates{}))(t)
		if got.Added != 1 {
			t.Errorf("added as usual: %+v", got)
		}
		// Rows of a feed are counted, whatever becomes of them.
		got = must(add("thing,id\nx,20\nold,1\n", "f", 0, byID))(t)
		if got != (wire.AddedRows{Input: "things", Added: 1, Dropped: 1, Feed: 2, Delimiter: ","}) {
			t.Errorf("a feed: %+v", got)
		}
		got = must(add("thing,id\nold,1\nx,21\nx,20\n", "f", 1, byID))(t)
		if got != (wire.AddedRows{Input: "things", Added: 1, Known: 1, Dropped: 1, Feed: 4, Delimiter: ","}) {
			t.Errorf("a feed goes on: %+v", got)
		}
		got = must(add("thing,id\nx,20\n", "f", 4, byID))(t)
		if feed := must(w.ann.FeedRows(w.ctx, run, "things", "f"))(t); got.Dropped != 1 || feed.Rows != 5 {
			t.Errorf("a feed of which nothing is new: %+v, %+v", got, feed)
		}
		a = w.send(w.ann, http.MethodPost, load+"/rows?duplicates=refuse&key=id", "thing,id\nx,30\ny,8\nz,30\n")
		if got := notes(t, a); got != "3=0 is what row 6 of the input things has, too; 4=2 is what line 2 has, too" {
			t.Errorf("refused: %s", a.shown())
		}
		_, err := add("thing,id\nx,31\n", "", 0, table.Duplicates{Do: table.Drop, Key: "name"})
		refused(t, err, crowd.Invalid)
		if in := must(w.ann.Run(w.ctx, run))(t).Nodes[0].OK; in != 3+2+1+1+1 {
			t.Errorf("the input has %d rows", in)
		}
		w.close()
	})
}
