package sqlstep_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// The inputs of the tests of row by row: b and c are streamed, s is not.
func streamed() []sqlstep.Table {
	return []sqlstep.Table{table("b", "id:number word flag:bool"), table("c", "id:number score:number")}
}

func static() sqlstep.Table {
	return table("s", "word grade:number", "red|1", "blue|2", "red|3")
}

func TestRowByRow(t *testing.T) {
	for _, c := range []struct {
		query string
		names string // of the streamed inputs
		why   string // "": it may
	}{
		{"select id from b", "b", ""},
		{"select id, upper(word) as w from b where flag and word like 'r%'", "b", ""},
		{"select \"id\" from \"B\"", "b", ""},
		{"select x.id from b as x", "b", ""},
		{"select id from b", "c", "not reading c at line 1, column 16"},
		{"select b.id, s.grade from b join s on s.word = b.word", "b", ""},
		{"select b.id, s.grade from s join b on s.word = b.word", "b", ""},
		{"select b.id, s.grade from b left join s on s.word = b.word", "b", ""},
		{"select b.id, c.score from b join c", "b c", ""},
		{"select b.id, c.score from b left join c on true", "b c", ""},
		{"select b.id, c.score from b left outer join c on c.id = b.id left join s on s.word = b.word", "b c", ""},
		{"select b.id, (select max(grade) from s where s.word = b.word) as g from b", "b", ""},
		{"select b.id from b where b.word in (select word from s group by word order by count(*) limit 1)", "b", ""},
		{"with g(word, n) as (select word, count(*) from s group by word) select b.id, g.n from b join g on g.word = b.word", "b", ""},
		{"select b.id, t.value as token from b, json_each(tokens(b.word)) t", "b", ""},
		{"select max(id, 3) as m from b", "b", ""},
		{"select id from b where word is not distinct from 'red' or word is distinct from 'blue'", "b", ""},
		{"select id as \"order\", word as \"limit\" from b /* group by */ -- distinct", "b", ""},
		{"select 'group by' as g from b", "b", ""},
		{"select b.id from b group by b.id", "b", "group by at line 1, column 20"},
		{"select distinct id from b", "b", "distinct at line 1, column 8"},
		{"select id\nfrom b\n  order by id", "b", "order by at line 3, column 3"},
		{"select id from b limit 3", "b", "limit at line 1, column 18"},
		{"select count(*) as n from b", "b", "the aggregate count at line 1, column 8"},
		{"select max(id) as n from b", "b", "the aggregate max at line 1, column 8"},
		{"select min((id)) as n from b", "b", "the aggregate min at line 1, column 8"},
		{"select \"count\"(*) as n from b", "b", "the aggregate count at line 1, column 8"},
		{"select group_concat(word) as n from b", "b", "the aggregate group_concat at line 1, column 8"},
		{"select row_number() over () as n from b", "b", "the aggregate row_number at line 1, column 8"},
		{"select sum(id) filter (where flag) as n from b", "b", "the aggregate sum at line 1, column 8"},
		{"select id from b union select grade from s", "b", "union at line 1, column 18"},
		{"select id from b except select grade from s", "b", "except at line 1, column 18"},
		{"select x.id from b x join b y on x.id < y.id", "b", "naming b twice at line 1, column 27"},
		{"select x.id from b x join [b] y on x.id < y.id", "b", "naming [b] twice at line 1, column 27"},
		{"select x.id from b x join 'b' y on x.id < y.id", "b", "naming 'b' twice at line 1, column 27"},
		{"select x.id from b x join main.b y on x.id < y.id", "b", "naming b twice at line 1, column 32"},
		{"select b.id, (select count(*) from b) as n from b", "b", "reading b in a subquery at line 1, column 36"},
		{"select s.grade from s where exists (select 1 from b)", "b", "reading b in a subquery at line 1, column 51"},
		{"with x as (select * from b) select id from x", "b", "reading b in a subquery at line 1, column 26"},
		{"select id from (select id from b)", "b", "reading b in a subquery at line 1, column 32"},
		{"with recursive n(x) as (select 1 union all select x+1 from n where x < 3) select b.id, n.x from b join n", "b", "recursive at line 1, column 6"},
		{"select s.grade, b.id from s left join b on s.word = b.word", "b", "a left join of b to what is not streamed at line 1, column 29"},
		{"select s.grade, b.id from s natural left outer join b", "b", "a left join of b to what is not streamed at line 1, column 37"},
		{"select s.grade, b.id from b right join s on s.word = b.word", "b", "a right join at line 1, column 29"},
		{"select s.grade, b.id from b full outer join s on s.word = b.word", "b", "a full join at line 1, column 29"},
		{"select rowid as r, id from b", "b", "the row number rowid at line 1, column 8"},
	} {
		inputs := append(streamed(), static())
		names := strings.Fields(c.names)
		shape, err := sqlstep.Check(context.Background(), c.query, inputs, names)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if shape.Why != c.why || shape.RowByRow != (c.why == "") {
			t.Errorf("%s\ngave %v %q\nwant %q", c.query, shape.RowByRow, shape.Why, c.why)
		}
		var open []sqlstep.Table
		for _, in := range streamed() {
			if slices.Contains(names, in.Name) {
				open = append(open, in)
			}
		}
		still := []sqlstep.Table{static()}
		for _, in := range streamed() {
			if !slices.Contains(names, in.Name) {
				still = append(still, in)
			}
		}
		s, err := sqlstep.Open(context.Background(), c.query, still, open, sqlstep.Limits{})
		if (err == nil) != (c.why == "") {
			t.Errorf("%s: Open gave %v", c.query, err)
		}
		if err == nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		} else if e := (*sqlstep.Error)(nil); !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
			t.Errorf("%s: Open gave %v", c.query, err)
		}
	}
}

