package pool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// BalanceNames lists a text form of every balancer, as ParseBalance reads it,
// with its defaults: for help texts and as a set to compare.
func BalanceNames() []string {
	return []string{
		"none", "random",
		"paper(omega=0.5,cap=10,utility=median)",
		"search(omega=0.5,cap=0)",
	}
}

// The bounds of a text form keep what comes in over the network small.
const (
	maxBalanceText = 128
	maxBalanceCap  = 1_000_000
)

// ParseBalance makes the balancer of a text form. The grammar, in which spaces
// do not count:
//
//	balancer = name [ "(" option "=" value { "," option "=" value } ")" ]
//
// The names and their options:
//
//	none     nobody moves
//	random   each idle person goes to a random pool (RT of the paper)
//	paper    Algorithm 1 (PB of the paper): omega=0 to 1 (default 0.5), what
//	         preferences weigh; cap=0 to 1000000 (default 10), how many may move
//	         in one step, 0 for all; utility=median (default), mean, max or sum
//	search   Throng's own: omega as above; cap as above (default 0)
//
// The error is Invalid, its field "balance". ParseBalance(b.Name()) makes b's
// like.
func ParseBalance(text string) (Balancer, error) {
	if len(text) > maxBalanceText {
		return nil, refuseBalance("a balancer has at most %d characters, not %d", maxBalanceText, len(text))
	}
	form, err := splitBalance(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, err
	}
	switch form.name {
	case "none":
		return noBalance{}, form.done()
	case "random":
		return randomBalance{}, form.done()
	case "paper":
		b := &paperBalance{
			omega:   form.omega(),
			cap:     form.limit(defaultPaperCap),
			utility: utility(form.take("utility", string(utilityMedian))),
		}
		if !slices.Contains(utilities, b.utility) {
			return nil, refuseBalance("paper takes utility=median, mean, max or sum, not utility=%s", b.utility)
		}
		return b, form.done()
	case "search":
		return &searchBalance{omega: form.omega(), cap: form.limit(0)}, form.done()
	}
	return nil, refuseBalance("there is no balancer %q", form.name)
}

// MustParseBalance is ParseBalance for a text form that is known to be right;
// it panics if it is not.
func MustParseBalance(text string) Balancer {
	b, err := ParseBalance(text)
	if err != nil {
		panic("pool: " + err.Error())
	}
	return b
}

func refuseBalance(format string, args ...any) error {
	return crowd.Fieldf("balance", "%s (known: %s)", fmt.Sprintf(format, args...), strings.Join(BalanceNames(), ", "))
}

const (
	defaultOmega    = 0.5
	defaultPaperCap = 10
)

// A balanceForm is a text form taken apart. Its methods take options out of it
// and remember the first thing that was wrong.
type balanceForm struct {
	name    string
	options map[string]string
	err     error
}

func splitBalance(text string) (*balanceForm, error) {
	name, rest, listed := strings.Cut(text, "(")
	f := &balanceForm{name: name, options: map[string]string{}}
	if !listed {
		return f, nil
	}
	rest, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return nil, refuseBalance("%s( lacks its ) at the end", name)
	}
	for part := range strings.SplitSeq(rest, ",") {
		option, value, given := strings.Cut(part, "=")
		if _, twice := f.options[option]; !given || twice {
			return nil, refuseBalance("%s takes each option once, as option=value, not %q", name, part)
		}
		f.options[option] = value
	}
	return f, nil
}

func (f *balanceForm) take(option, otherwise string) string {
	value, given := f.options[option]
	if !given {
		return otherwise
	}
	delete(f.options, option)
	return value
}

func (f *balanceForm) omega() float64 {
	text := f.take("omega", strconv.FormatFloat(defaultOmega, 'g', -1, 64))
	omega, err := strconv.ParseFloat(text, 64)
	if (err != nil || !(omega >= 0 && omega <= 1)) && f.err == nil {
		f.err = refuseBalance("%s takes omega=0 to 1, what preferences weigh, not omega=%s", f.name, text)
	}
	return omega + 0 // -0 is 0
}

