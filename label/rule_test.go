package label

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
)

var task = crowd.BatchID(17).Task(5)

func TestDecide(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule    Rule
		answers string // one letter each
		live    int
		want    Decision
	}{
		{Count(3), "", 0, Decision{Want: 3}},
		{Count(3), "a", 0, Decision{Want: 3, Label: "a", Confidence: 1}},
		{Count(3), "aa", 1, Decision{Want: 3, Label: "a", Confidence: 1}},
		{Count(3), "aab", 0, Decision{Enough: true, Want: 3, Label: "a", Confidence: 2. / 3}},
		{Count(3), "baa", 0, Decision{Enough: true, Want: 3, Label: "a", Confidence: 2. / 3}},
		{Count(1), "a", 0, Decision{Enough: true, Want: 1, Label: "a", Confidence: 1}},
		{Count(2), "abb", 0, Decision{Enough: true, Want: 3, Label: "b", Confidence: 2. / 3}}, // a late one counted too
		{Count(3), "aa", 5, Decision{Want: 3, Label: "a", Confidence: 1}},

		{Agree(2, 3), "", 0, Decision{Want: 2}},
		{Agree(2, 3), "a", 1, Decision{Want: 2, Label: "a", Confidence: 1}},
		{Agree(2, 3), "aa", 0, Decision{Enough: true, Want: 2, Label: "a", Confidence: 1}},
		{Agree(2, 3), "aba", 0, Decision{Enough: true, Want: 3, Label: "a", Confidence: 2. / 3}},
		{Agree(3, 5), "aabb", 0, Decision{Want: 5, Label: tied("a", "b"), Confidence: .5, Tie: true}},
		{Agree(3, 5), "aab", 0, Decision{Want: 4, Label: "a", Confidence: 2. / 3}},
		{Agree(3, 5), "aab", 1, Decision{Want: 4, Label: "a", Confidence: 2. / 3}}, // one is on its way already
		{Agree(3, 5), "aab", 2, Decision{Want: 5, Label: "a", Confidence: 2. / 3}}, // two are, a late one having counted
		{Agree(3, 5), "aab", 9, Decision{Want: 5, Label: "a", Confidence: 2. / 3}},
		{Agree(3, 5), "aabbc", 0, Decision{Enough: true, Want: 5, Label: tied("a", "b"), Confidence: .4, Tie: true, Undecided: true}},
		{Agree(3, 5), "aabcd", 0, Decision{Enough: true, Want: 5, Label: "a", Confidence: .4, Undecided: true}},
		{Agree(1, 4), "b", 0, Decision{Enough: true, Want: 1, Label: "b", Confidence: 1}},
		{Agree(2, 5), "abbaa", 0, Decision{Enough: true, Want: 5, Label: "b", Confidence: 2. / 3}}, // b was there first
		{Agree(2, 2), "ab", 0, Decision{Enough: true, Want: 2, Label: tied("a", "b"), Confidence: .5, Tie: true, Undecided: true}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s: %q, %d live", tt.rule, tt.answers, tt.live), func(t *testing.T) {
			t.Parallel()
			if err := tt.rule.Validate(); err != nil {
				t.Fatal(err)
			}
			got := tt.rule.Decide(task, letters(tt.answers), tt.live)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func letters(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "")
}

// tied is the label that a tie of a and b gets on the task of these tests.
func tied(a, b string) string {
	if seedOf(task.String()).wins(a, b) {
		return a
	}
	return b
}

var (
	anyRule = rapid.Custom(func(t *rapid.T) Rule {
		n := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(30, 60)).Draw(t, "n")
		if rapid.Bool().Draw(t, "count") {
			return Count(n)
		}
		return Agree(rapid.IntRange(1, n).Draw(t, "k"), n)
	})
	anyAnswers = rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 1, 2, -1), 0, 70)
)

