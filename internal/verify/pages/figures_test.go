package pages

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The pages that tell figures of the orders between batches.
const (
	slaPage      = "docs/papers/sla.md"
	policiesPage = "docs/policies.md"
	decisionPage = "docs/adr/0025-between-batches-by-what-is-left.md"
)

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cellsOf returns the cells of a line of a table; nil: it is none.
func cellsOf(line string) []string {
	inner, ok := strings.CutPrefix(line, "| ")
	if !ok {
		return nil
	}
	list := strings.Split(strings.TrimSuffix(inner, "|"), "|")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// tableAfter returns the first table after a text on a page, its header first.
func tableAfter(t *testing.T, page, text string) [][]string {
	t.Helper()
	_, rest, ok := strings.Cut(read(t, page), text)
	if !ok {
		t.Fatalf("%s does not have %q", page, text)
	}
	var list [][]string
	for line := range strings.Lines(rest) {
		cells := cellsOf(strings.TrimSpace(line))
		if cells == nil && list != nil {
			break
		}
		if cells != nil && !strings.HasPrefix(cells[0], "---") {
			list = append(list, cells)
		}
	}
	if len(list) < 2 {
		t.Fatalf("%s has no table after %q", page, text)
	}
	return list
}

// A report has our figures of one experiment, as the paper's page has them.
type report struct {
	name string
	ours map[string]string // by row
}

func reportOf(t *testing.T, page, experiment string) report {
	t.Helper()
	r := report{experiment, map[string]string{}}
	for _, cells := range tableAfter(t, page, "Made by `throng paper run "+experiment+" ") {
		r.ours[cells[0]], _, _ = strings.Cut(cells[3], " ")
	}
	return r
}

// number reads a figure and half a unit of its last digit.
func number(t *testing.T, text string) (value, half float64) {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%q is no figure", text)
	}
	_, digits, _ := strings.Cut(text, ".")
	return value, 0.5 * math.Pow10(-len(digits))
}

// of returns the figure of a row.
func (r report) of(t *testing.T, row string) float64 {
	t.Helper()
	text, ok := r.ours[row]
	if !ok {
		t.Fatalf("%s has no row %q in %s", slaPage, row, r.name)
	}
	value, _ := number(t, text)
	return value
}

// told compares a figure that a page tells, in percent or as it is, with the row.
func (r report) told(t *testing.T, page, text, row string) {
	t.Helper()
	share := 1.0
	figure, percent := strings.CutSuffix(text, " %")
	if percent {
		share = 100
	}
	value, half := number(t, figure)
	ours := share * r.of(t, row)
	_, own := number(t, r.ours[row])
	if math.Abs(value-ours) >= half+share*own-1e-9 {
		t.Errorf("%s tells %s of %q, where %s has %s", page, text, row, slaPage, r.ours[row])
	}
}

// orderOf is the order that a column of docs/policies.md is about.
func orderOf(header string) string {
	name := strings.Trim(header, "`")
	if strings.HasPrefix(name, "form=") {
		return "penalty(" + name + ")"
	}
	return name
}

// TestPoliciesAndTheirReportsAgree: the tables of orders against worlds tell the same
// figures as the reports, cell by cell.
func TestPoliciesAndTheirReportsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		experiment string
		worlds     int
		row        func(order, world string) string
	}{
		{"sla-people", 16, func(order, world string) string { return orderOf(order) + ": " + world + ": penalties, mean" }},
		{"sla-orders", 16, func(order, world string) string {
			name := strings.TrimSuffix(strings.TrimPrefix(orderOf(order), "penalty(form="), ")")
			return strings.TrimPrefix(name, "the paper's ") + ": " + world + ": reduction of penalties"
		}},
	} {
		r := reportOf(t, slaPage, c.experiment)
		list := tableAfter(t, policiesPage, "(`throng paper run "+c.experiment+"`)")
		if len(list)-1 != c.worlds {
			t.Errorf("%s has %d worlds of %s, not %d", policiesPage, len(list)-1, c.experiment, c.worlds)
		}
		for _, cells := range list[1:] {
			for k, text := range cells[1:] {
				row := c.row(list[0][k+1], cells[0])
				if text = strings.Trim(text, "*"); text != "" {
					r.told(t, policiesPage, text, row)
				} else if r.ours[row] != "" {
					t.Errorf("%s leaves %q out, of which %s has %s", policiesPage, row, slaPage, r.ours[row])
				}
			}
		}
	}
}

