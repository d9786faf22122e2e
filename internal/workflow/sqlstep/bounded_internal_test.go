package sqlstep

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// adversaries are the inputs of adversarial calls, each as long as a value may be: a
// text, one of characters that JSON escapes, an array of many values, one of many values
// in many levels, and a path of many levels.
const adversaries = `with
	ts as materialized (select printf('%.*c', 1000000, 'a') as s),
	tc as materialized (select printf('%.*c', 1000000, char(1)) as c),
	tj as materialized (select '[' || replace(printf('%.*c', 450000, 'a'), 'a', '1,') || '1]' as j),
	td as materialized (select printf('%.*c', 990, '[') || replace(printf('%.*c', 400000, 'a'), 'a', '1,') || '1' || printf('%.*c', 990, ']') as d),
	tp as materialized (select replace(printf('%.*c', 200000, 'a'), 'a', '.a') as p)
select length(CALL) as n from ts, tc, tj, td, tp`

// adversarial are calls of each function with the largest arguments, or those that
// make it work the most.
func adversarial() map[string][]string {
	many := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	calls := map[string][]string{
		"json_pretty":  {"json_pretty('['||replace(printf('%.*c',2000,'a'),'a','1,')||'1]', printf('%.*c',900000,' '))", "json_pretty(d)", "json_pretty(j, s)"},
		"json_extract": {"json_extract(j," + many("'$[#-1]'", 126) + ")", "json_extract(j," + many("'$'", 126) + ")", "json_extract('{}', '$'||p)"},
		"->":           {"j -> '$[#-1]'", "d -> p"}, "->>": {"j ->> '$[#-1]'", "j ->> s"},
		"json_insert":       {"json_insert('[]'," + many("'$[#]',s", 63) + ")", "json_insert('{}','$'||p,1)"},
		"json_array_insert": {"json_array_insert('[]'," + many("'$[0]',s", 63) + ")"},
		"json_set":          {"json_set(j," + many("'$[#-1]',s", 63) + ")", "json_set('{}','$'||p,1)", "json_set(j," + many("'$[0]',j", 63) + ")"},
		"json_replace":      {"json_replace(j," + many("'$[#-1]',s", 63) + ")"},
		"json_remove":       {"json_remove(j," + many("'$[#-1]'", 126) + ")", "json_remove(j," + many("'$[0]'", 126) + ")"},
		"json_array":        {"json_array(" + many("c", 127) + ")"},
		"json_object":       {"json_object(" + many("'a',c", 63) + ")"},
		"json_group_array":  {"(select json_group_array(x.c) from (select c from json_each(j)) x)"},
		"json_group_object": {"(select json_group_object(x.c, x.c) from (select c from json_each(j)) x)"},
		"json":              {"json(j)", "json(d)", `json('"'||replace(substr(s,1,160000),'a','\u0001')||'"')`},
		"json_valid":        {"json_valid(j,15)", "json_valid(d,15)"},
		"json_type":         {"json_type(j,'$[#-1]')", "json_type(d,'$'||p)"},
		"concat":            {"concat(" + many("s", 127) + ")"},
		"concat_ws":         {"concat_ws(" + many("s", 127) + ")"},
		"char":              {"char(" + many("1114111", 127) + ")"},
		"printf":            {"printf('%.*f',900000,1e308)", "printf('%,.*d',900000,1)", "printf('%*d',2000000000,1)", "printf(replace(s,'a','%Q'), " + many("s", 126) + ")", "printf(replace(s,'a','%.0s'), " + many("s", 126) + ")"},
		"format":            {"format('%!.*g',900000,1e-300)", "format('%.*c%.*c',900000,'a',900000,'b')", "format(substr(replace(s,'a','%.9999999f'),1,999990))"},
		"like":              {"s like replace(substr(s,1,300000),'a','%_a')", "s like replace(substr(s,1,1000),'a','%_b')", "like(s, s, 'x')"},
		"replace":           {"replace(s,'a',s)", "replace(s,'a',substr(s,1,60))", "replace(s,'',s)"},
		"strftime":          {"strftime(replace(substr(s,1,500000),'a','%J'),'2000-01-01')", "strftime(s,s)"},
		"substr":            {"substr(s,-1,9223372036854775807)"}, "substring": {"substring(s,2,-9223372036854775807)"},
		"jaccard_qgrams": {"jaccard_qgrams(s,s,100)", "jaccard_qgrams(s,j,1)"},
		"zeroblob":       {"zeroblob(1000000)", "zeroblob(9223372036854775807)"},
		"hex":            {"hex(s)", "hex(zeroblob(499999))"},
		"quote":          {"quote(c)", "quote(zeroblob(500000))", "quote(replace(s,'a',''''))"},
		"group_concat":   {"(select group_concat(x.s, x.s) from (select s from json_each(j)) x)"},
		"string_agg":     {"(select string_agg(x.s, x.s) from (select s from json_each(j)) x)"},
		"round":          {"round(1e300,1000000)"}, "pi": {"pi()"}, "tokens": {"tokens(s)", "tokens(replace(s,'a','a '))", "tokens(j)"},
		"unicode": {"unicode(s)"}, "subtype": {"subtype(s)"}, "likelihood": {"likelihood(s, 0.5)"},
		"iif": {"iif(s,s,s)"}, "if": {"if(s,s,s)"}, "count": {"(select count(distinct s || value) from json_each(j))"},
	}
	for _, name := range strings.Fields("date time datetime julianday unixepoch") {
		calls[name] = []string{name + "('2000-01-01'," + many("s", 126) + ")", name + "('2000-01-01'," + many("'+'||replace(s,'a','1')||' days'", 3) + ")", name + "('-4713-11-24','+464269060799 seconds')"}
	}
	calls["timediff"] = []string{"timediff('9999-12-31','0000-01-01')", "timediff(s,s)"}
	for _, name := range strings.Fields("coalesce max min") {
		calls[name] = []string{name + "(" + many("nullif(s,s)", 100) + ")", name + "(" + many("s", 127) + ")"}
	}
	for _, name := range strings.Fields("row_number rank dense_rank percent_rank cume_dist") {
		calls[name] = []string{"(select max(x) from (select " + name + "() over (order by value) as x from json_each(j)))"}
	}
	for _, name := range strings.Fields("lag lead first_value last_value avg sum total") {
		calls[name] = []string{"(select max(x) from (select " + name + "(s) over (order by value rows between 3 preceding and current row) as x from json_each(j)))"}
	}
	calls["ntile"] = []string{"(select max(x) from (select ntile(9223372036854775807) over (order by value) as x from json_each(j)))"}
	calls["nth_value"] = []string{"(select max(x) from (select nth_value(s, 9223372036854775807) over (order by value) as x from json_each(j)))"}
	return calls
}