// TestRowsTogetherAreTheWhole is what row by row means.
func TestRowsTogetherAreTheWhole(t *testing.T) {
	queries := []string{
		"select id, word, flag from b",
		"select id, upper(word) as w from b where flag and word <> 'blue'",
		"select b.id, s.grade from b join s on s.word = b.word",
		"select b.id, s.grade from s join b on s.word = b.word where grade > 1",
		"select b.id, s.grade from b left join s on s.word = b.word and s.grade > b.id",
		"select b.id, (select max(grade) from s where s.word = b.word) as g from b",
		"select b.id, t.value as token from b, json_each(tokens(b.word)) t",
		"select b.id, x.n from b cross join (select count(*) as n from s) x",
		"select s.word as w from b, s where b.word not in (select word from s where grade = b.id)",
	}
	rapid.Check(t, func(t *rapid.T) {
		query := rapid.SampledFrom(queries).Draw(t, "query")
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join([]string{
				rapid.SampledFrom([]string{"", "0", "1", "2", "2.5"}).Draw(t, "id"),
				rapid.SampledFrom([]string{"", "red", "blue", "light red"}).Draw(t, "word"),
				rapid.SampledFrom([]string{"", "true", "false"}).Draw(t, "flag"),
			}, "|")
		}), 0, 6).Draw(t, "lines")
		whole, err := collect(query, sqlstep.Limits{}, table("b", "id:number word flag:bool", lines...), static())
		if err != nil {
			t.Fatal(err)
		}
		s, err := sqlstep.Open(context.Background(), query, []sqlstep.Table{static()}, streamed()[:1], sqlstep.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var single []string
		for _, l := range lines {
			out, err := s.Row(context.Background(), [][]string{strings.Split(l, "|")})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range out {
				single = append(single, strings.Join(row, "|"))
			}
		}
		slices.Sort(whole)
		slices.Sort(single)
		if !slices.Equal(whole, single) {
			t.Fatalf("%s\nwhole  %q\nsingle %q", query, whole, single)
		}
	})
}

func one(t *testing.T, s *sqlstep.Stream, rows ...[]string) string {
	t.Helper()
	out, err := s.Row(context.Background(), rows)
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for _, row := range out {
		lines = append(lines, strings.Join(row, "|"))
	}
	return strings.Join(lines, " ")
}

