package pool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/similarity"
)

// Name is something that the conditions of rules may use: its name, type and unit, and
// what it is.
type Name = condition.Name

// Names lists what the conditions of rules may use, in the order of Metrics.
func Names() []Name {
	number := func(name, unit, doc string) condition.Name {
		return condition.Name{Name: name, Type: condition.Number, Unit: unit, Doc: doc}
	}
	return []condition.Name{
		number("queue", "answers", "wanted, and in nobody's hands (L in the paper)"),
		number("workers", "people", "on duty who belong to the pool, those lent to others included (c)"),
		number("busy", "people", "who hold a task, those borrowed from others included"),
		number("idle", "people", "on duty who hold nothing and are not in training"),
		number("training", "people", "who still learn the work"),
		number("coming", "people", "asked for and not here yet"),
		number("lent", "people", "of workers, who are on duty in other pools"),
		number("borrowed", "people", "on duty here, lent by other pools; not of workers"),
		number("on_duty", "people", "on duty here, whoever they belong to: workers - lent + borrowed"),
		number("c_star", "people", "the best number of them, by the pool's target (c*); not known before the load is"),
		number("lambda", "1/s", "answers that come to be wanted and are not withdrawn (λ)"),
		number("mu", "1/s", "answers by one person who works (μ); not known before five were seen"),
		number("abandonment", "people/s", "who leave by themselves, of the whole pool"),
		number("recruitment", "1/s", "one over the mean time from being asked to coming; not known before somebody came"),
		number("throughput", "1/s", "answers that counted"),
		number("utilisation", "", "lambda / (mu workers): above 1 the queue grows; 0 without people, not known without mu"),
		number("wait_p95", "s", "95 of 100 answers were handed out within this time; 0 if none was lately"),
		number("oldest_wait", "s", "how long the oldest in the queue has waited; 0 if it is empty"),
		number("backlog", "answers", "arrived less withdrawn and completed over the last step"),
		number("cost_per_hour", "money/h", "pay for waiting of those who are idle now"),
		number("preference", "0 to 1", "mean preference of the people on duty for this pool"),
	}
}

// values gives each name its value. A figure that is not known is NaN, so that
// no comparison with it holds.
func (m *Metrics) values() map[string]any {
	v := map[string]any{
		"queue": float64(m.Queue), "workers": float64(m.Own()), "busy": float64(m.Busy), "idle": float64(m.Idle),
		"training": float64(m.Training), "coming": float64(m.Coming), "lent": float64(m.Lent), "borrowed": float64(m.Borrowed), "on_duty": float64(m.Workers), "c_star": float64(m.CStar),
		"lambda": m.Lambda, "mu": m.Mu, "abandonment": m.Abandonment, "recruitment": m.Recruitment,
		"throughput": m.Throughput, "utilisation": m.Utilisation, "wait_p95": m.WaitP95, "oldest_wait": m.OldestWait,
		"backlog": m.Backlog, "cost_per_hour": m.CostPerHour, "preference": m.Preference,
	}
	unknown := condition.NotKnown()
	if m.CStar == Unknown {
		v["c_star"] = unknown
	}
	if m.Mu == 0 {
		v["mu"], v["utilisation"] = unknown, unknown
	}
	if m.Recruitment == 0 {
		v["recruitment"] = unknown
	}
	return v
}

// A RuleError says what is wrong with a rule, and where.
type RuleError struct {
	Rule    int    // from 1
	Part    string // "when" or "do"
	Line    int    // of the part, from 1
	Column  int    // in characters, from 1
	Message string
}

func (e *RuleError) Error() string {
	place := fmt.Sprintf("column %d", e.Column)
	if e.Line > 1 {
		place = fmt.Sprintf("line %d, %s", e.Line, place)
	}
	return fmt.Sprintf("rule %d, %q, %s: %s", e.Rule, e.Part, place, e.Message)
}

type verb string

const (
	recruit  verb = "recruit"
	release  verb = "release"
	transfer verb = "transfer"
)

// action is the Do of a rule.
type action struct {
	verb verb
	n    int
	from string // of a transfer: the pool's name
}

