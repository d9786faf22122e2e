package experiment

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	ours := Estimate{10, 9, 12}
	for _, c := range []struct {
		what string
		f    Figure
		want Verdict
	}{
		{"within the interval above", Figure{Value: 11.9}, Reproduced},
		{"beyond it", Figure{Value: 12.1}, Differs},
		{"within the interval below", Figure{Value: 9.1}, Reproduced},
		{"beyond it below, where it is narrower", Figure{Value: 8.5}, Differs},
		{"its own uncertainty is added in squares", Figure{Value: 13, Own: 2.3}, Reproduced},
		{"and not as it is", Figure{Value: 14, Own: 2.3}, Differs},
		{"half a unit of the last digit", Figure{Value: 12.4, Unit: 1}, Reproduced},
		{"no more than half of it", Figure{Value: 12.6, Unit: 1}, Differs},
		{"the same runs must agree", Figure{Value: 10.2, Same: true, Unit: 0.1}, Differs},
		{"to the digits that are printed", Figure{Value: 10.04, Same: true, Unit: 0.1}, Reproduced},
	} {
		if got := c.f.Judge(ours); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		sample []float64
		must   Side
		want   Verdict
		why    string
	}{
		{"all of it above", []float64{1, 1.1, 1.2, 0.9, 1}, Above(0), Reproduced, ""},
		{"too few to say", []float64{1, 1.1, 1.2, 0.9}, Above(0), Imprecise, "few-repetitions"},
		{"a NaN is no repetition", []float64{1, 1.1, 1.2, 0.9, math.NaN()}, Above(0), Imprecise, "few-repetitions"},
		{"not decided", []float64{1, -1, 2, -1.5, 1}, Above(0), Imprecise, "undecided"},
		{"not decided, the middle on the other side", []float64{-1, 1, -2, 1.5, -1}, Above(0), Imprecise, "undecided"},
		{"all of it below", []float64{-1, -1.1, -0.9, -1, -1}, Above(0), Differs, "a reason"},
		{"between", []float64{0.01, 0.02, 0.015, 0.01, 0.02}, Within(-0.05, 0.05), Reproduced, ""},
	} {
		r := Mean.Row("P", "figure", "s", c.sample).Claims("words", c.must, "§", "a reason")
		if r.Verdict != c.want || r.Why != c.why || r.Kind != OfClaim || r.NoVerdict != "" {
			t.Errorf("%s: %+v, want %s (%q)", c.what, r, c.want, c.why)
		}
	}
}

// Of an interval that ends where the words begin, a figure at its end is as they say: the claim is not
// decided. One that ends short of it differs.
func TestClaimAtTheEndOfAnInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		ours Estimate
		must Side
		want Verdict
		why  string
	}{
		{"its upper end is the least", Estimate{9, 8, 10}, Above(10), Imprecise, "undecided"},
		{"its upper end is short of the least", Estimate{9, 8, 9.99}, Above(10), Differs, "a reason"},
		{"its lower end is the least", Estimate{11, 10, 12}, Above(10), Reproduced, ""},
		{"its lower end is the most", Estimate{11, 10, 12}, Below(10), Imprecise, "undecided"},
		{"its lower end is beyond the most", Estimate{11, 10.01, 12}, Below(10), Differs, "a reason"},
		{"its upper end is the most", Estimate{9, 8, 10}, Below(10), Reproduced, ""},
		{"both ends of what is claimed lie in it", Estimate{10, 8, 12}, Within(9, 11), Imprecise, "undecided"},
	} {
		r := NewRow("P", "figure", "s", c.ours).Repeated(Mean, 20).Claims("words", c.must, "§", "a reason")
		if r.Verdict != c.want || r.Why != c.why {
			t.Errorf("%s: %s (%q), want %s (%q)", c.what, r.Verdict, r.Why, c.want, c.why)
		}
	}
}

