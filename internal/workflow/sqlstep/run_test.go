package sqlstep_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"

	"pgregory.net/rapid"
)

func TestInputsThatAreWrong(t *testing.T) {
	broken := table("t", "a")
	broken.Rows = func(yield func([]string, error) bool) {
		if yield([]string{"1"}, nil) {
			yield(nil, crowd.Fieldf("line 3", "a quote does not end"))
		}
	}
	wide := table("t", strings.Repeat("a", 1))
	for i := range sqlstep.MaxColumns {
		wide.Columns = append(wide.Columns, sqlstep.Column{Name: "c" + strconv.Itoa(i)})
	}
	for _, c := range []struct {
		inputs []sqlstep.Table
		part   string
		code   crowd.Code
	}{
		{[]sqlstep.Table{table("", "a")}, "name of an input", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a"), table("T", "a")}, "two inputs have this name", crowd.Invalid},
		{[]sqlstep.Table{table("sqlite_x", "a")}, "taken", crowd.Invalid},
		{[]sqlstep.Table{table("json_each", "a")}, "taken", crowd.Invalid},
		{[]sqlstep.Table{table("Rows of the step", "a")}, "taken", crowd.Invalid},
		{[]sqlstep.Table{table("t", "")}, "no columns", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a A")}, "two columns", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a :text")}, "without a name", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a:date")}, "unknown kind", crowd.Invalid},
		{[]sqlstep.Table{wide}, "501 columns", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a b", "1")}, "row 1: has 1 values", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a:number", "1", "0x10")}, `row 2: a must be a number, as 12 or -0.5, not "0x10"`, crowd.Invalid},
		{[]sqlstep.Table{table("t", "a:number", "NaN")}, "must be a number", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a:number", "1e999")}, "must be a number", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a:number", "1_000")}, "must be a number", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a:bool", "maybe")}, "true or false", crowd.Invalid},
		{[]sqlstep.Table{table("t", "a", strings.Repeat("x", sqlstep.DefaultValue+1))}, "longer than 1 MB", crowd.Invalid},
		{[]sqlstep.Table{broken}, "a quote does not end", crowd.Invalid},
	} {
		_, err := collect("select 1 as x", sqlstep.Limits{}, c.inputs...)
		if err == nil || !strings.Contains(err.Error(), c.part) || crowd.CodeOf(err) != c.code {
			t.Errorf("%.60v: gave %v", c.part, err)
		}
	}
}

func TestNumbersComeBack(t *testing.T) {
	in := []string{"0", "-7", "9223372036854775807", "9223372036854775808", "0.1", "1e3", " 12 ", "+5", "007", "1.50", "123456789.123", "1e-7", "-0", "12345678901234567890"}
	want := "0 -7 9223372036854775807 9.223372036854776e+18 0.1 1000 12 5 7 1.5 123456789.123 1e-07 0 1.2345678901234567e+19"
	got, err := collect("select a from t", sqlstep.Limits{}, table("t", "a:number", in...))
	if err != nil || strings.Join(got, " ") != want {
		t.Errorf("gave %q, %v\nwant %q", strings.Join(got, " "), err, want)
	}
}

func TestValuesThatAreNoText(t *testing.T) {
	for query, part := range map[string]string{
		"select x'00ff' as b":                                 "column b: a value is a blob",
		"select zeroblob(3) as b":                             "column b: a value is a blob",
		"select 9e999 as b":                                   "column b: a number is too large",
		"select jaccard_qgrams('a', 'b', 0) as q":             "from 1 to 100",
		"select jaccard_qgrams('a', 'b', 'x') as q":           "from 1 to 100",
		"select 'a' like 'b' escape 'xy' as q":                "escape",
		"select json_extract('{', '$.a') as j":                "malformed JSON",
		"select abs(-9223372036854775807 - 1) as a":           "integer overflow",
		"select a.x from (select 1 as x) a, json_each('{') t": "malformed JSON",
	} {
		if _, err := collect(query, sqlstep.Limits{}); err == nil || !strings.Contains(err.Error(), part) || crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s: gave %v", query, err)
		}
	}
}

func TestInputsOverTheLimit(t *testing.T) {
	_, err := collect("select count(*) as n from big", sqlstep.Limits{Memory: 1 << 20}, many("big", 1_000_000))
	if crowd.CodeOf(err) != crowd.TooLarge || !strings.Contains(err.Error(), "more memory than 1 MB, the limit of memory, at row ") {
		t.Error(err)
	}
	got, err := collect("select count(*) as n from big", sqlstep.Limits{Memory: 8 << 20}, many("big", 50_000))
	if err != nil || got[0] != "50000" {
		t.Error(got, err)
	}
}