// TestWhatIsSaidOfTheOrders: figures in sentences are those of the report, too.
func TestWhatIsSaidOfTheOrders(t *testing.T) {
	t.Parallel()
	const fair, ours = "tenant-fair(penalty(wfs)): ", "penalty: "
	const three = "steady, load 1.1, three tenants, costs 2, 2 and 20"
	const figure = `(\d+(?:\.\d+)?)`
	r := reportOf(t, slaPage, "sla-people")
	for _, c := range []struct {
		page, sentence string
		rows           []string
	}{
		{policiesPage, figure + " in place of " + figure + ", and " + figure + " in place of " + figure + `\. With the three`, []string{
			fair + "80 at once, once", ours + "80 at once, once", fair + "5 at once, 2 people, once", ours + "5 at once, 2 people, once",
		}},
		{policiesPage, "With the three it costs " + figure + ", in place of " + figure + "; `tenant-fair\\(wfs\\)` costs " + figure, []string{
			fair + three, ours + three, "tenant-fair(wfs): " + three,
		}},
		{policiesPage, "it costs " + figure + " in place of " + figure + "; and where programs take most of the time, " + figure + " in place of " + figure, []string{
			ours + "steady, load 0.9", "penalty(form=event): steady, load 0.9", ours + "steady, load 0.9, slow programs", "wfs: steady, load 0.9, slow programs",
		}},
		{decisionPage, "three tenants.* that costs " + figure + " where `penalty` costs " + figure, []string{fair + three, ours + three}},
	} {
		found := regexp.MustCompile(c.sentence).FindStringSubmatch(read(t, c.page))
		if found == nil {
			t.Errorf("%s does not have %q", c.page, c.sentence)
			continue
		}
		for i, row := range c.rows {
			r.told(t, c.page, found[i+1], row+": penalties, mean")
		}
	}
}

// TestWhatIsSaidOfTheExperiments: what the page of the paper says of E1 to E6 is what their
// reports have.
func TestWhatIsSaidOfTheExperiments(t *testing.T) {
	t.Parallel()
	const overall, bound = ": reduction of penalties over all points", "any order: most that an order can save that does not know service times"
	loop, event, atc := "loop"+overall, "event"+overall, "atc"+overall
	const four = `(\d+), (\d+), (\d+) and (\d+) %`
	mixed := []string{"sla-e3", "sla-e4", "sla-e5", "sla-e6"}
	alike := []string{"sla-e1", "sla-e2"}
	page := read(t, slaPage)
	for _, c := range []struct {
		sentence, row string
		experiments   []string
	}{
		{"the paper's loop reduces penalties by " + four, loop, mixed},
		{"the same order kept by events by " + four, event, mixed},
		{"it reduces penalties by " + four + " in E3 to E6", atc, mixed},
		{`can save about (\d+) % in E1 and (\d+) % in E2 at most`, bound, alike},
		{`"most that an order can save" has, (\d+) and (\d+) %`, bound, alike},
		{`(\d+) % by the loop`, loop, []string{"sla-e1"}},
		{`(\d+) % by the loop`, loop, []string{"sla-e2"}},
		{`by the loop, (\d+) to (\d+) % by events`, event, []string{"sla-e2", "sla-e1"}},
		{`Apparent tardiness cost has (\d+) % of it`, atc, []string{"sla-e1"}},
		{`Apparent tardiness cost has (\d+) % of it`, atc, []string{"sla-e2"}},
	} {
		found := regexp.MustCompile(c.sentence).FindStringSubmatch(page)
		if found == nil {
			t.Errorf("%s does not have %q", slaPage, c.sentence)
			continue
		}
		for i, name := range c.experiments {
			reportOf(t, slaPage, name).told(t, slaPage, found[i+1]+" %", c.row)
		}
	}
}

// TestWhereTheRecommendedOrderIsBest: the pages say in how many worlds the mean of penalty is
// the least of the eight orders', or within 5 % of it.
func TestWhereTheRecommendedOrderIsBest(t *testing.T) {
	t.Parallel()
	r := reportOf(t, slaPage, "sla-people")
	near, all := 0, 0
	for row := range r.ours {
		world, ok := strings.CutPrefix(row, "penalty: ")
		if !ok || !strings.HasSuffix(row, ": penalties, mean") {
			continue
		}
		var costs []float64
		for other := range r.ours {
			if order, found := strings.CutSuffix(other, ": "+world); found && order != "optimum" {
				costs = append(costs, r.of(t, other))
			}
		}
		if len(costs) != 8 {
			t.Errorf("%d orders in %q", len(costs), world)
		}
		if all++; r.of(t, row) <= 1.05*slices.Min(costs) {
			near++
		}
	}
	if near != 14 || all != 16 {
		t.Errorf("penalty is within 5 %% of the best in %d worlds of %d", near, all)
	}
	for page, words := range map[string]string{
		decisionPage: "sixteen worlds, and the least that three small ones can cost at all. Of eight orders `penalty` has the least mean, or one within 5 % of it, in fourteen of them",
		policiesPage: "the mean of `penalty` is the least of these, or within 5 % of it, in all of the worlds but two",
	} {
		if !strings.Contains(read(t, page), words) {
			t.Errorf("%s does not say: %s", page, words)
		}
	}
}

