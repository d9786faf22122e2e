package sqlstep_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// rows makes an input's rows of lines, with | between the values.
func rows(lines ...string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, l := range lines {
			if !yield(strings.Split(l, "|"), nil) {
				return
			}
		}
	}
}

// table makes an input; columns are as in "id:number name ok:bool".
func table(name, columns string, lines ...string) sqlstep.Table {
	t := sqlstep.Table{Name: name, Rows: rows(lines...)}
	for _, c := range strings.Fields(columns) {
		column, kind, _ := strings.Cut(c, ":")
		t.Columns = append(t.Columns, sqlstep.Column{Name: column, Kind: sqlstep.Kind(kind)})
	}
	return t
}

// collect runs a query, and gives its rows with | between the values.
func collect(query string, limits sqlstep.Limits, inputs ...sqlstep.Table) (out []string, err error) {
	for row, err := range sqlstep.Run(context.Background(), query, inputs, limits) {
		if err != nil {
			return out, err
		}
		out = append(out, strings.Join(row, "|"))
	}
	return out, nil
}

func books() sqlstep.Table {
	return table("books", "id:number title price:number sold:bool",
		"1|The Castle|9.50|true", "2|castle, the|10|false", "3|Émile|1e3|", "10||-0.25|TRUE")
}

func TestRun(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"select id, title, price, sold from books", "1|The Castle|9.5|true 2|castle, the|10|false 3|Émile|1000| 10||-0.25|true"},
		{"select id from books order by id desc;", "10 3 2 1"},
		{"select title from books where sold order by id", "The Castle "},
		{"select count(*) as n, sum(price) as s from books -- all", "4|1019.25"},
		{"select id as n from books where price > 9.6 order by price", "2 3"},
		{"select not sold as x from books", "0 1  0"},
		{"select 1.0 as a, 2.5 as b, 1e300 as c, 9007199254740993 as d, -0.0 as e, 0.1+0.2 as f, 1e15 as g", "1|2.5|1e+300|9007199254740993|0|0.30000000000000004|1e+15"},
		{"with recursive c(x) as (select 1 union all select x+1 from c where x < 4) select x from c", "1 2 3 4"},
		{"select b.value as token from books join json_each(tokens(title)) b where books.id < 3", "the castle castle the"},
		{"select id from books where title like '%CASTLE%'", "1 2"},
		{"select instr('Émile', 'm') as a, replace('aXbX','X','--') as b, trim('xxaxx','x') as c, ltrim('xa','x') as d, rtrim('ax','x') as e, replace('a','','b') as f", "2|a--b--|a|a|a|a"},
		{"select round(jaro_winkler('MARTHA','MARHTA'), 3) as j, jaro_winkler(null,'a') as n, levenshtein('ab','ab') as l, jaccard('a b','b c') as k, cosine('a','b') as c, jaccard_qgrams('abc','abc',2) as q", "0.961||1|0.3333333333333333|0|1"},
		{"select title as \"from\", id [order] from books limit 1", "The Castle|1"},
		{"select date('2026-01-31', '+1 day') as d", "2026-02-01"},
	} {
		got, err := collect(c.query, sqlstep.Limits{}, books())
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s\ngave %q, %v\nwant %q", c.query, strings.Join(got, " "), err, c.want)
		}
	}
}