// decideSpec is Rule.Decide written for clarity only.
func decideSpec(r Rule, task crowd.TaskID, answers []string) (enough bool, label string, tie bool) {
	votes := map[string]int{}
	for _, a := range answers {
		votes[a]++
		if r.kind == agreeRule && votes[a] == r.Fewest() {
			return true, a, false
		}
	}
	for a, c := range votes {
		switch {
		case c > votes[label] || votes[label] == 0:
			label = a
		case c == votes[label] && seedOf(task.String()).wins(a, label):
			label = a
		}
	}
	for a, c := range votes {
		tie = tie || a != label && c == votes[label]
	}
	return len(answers) >= r.Most(), label, tie
}

func TestDecideFollowsTheSpecification(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, answers := anyRule.Draw(t, "rule"), anyAnswers.Draw(t, "answers")
		live := rapid.IntRange(0, 5).Draw(t, "live")
		id := crowd.BatchID(rapid.IntRange(1, crowd.MaxBatchID).Draw(t, "batch")).Task(rapid.Uint32Min(1).Draw(t, "task"))
		got := r.Decide(id, answers, live)
		enough, label, tie := decideSpec(r, id, answers)
		if got.Enough != enough || got.Label != label || got.Tie != tie {
			t.Fatalf("%s decides %+v, want enough %v, label %q, tie %v", r, got, enough, label, tie)
		}
		if got.Want < len(answers) || got.Want > max(len(answers), r.Most()) {
			t.Fatalf("%s wants %d with %d answers", r, got.Want, len(answers))
		}
		if !enough && live+len(answers) <= r.Most() && got.Want < live+len(answers) {
			t.Fatalf("%s wants %d, fewer than the %d answers and %d live", r, got.Want, len(answers), live)
		}
		if !enough && live == 0 && got.Want == len(answers) {
			t.Fatalf("%s is stuck: not enough, and nothing more wanted", r)
		}
		if got.Confidence < 0 || got.Confidence > 1 || (got.Confidence > 0) != (len(answers) > 0) {
			t.Fatalf("%s: confidence %v of %d answers", r, got.Confidence, len(answers))
		}
		if got.Undecided && (!got.Enough || r.kind != agreeRule) {
			t.Fatalf("%s: undecided in %+v", r, got)
		}
	})
}

// A task's life as the engine leads it: as many assignments as are wanted are
// always out, answers come in one at a time.
func TestTaskStopsAsSoonAsItMay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := anyRule.Draw(t, "rule")
		next := rapid.SampledFrom([]string{"a", "b", "c"})
		var answers []string
		planned := r.Decide(task, nil, 0).Want
		if planned != r.Fewest() {
			t.Fatalf("%s starts with %d, want %d", r, planned, r.Fewest())
		}
		for {
			live := planned - len(answers) - 1
			answers = append(answers, next.Draw(t, "answer"))
			d := r.Decide(task, answers, live)
			if want, _, _ := decideSpec(r, task, answers); d.Enough != want {
				t.Fatalf("%s after %q: enough is %v, want %v", r, answers, d.Enough, want)
			}
			if d.Enough {
				break
			}
			if d.Want < planned || d.Want > planned+1 || d.Want > r.Most() {
				t.Fatalf("%s after %q: planned goes from %d to %d", r, answers, planned, d.Want)
			}
			if d.Want > planned && live > 0 {
				t.Fatalf("%s after %q: one more is wanted while %d are out", r, answers, live)
			}
			planned = d.Want
		}
		if len(answers) < r.Fewest() || len(answers) > r.Most() {
			t.Fatalf("%s took %d answers", r, len(answers))
		}
	})
}

// Capped to n people, a rule decides as ever on fewer than n answers, wants no
// more than n, and is done at n.
func TestCapped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, answers := anyRule.Draw(t, "rule"), anyAnswers.Draw(t, "answers")
		n := rapid.IntRange(1, 70).Draw(t, "people")
		answers = answers[:min(n, len(answers))]
		plain, capped := r.Decide(task, answers, 0), r.Capped(n).Decide(task, answers, 0)
		if len(answers) < n {
			plain.Want = min(plain.Want, n)
		} else if !plain.Enough {
			plain.Enough, plain.Want, plain.Undecided = true, n, r.kind == agreeRule
		}
		if diff := cmp.Diff(plain, capped); diff != "" {
			t.Fatalf("%s capped to %d after %q (-want +got):\n%s", r, n, answers, diff)
		}
	})
}