// An interval wider than the published figure says nothing, wherever it lies.
func TestImprecise(t *testing.T) {
	t.Parallel()
	row := NewRow("P", "figure", "s", Estimate{10, 8, 12}).Repeated(Mean, 20)
	for _, c := range []struct {
		what string
		row  Row
		want Verdict
		why  string
		kind Kind
	}{
		{"narrower than the published figure", row.Against(Figure{Value: 11}, "§", "a reason"), Reproduced, "", OfFigure},
		{"wider, and on it", NewRow("P", "figure", "s", Estimate{3, 1, 6}).Repeated(Mean, 20).Against(Figure{Value: 4}, "§", "a reason"), Imprecise, "wide-interval", OfFigure},
		{"wider, and away from it", row.Against(Figure{Value: 3}, "§", "a reason"), Imprecise, "wide-interval, a reason", OfFigure},
		{"of a figure below 0", NewRow("P", "figure", "s", Estimate{-10, -12, -8}).Repeated(Mean, 20).Against(Figure{Value: -11}, "§", "a reason"), Reproduced, "", OfFigure},
		{"the published one's own is wider than it", NewRow("P", "figure", "s", Estimate{3, 2.9, 3.1}).Repeated(Mean, 20).Against(Figure{Value: 4, Own: 2.1}, "§", "a reason"), Imprecise, "wide-published", OfFigure},
		{"the published one's own is as wide as it", NewRow("P", "figure", "s", Estimate{3, 2.9, 3.1}).Repeated(Mean, 20).Against(Figure{Value: 4, Own: 2}, "§", "a reason"), Reproduced, "", OfFigure},
		{"the published one's own is wider than it, and away from ours", NewRow("P", "figure", "s", Estimate{9, 8.9, 9.1}).Repeated(Mean, 20).Against(Figure{Value: 4, Own: 2.1}, "§", "a reason"), Imprecise, "wide-published, a reason", OfFigure},
		{"both are wider", NewRow("P", "figure", "s", Estimate{3, 1, 6}).Repeated(Mean, 20).Against(Figure{Value: 4, Own: 2.1}, "§", "a reason"), Imprecise, "wide-interval", OfFigure},
		{"its own is wide, of the very same runs", NewRow("P", "figure", "s", Estimate{4, 3, 6}).Repeated(Mean, 20).Against(Figure{Value: 4, Own: 2.1, Same: true}, "§", "a reason"), Reproduced, "", OfFigure},
		{"the very same runs", row.Against(Figure{Value: 3, Same: true}, "§", "a reason"), Differs, "a reason", OfFigure},
		{"at least", row.AtLeast(7, "§", "a reason"), Reproduced, "", OfOurs},
		{"at least, too wide", row.AtLeast(3, "§", "a reason"), Imprecise, "wide-interval", OfOurs},
		{"a count has no repetitions", NewRow("P", "figure", "", Estimate{3, 3, 3}).Claims("words", Above(0), "§", "a reason"), Reproduced, "", OfClaim},
		{"an ordering", row.Orders("words", Below(0), "§", "a reason"), Differs, "a reason", OfOrder},
		{"fitted", row.Against(Figure{Value: 11}, "§", "a reason").As(OfFitted), Reproduced, "", OfFitted},
		{"five of a median", Median.Row("P", "figure", "s", []float64{1, 1, 1, 1, 1}).Claims("words", Above(0), "§", "a reason"), Imprecise, "few-repetitions", OfClaim},
		{"no figure", NewRow("P", "figure", "s", Estimate{math.NaN(), 1, 2}).Repeated(Mean, 20).Claims("words", Above(0), "§", "a reason"), Imprecise, "few-repetitions", OfClaim},
		{"a figure without end", NewRow("P", "figure", "s", Estimate{math.Inf(1), 1, math.Inf(1)}).Repeated(Mean, 20).Against(Figure{Value: 9}, "§", "a reason"), Imprecise, "few-repetitions", OfFigure},
		{"an interval without end", NewRow("P", "figure", "s", Estimate{10, 9, math.Inf(1)}).Repeated(Mean, 20).Against(Figure{Value: 11}, "§", "a reason"), Imprecise, "wide-interval", OfFigure},
		{"six of a median", Median.Row("P", "figure", "s", []float64{1, 1, 1, 1, 1, 1}).Claims("words", Above(0), "§", "a reason"), Reproduced, "", OfClaim},
	} {
		if c.row.Verdict != c.want || c.row.Why != c.why || c.row.Kind != c.kind {
			t.Errorf("%s: %+v, want %s (%q) of kind %s", c.what, c.row, c.want, c.why, c.kind)
		}
	}
	alone := row.As(OfFitted)
	if alone.Kind != "" || alone.NoVerdict != NotInPaper {
		t.Errorf("what compares nothing has a kind: %+v", alone)
	}
	for want, r := range map[string]Row{
		AgreesWithStandIn: row.Against(Figure{Value: 11}, "§", "a reason").StandIn(),
		"a reason":        row.Against(Figure{Value: 20}, "§", "a reason").StandIn(),
		"wide-interval":   NewRow("P", "figure", "s", Estimate{10, -20, 40}).Repeated(Mean, 20).Against(Figure{Value: 9}, "§", "a reason").StandIn(),
	} {
		if r.Kind != "" || r.Verdict != "" || r.NoVerdict != NotInPaper || r.Why != want || r.Published.Missing() {
			t.Errorf("a stand-in: %+v", r)
		}
	}
}