func TestErrorsHaveTheirPlace(t *testing.T) {
	for _, c := range []struct {
		query        string
		line, column int
		part         string
	}{
		{"", 1, 1, "empty"},
		{" -- nothing", 1, 1, "empty"},
		{"select id from books; drop table books", 1, 23, "one query"},
		{"insert into books values (1)", 1, 1, "SELECT"},
		{"with x as (select 1 as a) delete from books", 1, 1, "only reads"},
		{"values (1)", 1, 1, "SELECT"},
		{"pragma table_info(books)", 1, 1, "SELECT"},
		{"attach 'x' as y", 1, 1, "SELECT"},
		{"explain select 1 as x", 1, 1, "SELECT"},
		{"select id\nfrom books\nwhere é = 1", 3, 7, "no column é"},
		{"select id from books where id in (select id from bookz)", 1, 50, `no input`},
		{"select id, titel from books", 1, 12, "titel"},
		{"select b.titel from books b", 1, 8, "titel"},
		{"select id from books where 'title' = title and title = \"x\"", 1, 56, "single quotes"},
		{"select id, id as x from books a join books b", 1, 8, "several inputs"},
		{"select id from from books", 1, 16, "from"},
		{"select id frm books", 1, 15, "books"},
		{"select id, from books", 1, 12, "from"},
		{"select id from books where", 1, 27, "more is expected"},
		{"select (id from books", 1, 8, "not closed"},
		{"select id) from books", 1, 10, "closes nothing"},
		{"select 'abc from books", 1, 8, "does not end"},
		{"select \"abc from books", 1, 8, "does not end"},
		{"select [abc from books", 1, 8, "with ]"},
		{"select id from books where id = ?", 1, 33, "parameter"},
		{"select id from books where id = $x", 1, 33, "parameter"},
		{"select id + 1 from books", 1, 8, "no name"},
		{"select id, count(*) from books", 1, 12, "no name"},
		{"select id, title, id from books", 1, 19, "named id"},
		{"select id, title as ID from books", 1, 12, "named ID"},
		{"select a.*, b.* from books a join books b", 1, 8, "named id"},
		{"select nosuch(id) as x from books", 1, 8, "no function nosuch"},
		{"select jaccard(id) as x from books", 1, 8, "another number"},
		{"select random() as x", 1, 8, "same result"},
		{"select id from books order by random()", 1, 31, "same result"},
		{"select hex(randomblob(4)) as x", 1, 12, "same result"},
		{"select current_timestamp as x", 1, 8, "same result"},
		{"select date('now') as x", 1, 13, "same result"},
		{"select datetime() as x", 1, 8, "same result"},
		{"select strftime('%Y') as x", 1, 8, "same result"},
		{"select datetime('2026-01-01', 'localtime') as x", 1, 31, "machine"},
		{"select load_extension('x') as x", 1, 8, "load_extension"},
		{"select readfile('/etc/passwd') as x", 1, 8, "readfile"},
		{"select throng_row(1, id) as x from books", 1, 8, "throng_row"},
		{"select sql from sqlite_master", 1, 17, "no input"},
		{"select name from pragma_database_list", 1, 18, "no input"},
		{"select count(*) as n from dbstat", 1, 27, "no input"},
		{"select id from books where sum(id) > 1", 1, 28, "HAVING"},
		{"select " + strings.Repeat("(", 60) + "1" + strings.Repeat(")", 60) + " as x", 1, 58, "nest"},
		{"select " + strings.Repeat("1+", 200) + "1 as x", 1, 1, "depth"},
		{"select 1 as x" + strings.Repeat(" union select 1", 60), 1, 1, "compound"},
		{"select '" + strings.Repeat("x", sqlstep.MaxQuery) + "' as x", 1, 1, "at most"},
		{"select \xff as x", 1, 8, "UTF-8"},
		{"select \x00 as x", 1, 8, "NUL character (U+0000) here: leave it out"},
		{"select id # from books", 1, 11, "#"},
		{"select id from \"rows of the step\"", 1, 16, "no input"},
	} {
		_, err := sqlstep.Check(context.Background(), c.query, []sqlstep.Table{books()}, nil)
		var e *sqlstep.Error
		if !errors.As(err, &e) {
			t.Errorf("%.80s: gave %v", c.query, err)
			continue
		}
		if e.Line != c.line || e.Column != c.column || !strings.Contains(e.Message, c.part) {
			t.Errorf("%.80s\ngave %v\nwant line %d, column %d: %s", c.query, e, c.line, c.column, c.part)
		}
		if crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%.80s: code is %s", c.query, crowd.CodeOf(err))
		}
		if _, again := collect(c.query, sqlstep.Limits{}, books()); again == nil || again.Error() != err.Error() {
			t.Errorf("%.80s: Run gave %v, Check %v", c.query, again, err)
		}
	}
}