// TestOneCallIsBounded sees that each function ends when the time of the query is over,
// whatever its arguments are, and holds no more memory than the query may.
func TestOneCallIsBounded(t *testing.T) {
	calls := adversarial()
	var names []string
	for name := range functions {
		names = append(names, name)
		if calls[name] == nil { // one of few arguments
			calls[name] = []string{name + "(j)", name + "(s,c)"}
		}
	}
	for name := range calls {
		if !functions[name] {
			t.Errorf("%s is not a function that a query may call", name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		understood := false
		for _, call := range calls[name] {
			err := boundedCall(t, call, Limits{Time: 200 * time.Millisecond})
			understood = understood || err == nil || !strings.Contains(err.Error(), "number of arguments") && !strings.Contains(err.Error(), "no such")
		}
		if !understood {
			t.Errorf("no call of %s runs", name)
		}
	}
}

// TestOneCallIsBoundedByItsMemory is the same where there is time enough.
func TestOneCallIsBoundedByItsMemory(t *testing.T) {
	call := adversarial()["json_array"][0]
	// The race detector makes the engine some fifteen times slower.
	if err := boundedCall(t, call, Limits{Time: 10 * time.Minute, Memory: 64 << 20}); crowd.CodeOf(err) != crowd.TooLarge || !strings.Contains(err.Error(), "more memory than 64 MB") {
		t.Error(err)
	}
}

// boundedCall runs a call.
func boundedCall(t *testing.T, call string, limits Limits) error {
	t.Helper()
	// The machine that tests run on may be slow. It took up to 8 s and 3.7 GB.
	const late, most = 5 * time.Second, 700
	before, peak := resident(), 0
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, resident())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	began := time.Now()
	_, err := answers(strings.Replace(adversaries, "CALL", call, 1), limits)
	took := time.Since(began)
	close(stop)
	<-stopped
	if took > limits.Time+late || peak-before > most {
		t.Errorf("%.80s: took %v and %d MB, %.80v", call, took, peak-before, err)
	}
	if after := resident(); after-before > 200 {
		t.Errorf("%.80s: left %d MB", call, after-before)
	}
	t.Logf("%5d ms, %4d MB: %.80s: %.60v", took.Milliseconds(), peak-before, call, err)
	if crowd.CodeOf(err) == crowd.Internal && err != nil {
		t.Errorf("%.80s: %v", call, err)
	}
	return err
}

// answers is the result of a query without inputs.
func answers(query string, limits Limits) (rows []string, err error) {
	for row, err := range Run(context.Background(), query, nil, limits) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, strings.Join(row, ","))
	}
	return rows, nil
}