// A row shows, and tells programs, the published figure's own interval that its verdict took account
// of, and none where it is not known or chance has no part.
func TestPublishedInterval(t *testing.T) {
	t.Parallel()
	row := NewRow("P", "figure", "s", Estimate{10, 8, 12}).Repeated(Mean, 20)
	for want, r := range map[string]Row{
		"11.0 ± 2.50": row.Against(Figure{Value: 11, Own: 2.5}, "§", ""), "11.0": row.Against(Figure{Value: 11}, "§", ""),
		"10.0": row.Against(Figure{Value: 10, Own: 2.5, Same: true}, "§", ""), "words": row.Claims("words", Above(0), "§", ""),
	} {
		if got := r.published(); got != want {
			t.Errorf("%+v shows %q, want %q", r, got, want)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		told := "\"published_ci95\":null,"
		if want == "11.0 ± 2.50" {
			told = "\"published_ci95\":2.5,"
		}
		csv := (&Result{Rows: []Row{r}}).CSV()
		if !strings.Contains(string(data), told) || strings.Contains(string(csv), ",2.5,") != strings.Contains(want, "±") {
			t.Errorf("%s and %s, want %s", data, csv, told)
		}
	}
}

// What a row shows of its figure, by what is known of the interval.
func TestOurs(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Estimate{
		"10.0 ± 2.00 s": {10, 8, 12}, "10.0 s": {10, math.NaN(), math.NaN()}, "10.0, from 8.00 without end s": {10, 8, math.Inf(1)}, "": {math.Inf(1), 8, math.Inf(1)},
	} {
		r := NewRow("P", "figure", "s", e)
		if got := r.ours(); got != want {
			t.Errorf("%+v shows %q, want %q", e, got, want)
		}
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	row := NewRow("P", "figure", "s", Estimate{10, 8, 12})
	r := Result{Rows: []Row{row, row.NotSimulatable("words", "why", "§"), row.Against(Figure{Value: 11}, "§", ""), row.Against(Figure{Value: 20}, "§", ""),
		row.Orders("words", Above(9), "§", ""), row.AtLeast(9, "§", "")}}
	const want = "6 rows. Figure: 1 reproduced, 1 differ, 0 imprecise; order: 0 reproduced, 0 differ, 1 imprecise; ours: 0 reproduced, 0 differ, 1 imprecise; without a verdict: 1 not simulatable, 1 not in the paper."
	if got := r.Tally(); got != want {
		t.Errorf("%s", got)
	}
}

// The median of ten figures: 2nd and 9th hold it with 97.9 %, 3rd and 8th with
// 89.1 % only (binomial table, n = 10). That of eight: 2nd and 7th hold it with 93.0 %.
func TestMedianInterval(t *testing.T) {
	t.Parallel()
	got := Median.Of([]float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5, math.NaN()})
	if want := (Estimate{5.5, 2, 9}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := Median.Of([]float64{1, 2, 3, 4, 5, 6, 7, 8}), (Estimate{4.5, 1, 8}); got != want {
		t.Errorf("of eight: got %v, want %v", got, want)
	}
}

// TestOneFigureHasNoInterval: it is not taken for exactly known.
func TestOneFigureHasNoInterval(t *testing.T) {
	t.Parallel()
	sample := []float64{math.NaN(), 10}
	for _, f := range []Figure{{Value: 10, Unit: 0.1}, {Value: 10.5, Own: 1}, {Value: 12, Own: 1}} {
		r := Mean.Row("P", "figure", "s", sample).Against(f, "§", "a reason")
		if r.Verdict != Imprecise || r.Why != "few-repetitions" || !r.CI95.Missing() || !r.Low.Missing() || !r.High.Missing() {
			t.Errorf("%+v: %+v", f, r)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
}

func TestMissingNumbersAreNull(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(Row{Name: "x", Published: Missing, Ours: 1.5, CI95: Number(math.Inf(1))})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back["published"] != nil || back["ci95"] != nil || back["ours"] != 1.5 {
		t.Errorf("%s", data)
	}
}