func TestDecideAllocatesNothing(t *testing.T) {
	for _, r := range []Rule{Count(5), Agree(3, 5)} {
		answers := []string{"yes", "no", "maybe", "no", "yes"}
		if n := testing.AllocsPerRun(100, func() { r.Decide(task, answers, 0) }); n != 0 {
			t.Errorf("%s: %v allocations, want 0", r, n)
		}
	}
}

func TestRuleRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule  Rule
		field string
	}{
		"no rule":                  {Rule{}, "redundancy"},
		"no answers":               {Count(0), "count"},
		"fewer than none":          {Count(-5), "count"},
		"too many answers":         {Count(MaxAnswers + 1), "count"},
		"far too many answers":     {Count(1 << 40), "count"},
		"agreement of none":        {Agree(0, 3), "agree"},
		"agreement of fewer":       {Agree(-1, 3), "agree"},
		"agreement out of none":    {Agree(1, 0), "of"},
		"agreement out of many":    {Agree(1, MaxAnswers+1), "of"},
		"agreement of more than n": {Agree(4, 3), "agree"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *crowd.Error
			if err := tt.rule.Validate(); !errors.As(err, &e) || e.Code != crowd.Invalid || e.Field != tt.field {
				t.Errorf("error %v, want an invalid %q", err, tt.field)
			}
			if out, err := json.Marshal(tt.rule); err == nil {
				t.Errorf("it is written as %s", out)
			}
		})
	}
	for _, r := range []Rule{Count(1), Count(MaxAnswers), Agree(1, 1), Agree(MaxAnswers, MaxAnswers)} {
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", r, err)
		}
	}
}

func TestRuleJSON(t *testing.T) {
	t.Parallel()
	const forms = `a rule is {"count": n}, {"agree": k, "of": n} or {"until": 0.99, "min": 2, "at_most": 10}`
	tests := map[string]struct {
		want Rule
		err  string
	}{
		`{"count":3}`:                    {want: Count(3)},
		` { "of" : 3 , "agree" : 2 } `:   {want: Agree(2, 3)},
		`null`:                           {},
		`{}`:                             {err: "redundancy: no rule is given: " + forms},
		`3`:                              {err: "redundancy: this is no rule: " + forms},
		`[3]`:                            {err: "redundancy: this is no rule: " + forms},
		`{"count":3,"of":5}`:             {err: "count: goes alone: " + forms},
		`{"agree":2}`:                    {err: "of: is missing: " + forms},
		`{"of":2}`:                       {err: "agree: is missing: " + forms},
		`{"Count":3}`:                    {err: "Count: is not known here: " + forms},
		`{"confidence":0.9}`:             {err: "confidence: is not known here: " + forms},
		`{"count":3,"count":4}`:          {err: "count: is given twice"},
		`{"count":"3"}`:                  {err: "count: must be a whole number between 1 and 1000"},
		`{"count":2.5}`:                  {err: "count: must be a whole number between 1 and 1000"},
		`{"count":null}`:                 {err: "count: must be a whole number between 1 and 1000"},
		`{"count":{"of":3}}`:             {err: "count: must be a whole number between 1 and 1000"},
		`{"count":99999999999999999999}`: {err: "count: must be a whole number between 1 and 1000"},
		`{"count":1001}`:                 {err: "count: must be between 1 and 1000"},
		`{"agree":4,"of":3}`:             {err: "agree: must not be more than of: 4 of 3 can never agree"},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var got Rule
			err := json.Unmarshal([]byte(text), &got)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err || crowd.CodeOf(err) != crowd.Invalid || got != (Rule{}) {
					t.Errorf("got %v, error %q; want error %q", got, err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %v, error %v; want %v", got, err, tt.want)
			}
		})
	}
}