// resident is how many MB of the machine the process has; 0: unknown.
func resident() int {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if n := 0; strings.HasPrefix(line, "VmRSS:") {
			fmt.Sscan(strings.TrimPrefix(line, "VmRSS:"), &n)
			return n / 1024
		}
	}
	return 0
}

// TestAnyBoundOfMemory has allocations refused at each place of some queries: they end
// with the error of memory or with the right result, and the engine goes on.
func TestAnyBoundOfMemory(t *testing.T) {
	const query = `with recursive c(x) as (select 1 union select x+1 from c limit 300), m as materialized (select x, printf('%*c', 200, 'x') as z from c)
		select x, group_concat(json_array(z, x)) as g, row_number() over (order by z desc, x) as r from m group by x % 7 order by z, g desc`
	want, err := answers(query, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), "select title, (select group_concat(value || title) from json_each('[1,2,3]')) as g from b", nil, []Table{{Name: "b", Columns: []Column{{Name: "title"}}}}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	refused := 0
	for bound := int64(1); bound < 600_000; bound += 1 + bound/50 {
		got, err := answers(query, Limits{Memory: bound})
		switch {
		case err == nil && !slices.Equal(got, want):
			t.Fatalf("%d bytes: another result", bound)
		case err != nil && crowd.CodeOf(err) != crowd.TooLarge:
			t.Fatalf("%d bytes: %v", bound, err)
		case err != nil:
			refused++
		}
		s.e.limits.Memory, s.watch.limits.Memory = bound, bound
		if rows, err := s.Row(context.Background(), [][]string{{strings.Repeat("a", 2000)}}); err != nil && crowd.CodeOf(err) != crowd.TooLarge || err == nil && len(rows) != 1 {
			t.Fatalf("an item within %d bytes: %v, %v", bound, rows, err)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// TestPrettyIsThatOfSQLite compares json_pretty with that of the engine.
func TestPrettyIsThatOfSQLite(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		`{"a":1,"b":[],"c":{},"d":[1,2.50,{"e":"x\"y]","f":null}]}`, " [ ] ", " { \n } ", "[[ ]]", "1", `"a,b:{"`, "[[[1e5],true],\tfalse]",
		"[1,", "{]", "", "nonsense", `{"a":"\\"}`, `["\u0001ä"]`,
	} {
		for _, args := range []string{"?1", "?1, '\t'", "?1, ''"} {
			var want sql.NullString
			failed := db.QueryRow("select json_pretty("+args+")", s).Scan(&want)
			call := strings.ReplaceAll("json_pretty("+args+")", "?1", "'"+strings.ReplaceAll(s, "'", "''")+"'")
			got, err := answers("select "+call+" as p", Limits{})
			if (failed == nil) != (err == nil) || err == nil && got[0] != want.String {
				t.Errorf("%s gave %q, %v; SQLite %q, %v", call, got, err, want.String, failed)
			}
			if err != nil && !strings.Contains(err.Error(), "malformed JSON") {
				t.Error(err)
			}
		}
	}
}

// TestManyArguments sees that the error of too many names its place, and that a result
// may have more columns than a function arguments.
func TestManyArguments(t *testing.T) {
	_, err := answers("select 1 as n,\n  max(1"+strings.Repeat(",1", maxArgs)+") as x", Limits{})
	if err == nil || err.Error() != "line 2, column 3: the function max has more than 127 arguments" {
		t.Error(err)
	}
	var columns []string
	for i := range MaxColumns {
		columns = append(columns, fmt.Sprintf("%d as c%d", i, i))
	}
	if rows, err := answers("select "+strings.Join(columns, ", "), Limits{}); err != nil || len(rows) != 1 {
		t.Error(len(rows), err)
	}
}