func TestRowLimitIsExact(t *testing.T) {
	for limit, good := range map[int64]bool{999: false, 1000: true} {
		n, failed := 0, error(nil)
		for _, err := range sqlstep.Run(context.Background(), "select id from m", []sqlstep.Table{many("m", 1000)}, sqlstep.Limits{Rows: limit}) {
			if failed = err; err == nil {
				n++
			}
		}
		if (failed == nil) != good || good && n != 1000 {
			t.Errorf("limit %d: %d rows, %v", limit, n, failed)
		}
	}
}

// TestConsumersMayStop sees that a loop that ends early, or panics, leaves nothing running.
func TestConsumersMayStop(t *testing.T) {
	endless := "with recursive c(x) as (select 1 union all select x+1 from c) select x from c"
	n := 0
	for row, err := range sqlstep.Run(context.Background(), endless, nil, sqlstep.Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; row[0] != strconv.Itoa(n) {
			t.Fatalf("row %d is %v", n, row)
		}
		if n == 1000 {
			break
		}
	}
	func() {
		defer func() {
			if r := recover(); r != "enough" {
				t.Errorf("recovered %v", r)
			}
		}()
		for range sqlstep.Run(context.Background(), endless, nil, sqlstep.Limits{}) {
			panic("enough")
		}
	}()
	next, stop := iter.Pull2(sqlstep.Run(context.Background(), endless, nil, sqlstep.Limits{}))
	if row, err, ok := next(); !ok || err != nil || row[0] != "1" {
		t.Error(row, err, ok)
	}
	stop()
}

// TestTheConsumersTimeDoesNotCount takes longer over the rows than the limit.
func TestTheConsumersTimeDoesNotCount(t *testing.T) {
	const limit = 100 * time.Millisecond
	n := 0
	timer := time.NewTimer(0)
	for _, err := range sqlstep.Run(context.Background(), "select id from m", []sqlstep.Table{many("m", 3000)}, sqlstep.Limits{Time: limit}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 {
			timer.Reset(3 * limit)
			<-timer.C
		}
	}
	if n != 3000 {
		t.Error(n)
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	cause := errors.New("the run was cancelled")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	failed := error(nil)
	for _, err := range sqlstep.Run(ctx, "with recursive c(x) as (select 1 union all select x+1 from c) select x from c where x = 1 or x < 0 or x > 1000 and x < 2000", nil, sqlstep.Limits{}) {
		cancel(cause)
		failed = err
	}
	if !errors.Is(failed, cause) {
		t.Error(failed)
	}
	for _, err := range sqlstep.Run(ctx, "select count(*) as n from m", []sqlstep.Table{many("m", 10)}, sqlstep.Limits{}) {
		if !errors.Is(err, cause) {
			t.Error(err)
		}
	}
	if _, err := sqlstep.Check(ctx, "select 1 as x", nil, nil); !errors.Is(err, cause) {
		t.Error(err)
	}
}

// filesWhile gives the files that were in dir, or open, while f ran.
func filesWhile(dir string, f func()) (seen []string) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			seen = append(seen, files...)
			// Temporary files are unlinked as soon as they are open.
			links, _ := filepath.Glob("/proc/self/fd/*")
			for _, l := range links {
				if to, err := os.Readlink(l); err == nil && (strings.HasPrefix(to, dir+"/") || strings.HasSuffix(to, " (deleted)")) {
					seen = append(seen, to)
				}
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	f()
	close(stop)
	wg.Wait()
	return seen
}

// TestNothingTouchesTheDisk sorts and joins more than a cache holds.
func TestNothingTouchesTheDisk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "SQLITE_TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	t.Chdir(dir)
	seen := filesWhile(dir, func() {
		got, err := collect("select id from m order by text || printf('%200d', id) desc", sqlstep.Limits{}, many("m", 20_000))
		if err != nil || len(got) != 20_000 {
			t.Error(len(got), err)
		}
	})
	if len(seen) > 0 {
		t.Errorf("there were files: %q", seen)
	}
	// The same query where files are allowed, to see that they would be seen.
	c, err := sqlite.NewConnector("file::memory:?_pragma=temp_store(1)")
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	defer db.Close()
	seen = filesWhile(dir, func() {
		var n int
		if err := db.QueryRow("with recursive c(x) as (select 1 union all select x+1 from c limit 100000) select count(*) from (select x, row_number() over (order by printf('%200d', x) desc) as r from c) where r <= 15000").Scan(&n); err != nil || n != 15_000 {
			t.Error(n, err)
		}
	})
	if _, err := os.Stat("/proc/self/fd"); err == nil && len(seen) == 0 {
		t.Error("files are not seen where they are")
	}
}

