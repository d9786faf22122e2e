package pool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/instant"
)

func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	one := func(when, do string) Settings { return Settings{Rules: []Rule{{"queue > 1", "recruit 1"}, {when, do}}} }
	cases := []struct {
		s       Settings
		field   string
		message string
	}{
		{Settings{Elasticity: "ctp"}, "elasticity", `did you mean "ct-p"?`},
		{Settings{Elasticity: "zebra"}, "elasticity", "known: static, rules"},
		{Settings{Elasticity: "ct-p(kp=1"}, "elasticity", "lacks its )"},
		{Settings{Elasticity: "ct-p(kp=1)x"}, "elasticity", `"x" is left over`},
		{Settings{Elasticity: "ct-p(kp=-1)"}, "elasticity", "kp=0 to 1000"},
		{Settings{Elasticity: "ct-p(kp=NaN)"}, "elasticity", "kp=0 to 1000"},
		{Settings{Elasticity: "ct-p(kp=Inf)"}, "elasticity", "kp=0 to 1000"},
		{Settings{Elasticity: "ct-p(kp)"}, "elasticity", `option=value, not "kp"`},
		{Settings{Elasticity: "ct-p(kp=1,kp=2)"}, "elasticity", "kp twice"},
		{Settings{Elasticity: "ct-p(gain=1)"}, "elasticity", `no option "gain": it has kp, ki, kd, coming`},
		{Settings{Elasticity: "ct-p()"}, "elasticity", "a name is missing"},
		{Settings{Elasticity: "rules(n=1)"}, "elasticity", "it has none"},
		{Settings{Elasticity: "static(n=1.5)"}, "elasticity", "whole number"},
		{Settings{Elasticity: "static(n=-1)"}, "elasticity", "n=0 to 100000"},
		{Settings{Elasticity: "ct-p(coming=2)"}, "elasticity", "coming=0 to 1"},
		{Settings{Elasticity: strings.Repeat("x", maxForm+1)}, "elasticity", "at most 200 characters"},
		{Settings{Elasticity: "hybrid"}, "elasticity", "there is no"},
		{Settings{Stability: "hybird"}, "stability", `did you mean "hybrid"?`},
		{Settings{Stability: "average-rate(window=60)"}, "stability", "window=1s to 24h0m0s"},
		{Settings{Stability: "average-rate(window=0s)"}, "stability", "window=1s to 24h0m0s"},
		{Settings{Stability: "rule(n=0)"}, "stability", "n=1 to 100000"},
		{Settings{Elasticity: "rules"}, "rules", "needs a rule"},
		{Settings{Rules: make([]Rule, MaxRules+1)}, "rules", "at most 50"},
		{one("queue > 10 || cstar > 5", "recruit 1"), "rules", `rule 2, "when", column 15: there is no "cstar"; did you mean "c_star"?`},
		{one("queue >\n 10 && qeue", "recruit 1"), "rules", `rule 2, "when", line 2, column 8`},
		{one("queue + 1", "recruit 1"), "rules", "true or false"},
		{one("queue > 1", ""), "rules", `rule 2, "do", column 1: write "recruit 1"`},
		{one("queue > 1", " hire 3"), "rules", `rule 2, "do", column 2`},
		{one("queue > 1", "recuit 3"), "rules", `did you mean "recruit"?`},
		{one("queue > 1", "recruit"), "rules", "1 to 100000"},
		{one("queue > 1", "recruit 0"), "rules", `column 9: recruit takes a number`},
		{one("queue > 1", "release -1"), "rules", "1 to 100000"},
		{one("queue > 1", "release 1.5"), "rules", "1 to 100000"},
		{one("queue > 1", "recruit 1 person now"), "rules", `column 11: "person now" is left over after "recruit 1"`},
		{one("queue > 1", "transfer 3"), "rules", `write "transfer 3 from POOL"`},
		{one("queue > 1", "transfer 3 to x"), "rules", `column 12`},
		{one("queue > 1", "transfer 3 from "), "rules", `the name of the pool`},
		{one("queue > 1", "transfer 3 from ''"), "rules", `the name of the pool`},
		{Settings{Min: -1}, "min", "0 to 100000"},
		{Settings{Min: MaxPeople + 1}, "min", "0 to 100000"},
		{Settings{Max: -1}, "max", "0 (no limit)"},
		{Settings{Max: MaxPeople + 1}, "max", "0 (no limit)"},
		{Settings{Min: 3, Max: 2}, "max", "at least min, 3, not 2"},
		{Settings{Cooldown: -1}, "cooldown", "0 to 24h"},
		{Settings{LeastPreference: -0.1}, "least_preference", "0 (anybody is called) to 1, not -0.1"},
		{Settings{LeastPreference: math.NaN()}, "least_preference", "0 (anybody is called) to 1, not NaN"},
		{Settings{Cooldown: 25 * time.Hour}, "cooldown", "0 to 24h"},
		{Settings{Window: time.Millisecond}, "window", "1s to 24h"},
		{Settings{Window: 25 * time.Hour}, "window", "1s to 24h"},
		{Settings{Target: Target{Eta: 1}}, "target.eta", "below 1"},
		{Settings{Target: Target{Eta: math.NaN()}}, "target.eta", "below 1"},
		{Settings{Target: Target{Salary: -1}}, "target.salary", "above 0"},
		{Settings{Target: Target{Salary: math.Inf(1)}}, "target.salary", "above 0"},
		{Settings{Target: Target{Wait: -1}}, "target.wait", "0 (none)"},
		{Settings{Target: Target{Wait: 1, Tail: 1}}, "target.tail", "below 1"},
		{Settings{Target: Target{Tail: 0.1}}, "target.tail", "needs target.wait"},
		{Settings{Expect: Expect{TaskTime: -1}}, "expect.task_time", "0 (not known)"},
	}
	for _, c := range cases {
		err := c.s.Validate()
		var e *crowd.Error
		if !errors.As(err, &e) || e.Code != crowd.Invalid || e.Field != c.field || !strings.Contains(e.Message, c.message) {
			t.Errorf("%+v: %v, want %s: ...%s", c.s, err, c.field, c.message)
			continue
		}
		if _, err := New(c.s); err == nil {
			t.Errorf("New takes %+v", c.s)
		}
		var place *RuleError
		if strings.Contains(e.Message, "column") && (!errors.As(err, &place) || place.Rule != 2 || place.Line < 1 || place.Column < 1 || place.Message == "") {
			t.Errorf("%v has no place", err)
		}
	}
}