func (a action) String() string {
	if a.verb == transfer {
		return fmt.Sprintf("%s %d from %s", a.verb, a.n, a.from)
	}
	return fmt.Sprintf("%s %d", a.verb, a.n)
}

type rule struct {
	number int // from 1
	when   *condition.Condition
	do     action
}

// CheckRules checks the rules of a pool (0: of several) as Settings.Validate does, that the
// pools from which they take people exist and are others, and that nothing in them is
// divided by a constant 0. The error is Invalid, its field "rules", its cause a *RuleError;
// or it is crowd.Errors, with all that is wrong with all rules.
func CheckRules(rules []Rule, of crowd.PoolID, pools Lookup) error {
	_, err := compileRules(rules, func(name string) error {
		switch id, ok := pools(name); {
		case !ok:
			return fmt.Errorf("there is no pool %q", name)
		case id == of:
			return fmt.Errorf("%q is the pool itself; name the pool that its people come from", name)
		}
		return nil
	}, true)
	return err
}

// TakesFrom lists the names of the pools from which the rules of a pool move people there.
func (s *Settings) TakesFrom() (names []string) {
	c, err := compile(s)
	if err != nil { // kept by an earlier version: nothing is done by them
		return nil
	}
	for _, r := range c.rules {
		if r.do.verb == transfer {
			names = append(names, r.do.from)
		}
	}
	return names
}