// TestManyAtOnce runs engines side by side: none sees the others' tables.
func TestManyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 5 {
				want := strconv.Itoa(100 + i*10 + j)
				got, err := collect("select count(*) as n from mine", sqlstep.Limits{}, many("mine", 100+i*10+j))
				if err != nil || got[0] != want {
					t.Errorf("gave %v, %v; want %s", got, err, want)
				}
				if _, err := collect("select count(*) as n from theirs", sqlstep.Limits{}, many("mine", 1)); err == nil {
					t.Error("reads what is not its own")
				}
				s, err := sqlstep.Open(context.Background(), "select id + 1 as n from b", nil, []sqlstep.Table{table("b", "id:number")}, sqlstep.Limits{})
				if err != nil {
					t.Error(err)
					return
				}
				for k := range 20 {
					if out, err := s.Row(context.Background(), [][]string{{strconv.Itoa(k)}}); err != nil || fmt.Sprint(out) != fmt.Sprintf("[[%d]]", k+1) {
						t.Errorf("gave %v, %v", out, err)
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestAnyText compiles and runs whatever text there is: it gives an answer or an
// error with its place, and never hangs. (It is not a fuzz target: with what
// fuzzing adds to it, the SQL engine takes minutes to build.)
func TestAnyText(t *testing.T) {
	for _, q := range []string{
		"select id from books", "select 'a''b' \"c\" from [books] -- x", "with x(a) as (select 1) select a from x;",
		"select count(*) as n from books group by 1 order by 1", "select (", "select x'0", "select 1e5.5 as x /*", "select \xff",
		"select a.* from books a left join books b using (id)", "select ?1", "select 1 as x union select 2", "select `", "select [",
		"select id from books where title like '%a' escape '\\'", "select date('now')", "select ;", "select 1 as x;;", "select 'x",
	} {
		anyText(t, q)
	}
	words := rapid.SampledFrom(strings.Fields("select from books id title as x where ( ) , . * = < + - 'a' 1 2.5 \"id\" [id] group by order limit count(*) join left on using union with recursive case when then end not in is null distinct over ; /* -- ? || max( b`"))
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "words") {
			anyText(t, "select "+strings.Join(rapid.SliceOfN(words, 1, 15).Draw(t, "query"), " "))
		} else {
			anyText(t, rapid.String().Draw(t, "query"))
		}
	})
}

func anyText(t rapid.TB, query string) {
	shape, err := sqlstep.Check(context.Background(), query, []sqlstep.Table{books()}, []string{"books"})
	if err != nil {
		var e *sqlstep.Error
		if !errors.As(err, &e) {
			t.Fatalf("%q: gave %v", query, err)
		}
		lines := strings.Split(query, "\n")
		if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len([]rune(lines[e.Line-1]))+1 || e.Message == "" {
			t.Fatalf("%q: the place of %v is not in it", query, e)
		}
		return
	}
	if len(shape.Columns) == 0 || len(shape.Columns) != len(shape.Kinds) || shape.RowByRow != (shape.Why == "") {
		t.Fatalf("%q: %+v", query, shape)
	}
	n := 0
	for row, err := range sqlstep.Run(context.Background(), query, []sqlstep.Table{books()}, sqlstep.Limits{Time: 50 * time.Millisecond, Rows: 100}) {
		if err != nil && crowd.CodeOf(err) == crowd.Internal {
			t.Fatalf("%q: %v", query, err)
		}
		if err == nil && len(row) != len(shape.Columns) {
			t.Fatalf("%q: %q", query, row)
		}
		n++
	}
	if n > 101 {
		t.Fatalf("%q: %d rows", query, n)
	}
}

// TestGlance tells item by item or not without any columns, as Check does with
// them.
func TestGlance(t *testing.T) {
	for _, c := range []struct {
		query  string
		each   bool
		line   int
		column int
	}{
		{"select id from books where title = 'x'", true, 0, 0},
		{"select books.id, books from books", true, 0, 0}, // a column of the same name
		{"select title, count(*) as n\nfrom books group by title", false, 1, 15},
		{"select a.id from books a join books b on a.id = b.id", false, 1, 31},
		{"select id from books order by id", false, 1, 22},
	} {
		s, err := sqlstep.Glance(c.query, []string{"books"})
		if err != nil || s.RowByRow != c.each || s.WhyLine != c.line || s.WhyColumn != c.column {
			t.Errorf("%q: %+v, %v", c.query, s, err)
		}
	}
	if _, err := sqlstep.Glance("delete from books", []string{"books"}); err == nil {
		t.Error("a query that is no SELECT passes")
	}
}