func TestFormsReadTheirOwnText(t *testing.T) {
	t.Parallel()
	n := 0
	for _, list := range [][]law{elasticities, stabilities} {
		for _, f := range list {
			s, err := parseForm("x", f.Name, list)
			if err != nil || s.String() != f.Name || f.Doc == "" {
				t.Fatalf("%s: %v, %q", f.Name, err, s.String())
			}
			for _, o := range f.Options {
				if o.Doc == "" || o.Default != notGiven && (o.Default < o.Least || o.Default > o.Most) {
					t.Errorf("%s: %+v", f.Name, o)
				}
				value := o.Most
				if o.Default == o.Most {
					value = o.Least
				}
				text := strconv.FormatFloat(value, 'f', -1, 64)
				if o.Unit == "s" {
					text = instant.Seconds(value).String()
				}
				text = f.Name + "(" + o.Name + "=" + text + ")"
				changed, err := parseForm("x", text, list)
				if err != nil || changed.options[o.Name] != value || changed.String() != text {
					t.Errorf("%s: %v, %v, %s", text, err, changed.options, changed.String())
				}
				changed.options[o.Name] = o.Default
				if !reflect.DeepEqual(changed.options, s.options) {
					t.Errorf("%s changes more than %s: %v, want %v", text, o.Name, changed.options, s.options)
				}
				n++
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d options were looked at", n)
	}
	for text, want := range map[string]string{
		"": "static", " static ( n = 20 ) ": "static(n=20)", "ct-p(kp=0.5,coming=1)": "ct-p", "ct-t(kd=1e-2,kp=2)": "ct-t(kp=2,kd=0.01)",
	} {
		if s, err := parseElasticity(text); err != nil || s.String() != want {
			t.Errorf("%q: %q, %v", text, s.String(), err)
		}
	}
	if s, err := parseStability("hybrid(window=2m)"); err != nil || s.String() != "hybrid(window=2m0s)" {
		t.Error(s.String(), err)
	}
}

// TestNamesAreTheMetrics: every field of Metrics has a name, in its order, and
// the other way round, but for on_duty, which is Workers where "workers" is Own.
func TestNamesAreTheMetrics(t *testing.T) {
	t.Parallel()
	metrics := reflect.TypeFor[Metrics]()
	names := slices.DeleteFunc(Names(), func(n condition.Name) bool { return n.Name == "on_duty" })
	if len(names) != metrics.NumField() || len(names) == 0 {
		t.Fatalf("%d names, %d fields", len(names), metrics.NumField())
	}
	var m Metrics
	v := reflect.ValueOf(&m).Elem()
	for i := range names {
		if v.Field(i).CanInt() {
			v.Field(i).SetInt(int64(i + 1))
		} else {
			v.Field(i).SetFloat(float64(i + 1))
		}
	}
	values := m.values()
	for i, n := range names {
		tag, _, _ := strings.Cut(metrics.Field(i).Tag.Get("json"), ",")
		want := float64(i + 1)
		if n.Name == "workers" { // rules go by the people of the pool, as the controllers do
			want = float64(m.Own())
		}
		if n.Name != tag || n.Doc == "" || values[n.Name] != want {
			t.Errorf("%s: json %q, value %v, %q", n.Name, tag, values[n.Name], n.Doc)
		}
	}
}

func TestCheckRulesKnowsPools(t *testing.T) {
	t.Parallel()
	pools := func(name string) (crowd.PoolID, bool) { return 3, name == "search relevance" }
	for do, ok := range map[string]bool{
		"transfer 3 from search relevance": true, `transfer 3 from "search relevance"`: true, "transfer 3 from 'search relevance' ": true,
		"transfer 3 from search": false, "transfer 3 from Search relevance": false, "recruit 1": true, "  release\t2 ": true,
	} {
		err := CheckRules([]Rule{{"queue > 1", do}}, 2, pools)
		if (err == nil) != ok {
			t.Errorf("%s: %v", do, err)
		}
		if err != nil && !strings.Contains(err.Error(), `column 17: there is no pool "`) {
			t.Error(err)
		}
	}
}

// TestARuleTakesNobodyFromItsOwnPool: it would move nobody. Rules of several pools may name
// one of these.
func TestARuleTakesNobodyFromItsOwnPool(t *testing.T) {
	t.Parallel()
	rules := []Rule{{"queue > 1", "transfer 1 from 'main'"}}
	pools := func(name string) (crowd.PoolID, bool) { return 3, name == "main" }
	err := CheckRules(rules, 3, pools)
	if err == nil || !strings.Contains(err.Error(), `column 17: "main" is the pool itself`) {
		t.Errorf("a rule of main: %v", err)
	}
	for _, of := range []crowd.PoolID{0, 2} {
		if err := CheckRules(rules, of, pools); err != nil {
			t.Errorf("a rule of %s: %v", of, err)
		}
	}
}

func TestAllErrorsOfRulesAtOnce(t *testing.T) {
	t.Parallel()
	err := CheckRules([]Rule{{"queue > 1", "recruit 1"}, {"cstar > 2", "recruit many"}, {"1/0 > 2", "release 1"}, {"queue > 3", "transfer 1 from nowhere"}},
		1, func(string) (crowd.PoolID, bool) { return 0, false })
	var list crowd.Errors
	if !errors.As(err, &list) {
		t.Fatalf("%v", err)
	}
	var got []string
	for _, e := range list {
		var r *RuleError
		if e.Code != crowd.Invalid || e.Field != "rules" || !errors.As(e, &r) {
			t.Fatalf("%+v", e)
		}
		got = append(got, fmt.Sprintf("%d %s %d", r.Rule, r.Part, r.Column))
	}
	if want := []string{"2 when 1", "2 do 9", "3 when 3", "4 do 17"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheRulesOfTheDocument(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/pools.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	table := "| name | unit | what it is |\n| --- | --- | --- |\n"
	for _, n := range Names() {
		table += fmt.Sprintf("| `%s` | %s | %s |\n", n.Name, cmp.Or(n.Unit, string(n.Type)), n.Doc)
	}
	if !strings.Contains(text, table) {
		t.Errorf("docs/pools.md lacks the table of the metrics as it is:\n%s", table)
	}
	for _, list := range [][]law{elasticities, stabilities} {
		for _, f := range list {
			if !strings.Contains(text, "| `"+f.Name+"`") {
				t.Errorf("docs/pools.md lacks a row of %s", f.Name)
			}
		}
	}
	rules := 0
	for line := range strings.Lines(text) {
		when, do, ok := strings.Cut(strings.TrimSpace(line), "` → `")
		if !ok {
			continue
		}
		_, when, _ = strings.Cut(when, "`")
		do, _, _ = strings.Cut(do, "`")
		if err := CheckRules([]Rule{{when, do}}, 0, func(string) (crowd.PoolID, bool) { return 1, true }); err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(line), err)
		}
		rules++
	}
	if rules < 5 {
		t.Errorf("only %d rules were looked at", rules)
	}
}

func TestSettingsAsJSON(t *testing.T) {
	t.Parallel()
	s := Settings{Elasticity: "rules", Stability: "hybrid", Balance: true, Rules: []Rule{{"queue > 1", "recruit 1"}}, Target: Target{Wait: time.Second, Tail: 0.1}, Expect: Expect{TaskTime: time.Second}, Min: 1, Max: 2, Cooldown: time.Minute, Window: time.Hour, Advise: true, LeastPreference: 0.6}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again Settings
	if err := json.Unmarshal(data, &again); err != nil || !reflect.DeepEqual(s, again) {
		t.Errorf("%s: %v", data, err)
	}
	if !strings.Contains(string(data), `"cooldown_ns":60000000000`) {
		t.Errorf("%s", data)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	history := []Past{
		{epoch, Metrics{Queue: 5, CStar: 4, Workers: 4}},
		{epoch.Add(time.Minute), Metrics{Queue: 15, CStar: Unknown, Workers: 4}},
		{epoch.Add(2 * time.Minute), Metrics{Queue: 15, CStar: 20, Workers: 4}},
		{epoch.Add(3 * time.Minute), Metrics{CStar: 1, Workers: 9}},
	}
	rules := []Rule{{"queue > 10", "recruit 2"}, {"c_star > workers", "release 3"}, {"workers > 8", "transfer 1 from x"}, {"c_star < 2", "release 1"}}
	got, err := Test(rules, history)
	if err != nil {
		t.Fatal(err)
	}
	fired := func(numbers ...int) []Fired {
		list := []Fired{}
		for _, n := range numbers {
			do := rules[n-1].Do
			people, _ := strconv.Atoi(strings.Fields(do)[1])
			list = append(list, Fired{Rule: n, Do: do, Action: strings.Fields(do)[0], N: people})
		}
		return list
	}
	want := []Tested{
		{history[0].At, fired(), 0, 0}, {history[1].At, fired(1), 2, 0}, {history[2].At, fired(1, 2), 0, 1}, {history[3].At, fired(3, 4), 0, 1},
	}
	whys := 0
	for i := range got {
		for j := range got[i].Fired {
			if f := &got[i].Fired[j]; strings.Contains(f.Why, rules[f.Rule-1].When) {
				f.Why = ""
				whys++
			}
		}
	}
	if !reflect.DeepEqual(got, want) || whys != 5 {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if _, err := Test([]Rule{{"x", "y"}}, nil); err == nil {
		t.Error("a wrong rule is taken")
	}
}

// FuzzSettings: whatever is accepted can be stepped, means the same when written
// again, and what is refused names its field.
func FuzzSettings(f *testing.F) {
	f.Add("ct-p(kp=0.2,coming=0)", "hybrid(window=2m,slack=3)", "queue > 10 || c_star - workers > 5", "recruit 1", 1, 20)
	f.Add("rules", "rule(least=4,n=2)", "not (idle in [1, 2])", "transfer 3 from 'a b'", 0, 0)
	f.Add("rules", "average-rate", "wait_p95 > 60 and utilisation > 0.9", "release 2", 0, 3)
	f.Add("static(n=)", "none()", "", "transfer 1 from", -1, -1)
	f.Fuzz(func(t *testing.T, elasticity, stability, when, do string, least, most int) {
		s := Settings{Elasticity: elasticity, Stability: stability, Rules: []Rule{{when, do}}, Min: least, Max: most}
		err := s.Validate()
		if err != nil {
			var e *crowd.Error
			if !errors.As(err, &e) || e.Code != crowd.Invalid || e.Field == "" || e.Message == "" {
				t.Fatalf("%+v: %v", s, err)
			}
			return
		}
		c, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []struct {
			parse func(string) (spec, error)
			text  string
		}{{parseElasticity, c.parts.elastic.String()}, {parseStability, c.parts.stable.String()}} {
			if again, err := form.parse(form.text); err != nil || again.String() != form.text {
				t.Fatalf("%q: %q, %v", form.text, again.String(), err)
			}
		}
		r := Reading{Workers: 4, Coming: 2, Queue: 12, Affordable: 9}
		for i := range 20 {
			r.Counters.Arrived += 3
			r.Counters.Completed += 3
			r.Counters.Abandoned++
			r.Counters.Worked += 30 * time.Second
			d := c.Step(epoch.Add(time.Duration(i)*10*time.Second), &r, fixed(0.5))
			if d.Recruit < 0 || d.Recruit > 9 || d.Release < 0 || d.Release > 4 || d.Withdraw < 0 || d.Withdraw > 2 {
				t.Fatalf("%+v: %+v", s, d)
			}
		}
	})
}

// TestUnsign: minus zero is zero, in each figure that may be zero.
func TestUnsign(t *testing.T) {
	t.Parallel()
	minus := math.Copysign(0, -1)
	s := Settings{Target: Target{Eta: minus, Salary: minus, Tail: minus}, LeastPreference: minus}
	s.Unsign()
	for i, x := range []float64{s.Target.Eta, s.Target.Salary, s.Target.Tail, s.LeastPreference} {
		if math.Signbit(x) {
			t.Errorf("figure %d keeps its sign", i)
		}
	}
}