func (f *balanceForm) limit(otherwise int) int {
	text := f.take("cap", strconv.Itoa(otherwise))
	limit, err := strconv.Atoi(text)
	if (err != nil || limit < 0 || limit > maxBalanceCap) && f.err == nil {
		f.err = refuseBalance("%s takes cap=0 to %d, how many may move in a step (0: all), not cap=%s", f.name, maxBalanceCap, text)
	}
	return limit
}

// done returns the first error, or one that names an option that nobody took.
func (f *balanceForm) done() error {
	if f.err != nil || len(f.options) == 0 {
		return f.err
	}
	var left []string
	for option := range f.options {
		left = append(left, option)
	}
	return refuseBalance("%s has no option %q", f.name, slices.Min(left))
}

// balanceName joins a name and those options that are not the defaults.
func balanceName(name string, omega float64, limit, usual int, more ...string) string {
	var parts []string
	if omega != defaultOmega {
		parts = append(parts, "omega="+strconv.FormatFloat(omega, 'g', -1, 64))
	}
	if limit != usual {
		parts = append(parts, "cap="+strconv.Itoa(limit))
	}
	if parts = append(parts, more...); len(parts) == 0 {
		return name
	}
	return name + "(" + strings.Join(parts, ",") + ")"
}

// noBalance never moves anybody (NT of the paper).
type noBalance struct{}

func (noBalance) Name() string                      { return "none" }
func (noBalance) Plan([]BalanceView, Random) []Move { return nil }

// randomBalance "sends idle workers to a random pool" (RT, section 6.2 of the
// paper). Every pool is as likely as any other, the person's own among them, as
// the text says "a random pool" and not "another": who draws their own stays. One
// number is drawn for each idle person, in the order of their ids, whatever
// comes of it. A pool lets nobody go below its Min; who draws first goes first.
type randomBalance struct{}

func (randomBalance) Name() string { return "random" }

func (randomBalance) Plan(views []BalanceView, rnd Random) []Move {
	pools := balancePools(views)
	type candidate struct {
		id  crowd.WorkerID
		own int
	}
	var idle []candidate
	for i := range pools {
		for k := range pools[i].Idle {
			idle = append(idle, candidate{pools[i].Idle[k].ID, i})
		}
	}
	slices.SortFunc(idle, func(a, b candidate) int { return cmp.Compare(a.id, b.id) })
	var moves []Move
	for _, c := range idle {
		to := min(int(rnd.Float64()*float64(len(pools))), len(pools)-1)
		from := &pools[c.own]
		if to == c.own || from.out >= from.mayLeave() {
			continue
		}
		from.out++
		moves = append(moves, Move{Worker: c.id, From: from.Pool, To: pools[to].Pool})
	}
	return moves
}

// A balancePool is a pool while a plan is made: how it stands, and what the plan
// takes from it and brings to it.
type balancePool struct {
	*BalanceView
	training int // on duty, still learning
	out      int // who leave
	ready    int // who come and know the work
	fresh    int // who come and must learn it
}

// balancePools returns the pools in the order of their ids, so that the order
// in which they come does not matter.
func balancePools(views []BalanceView) []balancePool {
	pools := make([]balancePool, len(views))
	for i := range views {
		pools[i] = balancePool{BalanceView: &views[i], training: max(0, views[i].OnDuty-views[i].Workers)}
	}
	slices.SortFunc(pools, func(a, b balancePool) int { return cmp.Compare(a.Pool, b.Pool) })
	return pools
}

// mayLeave is how many people may leave the pool, so that it keeps its Min.
func (p *balancePool) mayLeave() int {
	return max(0, min(len(p.Idle), p.Workers, p.Workers+p.training-p.Min))
}

// wants reports whether the pool may get people: it has a queue (section 5.4 of
// the paper), and it is known how fast people work there, as otherwise nothing
// can be said about what they would change.
func (p *balancePool) wants() bool { return p.Queue > 0 && p.Mu > 0 }

// gain is by how much more the person, who is idle in p, likes to work in to.
func (p *balancePool) gain(who *Person, to *balancePool) float64 {
	return who.PrefersAt(to.At) - who.PrefersAt(p.At)
}

// infinite is what a queue takes where nobody works.
var infinite = math.Inf(1)