func FuzzRuleJSON(f *testing.F) {
	for _, s := range []string{`{"count":3}`, `{"agree":2,"of":3}`, `{"count":3,"of":1}`, `{"until":0.99,"min":2,"at_most":10,"classes":3}`, `{"until":1e-5}`, `{"count":-1}`, `{"count":1e3}`, `null`, `{`, `{"count":3}}`, `{"count":3} 4`, `[]`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Rule
		if err := r.UnmarshalJSON(data); err != nil {
			if crowd.CodeOf(err) != crowd.Invalid || r != (Rule{}) {
				t.Fatalf("error %v leaves %v", err, r)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON and is read as %v", data, r)
		}
		if r == (Rule{}) {
			return // null
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("%q is read as %v: %v", data, r, err)
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again Rule
		if err := json.Unmarshal(out, &again); err != nil || again != r {
			t.Fatalf("%v is written as %s and read as %v, %v", r, out, again, err)
		}
	})
}

// TestAsksAtLeast: a label may stand for that of a rule that asks for no more.
func TestAsksAtLeast(t *testing.T) {
	t.Parallel()
	until := Until(0.9, 2, 5)
	for _, x := range []struct {
		was, is Rule
		want    bool
	}{
		{Count(3), Count(3), true},
		{Count(5), Count(3), true},
		{Count(1), Count(3), false},
		{Count(3).WithMedian(true), Count(3).WithMedian(true), true},
		{Count(5).WithMedian(true), Count(3), false},
		{Count(5), Count(3).WithMedian(true), false},

		{Agree(2, 3), Agree(2, 3), true},
		{Agree(3, 5), Agree(2, 3), true},
		{Agree(3, 4), Agree(2, 5), false}, // gives up before
		{Agree(2, 5), Agree(3, 5), false},
		{Agree(2, 5), Count(2), true},
		{Agree(2, 5), Count(3), false},
		{Agree(4, 5), Agree(2, 4), true},
		{Agree(4, 4), Agree(3, 4), true},
		{Until(0.8, 5, 9), until, true},
		{Count(3), Agree(2, 3), true},
		{Count(2), Agree(2, 3), false}, // two that differ would want a third

		{until, until, true},
		{Until(0.95, 3, 6), until, true},
		{Until(0.8, 2, 5), until, false},
		{Until(0.9, 1, 5), until, false},
		{Until(0.9, 2, 4), until, false},
		{until.WithClasses(2), until, false},
		{until.WithAccuracy(0.9), until, false},
		{until.WithAccuracy(0.9), until.WithAccuracy(0.9), true},
		{Count(5), until, true}, // all that it would ever ask
		{Count(4), until, false},
		{Agree(5, 9), until, true},
		{Agree(4, 9), until, false},
		{until, Count(2), true}, // what each of its labels has
		{until, Count(3), false},
		{until, Agree(1, 2), true},
		{until, Agree(2, 3), false},
	} {
		if got := x.was.AsksAtLeast(x.is); got != x.want {
			t.Errorf("%s asks for at least as much as %s: %t, want %t", x.was, x.is, got, x.want)
		}
	}
}

// TestSatisfied: which labels a rule would have made.
func TestSatisfied(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		rule       Rule
		answers    int
		confidence float64
		want       bool
	}{
		{Count(3), 2, 1, false},
		{Count(3), 3, 1.0 / 3, true},
		{Agree(2, 3), 1, 1, false},
		{Agree(2, 3), 2, 0.5, false},
		{Agree(2, 3), 2, 1, true},
		{Agree(2, 3), 3, 1.0 / 3, true},
		{Agree(3, 9), 7, 3.0 / 7, true},
		{Until(0.9, 2, 5), 1, 0.99, false},
		{Until(0.9, 2, 5), 2, 0.89, false},
		{Until(0.9, 2, 5), 2, 0.9, true},
		{Until(0.9, 2, 5), 5, 0.5, true},
	} {
		if got := x.rule.Satisfied(x.answers, x.confidence); got != x.want {
			t.Errorf("%s is satisfied by %d answers, %g of them or sure: %t, want %t", x.rule, x.answers, x.confidence, got, x.want)
		}
	}
}