// compileRules reads rules, and has the name checked of each pool from which they take
// people (nil: none is). New ones (fresh) must have a value whatever is measured; earlier
// versions have kept others.
func compileRules(rules []Rule, from func(name string) error, fresh bool) ([]rule, error) {
	if len(rules) > MaxRules {
		return nil, crowd.Fieldf("rules", "at most %d rules, not %d", MaxRules, len(rules))
	}
	names := Names()
	list := make([]rule, 0, len(rules))
	var wrong crowd.Errors
	for i, r := range rules {
		when, err := condition.Compile(r.When, names)
		if err == nil && fresh {
			err = when.Defined()
		}
		if err != nil {
			e := &RuleError{Rule: i + 1, Part: "when", Line: 1, Column: 1, Message: err.Error()}
			var place *condition.Error
			if errors.As(err, &place) {
				e.Line, e.Column, e.Message = place.Line, place.Column, place.Message
			}
			wrong = append(wrong, wrongRule(e))
		}
		do, place, err := parseAction(r.Do)
		if err == nil && do.verb == transfer && from != nil {
			err = from(do.from)
		}
		if err != nil {
			wrong = append(wrong, wrongRule(&RuleError{Rule: i + 1, Part: "do", Line: 1, Column: 1 + utf8.RuneCountInString(r.Do[:place]), Message: err.Error()}))
		}
		list = append(list, rule{number: i + 1, when: when, do: do})
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return list, nil
}

func wrongRule(e *RuleError) *crowd.Error {
	return &crowd.Error{Code: crowd.Invalid, Field: "rules", Message: e.Error(), Cause: e}
}

// maxName bounds the name of a pool in a rule.
const maxName = 200

// parseAction reads "recruit n", "release n" or "transfer n from POOL". The
// pool's name is all that follows, in quotes or not. place is where the error is,
// or else the pool's name, in bytes.
func parseAction(text string) (a action, place int, err error) {
	word, number, rest := field(text, 0), span{}, span{}
	number = field(text, word.end)
	rest = field(text, number.end)
	switch a.verb = verb(word.of(text)); a.verb {
	case recruit, release, transfer:
	default:
		known := []string{string(recruit), string(release), string(transfer)}
		if meant := similarity.DidYouMean(word.of(text), known); meant != "" {
			return a, word.start, fmt.Errorf("there is no %q%s", word.of(text), meant)
		}
		return a, word.start, errors.New(`write "recruit 1", "release 1" or "transfer 1 from POOL"`)
	}
	a.n, err = strconv.Atoi(number.of(text))
	if err != nil || a.n < 1 || a.n > MaxPeople {
		return a, number.start, fmt.Errorf("%s takes a number of people, 1 to %d, not %q", a.verb, MaxPeople, number.of(text))
	}
	if a.verb != transfer {
		if rest.start < rest.end {
			return a, rest.start, fmt.Errorf("%q is left over after %q", strings.TrimSpace(text[rest.start:]), a.String())
		}
		return a, 0, nil
	}
	if rest.of(text) != "from" {
		return a, rest.start, fmt.Errorf(`write "transfer %d from POOL"`, a.n)
	}
	name := field(text, rest.end)
	a.from = strings.TrimSpace(text[name.start:])
	if n := len(a.from); n >= 2 && (a.from[0] == '"' || a.from[0] == '\'') && a.from[n-1] == a.from[0] {
		a.from = a.from[1 : n-1]
	}
	if a.from == "" || len(a.from) > maxName {
		return a, name.start, fmt.Errorf("the name of the pool has 1 to %d bytes, not %d", maxName, len(a.from))
	}
	return a, name.start, nil
}

type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

// field finds the next word of text, from a place on.
func field(text string, from int) span {
	rest := text[from:]
	start := from + len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
	end := len(text)
	if i := strings.IndexAny(text[start:], " \t\r\n"); i >= 0 {
		end = start + i
	}
	return span{start, end}
}

// fired is a rule whose condition holds, and why.
type fired struct {
	rule *rule
	why  string
}

// fire returns the rules that hold, in their order.
func fire(rules []rule, m *Metrics) []fired {
	if len(rules) == 0 {
		return nil
	}
	values := m.values()
	var list []fired
	for i := range rules {
		r := &rules[i]
		holds, err := r.when.Eval(values)
		if err != nil { // every name has its value
			panic("pool: " + err.Error())
		}
		if holds {
			list = append(list, fired{r, r.why(values)})
		}
	}
	return list
}

// why is such as "rule 1 (queue > 10): recruit 1; queue 14".
func (r *rule) why(values map[string]any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rule %d (%s): %s", r.number, strings.TrimSpace(r.when.Text()), r.do)
	for i, n := range r.when.Uses() {
		sep := ", "
		if i == 0 {
			sep = "; "
		}
		if v := values[n.Name].(float64); v != v {
			fmt.Fprintf(&b, "%s%s not known", sep, n.Name)
		} else {
			fmt.Fprintf(&b, "%s%s %.4g", sep, n.Name, v)
		}
	}
	return b.String()
}

// Past is what a pool was like at a past step.
type Past struct {
	At      time.Time `json:"at"`
	Metrics Metrics   `json:"metrics"`
}

// Tested is what rules would have done at a past step.
type Tested struct {
	At      time.Time `json:"at"`
	Fired   []Fired   `json:"fired"` // in the order of the rules; empty: none
	Recruit int       `json:"recruit"`
	Release int       `json:"release"` // of the two at most one is not 0: they cancel out
}

// Fired is a rule whose condition held.
type Fired struct {
	Rule   int    `json:"rule"` // from 1
	Do     string `json:"do"`
	Action string `json:"action"` // recruit, release or transfer
	N      int    `json:"n"`      // people
	Why    string `json:"why"`    // with the figures that the rule looked at
}

// Test says for each past step which rules would have fired and what they would
// have wanted, before limits, funds and cool-down. The steps stay as they were:
// what the rules would have changed is not seen in the later ones.
func Test(rules []Rule, history []Past) ([]Tested, error) {
	compiled, err := compileRules(rules, nil, false)
	if err != nil {
		return nil, err
	}
	out := make([]Tested, 0, len(history))
	for i := range history {
		t := Tested{At: history[i].At, Fired: []Fired{}}
		net := 0
		for _, f := range fire(compiled, &history[i].Metrics) {
			t.Fired = append(t.Fired, Fired{Rule: f.rule.number, Do: f.rule.do.String(), Action: string(f.rule.do.verb), N: f.rule.do.n, Why: f.why})
			net += f.rule.do.change()
		}
		t.Recruit, t.Release = max(0, net), max(0, -net)
		out = append(out, t)
	}
	return out, nil
}

// change is by how many people the action makes its pool larger, by calling or
// letting go.
func (a action) change() int {
	switch a.verb {
	case recruit:
		return a.n
	case release:
		return -a.n
	}
	return 0
}