func TestStreamJoinsByItem(t *testing.T) {
	s, err := sqlstep.Open(context.Background(), "select b.id, c.score from b left join c on true", nil, streamed(), sqlstep.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Shape().Columns, " "); got != "id score" {
		t.Error(got)
	}
	b := func(id string) []string { return []string{id, "x", ""} }
	for i, c := range []struct{ got, want string }{
		{one(t, s, b("1"), []string{"1", "0.5"}), "1|0.5"},
		{one(t, s, b("2"), nil), "2|"},
		{one(t, s, nil, []string{"3", "0.5"}), ""},
		{one(t, s, b("4"), []string{"4", "7"}), "4|7"},
		{one(t, s, b("x"), nil), `error: input b: id must be a number, as 12 or -0.5, not "x"`},
		{one(t, s, []string{"1"}, nil), "error: input b: has 1 values, but the input has 3 columns"},
		{one(t, s, b("5"), []string{"4", "bad"}), `error: input c: score must be a number, as 12 or -0.5, not "bad"`},
		{one(t, s, b("6"), nil), "6|"},
		{one(t, s, b("7")), "error: answer query: there are 1 rows for 2 streamed inputs"},
	} {
		if c.got != c.want {
			t.Errorf("%d: gave %q, want %q", i, c.got, c.want)
		}
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := one(t, s, b("1"), nil); got != "error: the stream is closed" {
		t.Error(got)
	}
}

// TestStreamGoesOnAfterALimit sees that an item that takes too long, too many
// rows or too large values fails alone.
func TestStreamGoesOnAfterALimit(t *testing.T) {
	query := `select b.id, (with recursive n(x) as (select 1 union all select x + 1 from n where x < b.id) select count(*) from n) as n, t.value as v
		from b, json_each(tokens(replace(b.word, '-', ' '))) t`
	s, err := sqlstep.Open(context.Background(), query, nil, streamed()[:1], sqlstep.Limits{Time: 200 * time.Millisecond, Rows: 3, Value: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, c := range []struct {
		id, word, want string
		code           crowd.Code
	}{
		{"3", "a-b", "3|3|a 3|3|b", ""},
		{"1e18", "a", "longer than 200ms", crowd.TooLarge},
		{"2", "a", "2|2|a", ""},
		{"2", "a-b-c-d", "more than 3 rows", crowd.TooLarge},
		{"2", strings.Repeat("x", 2000), "longer than 1000 bytes", crowd.Invalid},
		{"4", "z", "4|4|z", ""},
	} {
		out, err := s.Row(context.Background(), [][]string{{c.id, c.word, ""}})
		if c.code != "" {
			if crowd.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d: gave %v", i, err)
			}
			continue
		}
		var lines []string
		for _, row := range out {
			lines = append(lines, strings.Join(row, "|"))
		}
		if got := strings.Join(lines, " "); err != nil || got != c.want {
			t.Errorf("%d: gave %q, %v", i, got, err)
		}
	}
}

func TestStreamStopsWithItsContext(t *testing.T) {
	s, err := sqlstep.Open(context.Background(), "select (with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n) as n from b", nil, streamed()[:1], sqlstep.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Row(ctx, [][]string{{"1", "a", ""}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := s.Row(ctx, [][]string{{"1", "a", ""}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestStreamLooksUpByIndex sees that a lookup does not read, or
// index, the static input for each item.
func TestStreamLooksUpByIndex(t *testing.T) {
	const n = 20_000
	s, err := sqlstep.Open(context.Background(), "select b.word, m.text from b join m on m.id = b.id", []sqlstep.Table{many("m", n)}, streamed()[:1], sqlstep.Limits{Time: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // 5,000 scans of 20,000 rows take longer
	defer cancel()
	for range 5_000 {
		if out, err := s.Row(ctx, [][]string{{"17", "a", ""}}); err != nil || len(out) != 1 {
			t.Fatal(out, err)
		}
	}
}