// TestWhatIsSaidOfTheSearch: the reason `all-alike` counts the worlds of sla-search as the
// report has them.
func TestWhatIsSaidOfTheSearch(t *testing.T) {
	t.Parallel()
	type counts struct{ worlds, whole, mean int }
	by := map[string]counts{}
	page := read(t, slaPage)
	for _, cells := range tableAfter(t, slaPage, "Made by `throng paper run sla-search ") {
		if cells[0] == "what" {
			continue
		}
		order, world, _ := strings.Cut(cells[0], ": ")
		mean, half, ok := strings.Cut(cells[3], " ± ")
		if !ok {
			t.Fatalf("%q has no interval", cells[0])
		}
		value, _ := number(t, mean)
		width, _ := number(t, half)
		key := world[:2] + ", " + order
		n := by[key]
		n.worlds++
		switch {
		case value-width >= 0.3:
			n.whole++
			if !strings.Contains(world, "k = 0, equal gaps") || strings.Contains(world, "F₀ = 16") {
				t.Errorf("%q is at 30 %% or above with the whole interval", cells[0])
			}
		case value >= 0.3:
			n.mean++
		}
		by[key] = n
	}
	for key, n := range by {
		if note := fmt.Sprintf("\n%s: of %d worlds the whole interval lies at 30 %% or above in %d, and the mean alone in %d; ", key, n.worlds, n.whole, n.mean); !strings.Contains(page, note) {
			t.Errorf("%s does not have:%s", slaPage, note)
		}
	}
	e1, e2, loop1, loop2 := by["E1, event"], by["E2, event"], by["E1, loop"], by["E2, loop"]
	if loop1 != (counts{e1.worlds, 0, 0}) || loop2 != loop1 || e2.worlds != e1.worlds {
		t.Errorf("the counts are %+v", by)
	}
	words := fmt.Sprintf("Of the %d worlds of sla-search `event` is at 30 %% or above with its whole interval in %d of E1 and %d of E2: those with equal gaps and k = 0 in which F₀ is at most 13. Its mean alone is there in %d and %d others, that of the paper's loop in none.",
		e1.worlds, e1.whole, e2.whole, e1.mean, e2.mean)
	if !strings.Contains(page, words) {
		t.Errorf("%s does not say: %s", slaPage, words)
	}
}

// TestCountsOfRows: docs/paper.md has the command and the counts of each report.
func TestCountsOfRows(t *testing.T) {
	t.Parallel()
	const page = "docs/paper.md"
	kinds := []string{"figure", "order", "claim", "ours", "fitted"}
	sums := make([][]int, len(kinds)+2) // rows, by kind, and those without a verdict
	text := func(list []int) string { return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", " / ") }
	list := tableAfter(t, page, "In each column of a kind:")
	for _, cells := range list[1:] {
		if cells[0] == "all" {
			for i, column := range sums {
				if cells[i+2] != text(column) {
					t.Errorf("%s: in all there are %s in column %d, not %s", page, text(column), i+1, cells[i+2])
				}
			}
			continue
		}
		file := regexp.MustCompile(`\((papers/\w+\.md)#`).FindStringSubmatch(cells[0])
		if file == nil {
			t.Fatalf("%s: %q links to no report", page, cells[0])
		}
		_, tally, ok := strings.Cut(read(t, "docs/"+file[1]), "\nMade by "+cells[1]+". ")
		if !ok {
			t.Errorf("docs/%s has no report made by %s", file[1], cells[1])
			continue
		}
		tally, _, _ = strings.Cut(tally, "\n")
		count := func(format string) []int {
			found := regexp.MustCompile("(?i)" + format).FindStringSubmatch(tally)
			var list []int
			for _, n := range found[min(1, len(found)):] {
				i, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, i)
			}
			return list
		}
		want := [][]int{count(`(\d+) rows\. `)}
		for _, k := range kinds {
			want = append(want, count(`[ ;]`+k+`: (\d+) reproduced, (\d+) differ, (\d+) imprecise`))
		}
		none := count(`(\d+) not simulatable, (\d+) not in the paper`)
		want = append(want, []int{none[0] + none[1]})
		for i, column := range want {
			if cells[i+2] != text(column) {
				t.Errorf("%s: %s has %s in column %d, the report %s", page, cells[0], cells[i+2], i+1, text(column))
			}
			for len(sums[i]) < len(column) {
				sums[i] = append(sums[i], 0)
			}
			for k, n := range column {
				sums[i][k] += n
			}
		}
	}
}