// TestBombs sees that what explodes ends with the error of its limit.
func TestBombs(t *testing.T) {
	limits := sqlstep.Limits{Memory: 64 << 20, Rows: 100_000}
	endless := "with recursive c(x) as (select 1 union all select x+1 from c) "
	for name, c := range map[string]struct{ query, part string }{
		"zeroblob":         {"select length(zeroblob(1000000000)) as n", "limit of one value"},
		"printf":           {"select printf('%*c', 1000000000, 'x') as s", "limit of one value"},
		"printf precision": {"select printf('%.1000000000f', 1.0) as s", "limit of one value"},
		"group_concat":     {"with recursive c(x) as (select 1 union all select x+1 from c limit 2000) select group_concat(printf('%1000d', x)) as s from c", "limit of one value"},
		"json_group_array": {endless + "select json_group_array(x) as s from c", "longer than 300ms"},
		"replace":          {"select length(replace(replace(hex(zeroblob(500)),'0',hex(zeroblob(500))),'0',hex(zeroblob(500)))) as n", "limit of one value"},
		"concat":           {endless + ", d(s) as (select 'x' union all select s||s from d) select length(s) as n from d", "limit of one value"},
		"like":             {endless + "select count(*) as n from c where hex(zeroblob(500000)) || x like '" + strings.Repeat("%0", 200) + "x'", "longer than 300ms"},
		"like, long":       {endless + "select count(*) as n from c where hex(zeroblob(500000)) || x like '%" + strings.Repeat("0", 900) + "x%'", "longer than 300ms"},
		"instr":            {endless + "select count(*) as n from c where instr(hex(zeroblob(500000)), hex(zeroblob(200000)) || 'x' || x) > 0", "longer than 300ms"},
		"replace, nothing": {endless + "select count(*) as n from c where replace(hex(zeroblob(500000)), hex(zeroblob(200000)) || 'x' || x, '') = ''", "longer than 300ms"},
		"trim":             {endless + "select count(*) as n from c where trim(hex(zeroblob(500000)), '123456789' || hex(zeroblob(200000)) || x) = 'x'", "longer than 300ms"},
		"levenshtein":      {endless + "select count(*) as n from c where levenshtein(hex(zeroblob(500000)), hex(zeroblob(400000)) || x) = 2", "longer than 300ms"},
		"qgrams":           {endless + "select count(*) as n from c where jaccard_qgrams(hex(zeroblob(500000)), hex(zeroblob(400000)) || x, 100) = 2", "longer than 300ms"},
		"no end":           {endless + "select count(*) as n from c", "longer than 300ms"},
		"one row, no end":  {endless + "select x from c where x = 1 or x < 0", "longer than 300ms"},
		"rows":             {endless + "select x from c", "100000 rows"},
		"distinct memory":  {"with recursive c(x) as (select 1 union select x+1 from c) select count(*) as n from (select distinct x, zeroblob(900000) as z from c)", "memory"},
		"sort memory":      {endless + "select x from c order by zeroblob(900000) || x", "memory"},
		"union memory":     {"with recursive c(x,z) as (select 1, 'a' union select x+1, printf('%*c', 900000, 'x') from c) select count(*) as n from c", "memory"},
		"materialized":     {"with recursive c(x) as (select 1 union all select x+1 from c limit 100000), m as materialized (select x, printf('%*c', 900000, 'x') as z from c) select count(*) as n from m a join m b on a.z = b.z", "memory"},
		"cross join":       {"with recursive c(x) as (select 1 union all select x+1 from c limit 100000) select count(*) as n from c a, c b, c d where a.x+b.x+d.x < 0", "longer than 300ms"},
		"aggregate memory": {endless + "select count(*) as n from (select x % 1000000 as y, count(distinct printf('%*c%d', 500000, 'x', x)) as m from c)", "memory"},
		"window memory":    {endless + "select x from (select x, lag(printf('%*c', 500000, 'x'), 1) over (order by x desc) as m from c) limit 1", "memory"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := limits
			if strings.HasPrefix(c.part, "longer") {
				limits.Time = 300 * time.Millisecond
			}
			start := time.Now()
			_, err := collect(c.query, limits)
			if err == nil || crowd.CodeOf(err) != crowd.TooLarge || !strings.Contains(err.Error(), c.part) {
				t.Errorf("gave %v", err)
			}
			t.Logf("%.2f s: %v", time.Since(start).Seconds(), err)
		})
	}
}
