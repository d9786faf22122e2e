package sqlstep_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// many makes an input of n rows without keeping them.
func many(name string, n int) sqlstep.Table {
	t := table(name, "id:number label text")
	t.Rows = func(yield func([]string, error) bool) {
		for i := range n {
			if !yield([]string{strconv.Itoa(i), "label " + strconv.Itoa(i%7), "a few words of a text that people look at"}, nil) {
				return
			}
		}
	}
	return t
}

// BenchmarkStreamRow measures one item; the figure is the time of a row.
func BenchmarkStreamRow(b *testing.B) {
	for name, c := range map[string]struct {
		query  string
		static []sqlstep.Table
	}{
		"projection": {"select id, upper(label) as label from votes where label <> 'none'", nil},
		"lookup":     {"select votes.id, names.text from votes join names on names.label = votes.label", []sqlstep.Table{many("names", 7)}},
	} {
		b.Run(name, func(b *testing.B) {
			s, err := sqlstep.Open(context.Background(), c.query, c.static, []sqlstep.Table{table("votes", "id:number label text")}, sqlstep.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			row := [][]string{{"", "label 3", "a few words of a text that people look at"}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				row[0][0] = strconv.Itoa(i)
				if out, err := s.Row(ctx, row); err != nil || len(out) != 1 {
					b.Fatal(out, err)
				}
			}
		})
	}
}

// BenchmarkRun measures 100,000 rows in and out.
func BenchmarkRun(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		got := 0
		for _, err := range sqlstep.Run(context.Background(), "select id, label from votes", []sqlstep.Table{many("votes", n)}, sqlstep.Limits{}) {
			if err != nil {
				b.Fatal(err)
			}
			got++
		}
		if got != n {
			b.Fatal(got)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}

// products makes n titles of two shops, that describe the same things otherwise.
func products(name string, n int, r *rand.Rand) sqlstep.Table {
	t := table(name, "id:number title")
	t.Rows = func(yield func([]string, error) bool) {
		for i := range n {
			words := []string{"brand" + strconv.Itoa(i%300), "model" + strconv.Itoa(i), "camera", "with", "lens"}
			words = words[:3+r.IntN(3)]
			r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			if !yield([]string{strconv.Itoa(i), strings.Join(words, " ")}, nil) {
				return
			}
		}
	}
	return t
}

// BenchmarkBlocking matches 10,000 products with 10,000 by tokens that are rare.
func BenchmarkBlocking(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		r := rand.New(rand.NewPCG(1, 2))
		pairs, err := collect(blocking, sqlstep.Limits{}, products("ours", n, r), products("theirs", n, r))
		if err != nil {
			b.Fatal(err)
		}
		found := 0
		for _, p := range pairs {
			f := strings.Split(p, "|")
			if f[0] == f[1] {
				found++
			}
		}
		if found < n*9/10 {
			b.Fatal(fmt.Sprint("found ", found, " of ", n))
		}
		b.ReportMetric(float64(len(pairs)), "pairs")
		b.ReportMetric(float64(found), "matches")
	}
}

const blocking = `with a as materialized (select ours.id, title, t.value as token from ours, json_each(tokens(title)) t),
b as materialized (select theirs.id, title, t.value as token from theirs, json_each(tokens(title)) t),
rare as materialized (
  select token from (select token from a union all select token from b)
  group by token having count(*) <= 200
),
pairs as (
  select distinct a.id as our, b.id as their, a.title as ours, b.title as theirs
  from rare join a on a.token = rare.token join b on b.token = rare.token
)
select our, their, jaccard(ours, theirs) as likeness from pairs where jaccard(ours, theirs) >= 0.4`
