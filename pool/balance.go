package pool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/textform"
)

// BalanceNames lists a text form of every balancer, as ParseBalance reads it,
// with its defaults: for help texts and as a set to compare.
func BalanceNames() []string {
	return []string{
		"none", "random(cap=0)",
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
//	random   each idle person goes to a random pool (RT of the paper): cap=0 to
//	         1000000 (default 0), how many may move in one step, 0 for all; where
//	         not all may, whoever comes after a person drawn at random
//	paper    Algorithm 1 (PB of the paper): omega=0 to 1 (default 0.5), what
//	         preferences weigh; cap=0 to 1000000 (default 10), how many may move
//	         in one step, 0 for all; utility=median (default), mean, max or sum
//	search   Throng's own: omega as above; cap as above (default 0)
//
// The error is Invalid, its field "balance". ParseBalance(b.Name()) makes b's
// like.
func ParseBalance(text string) (Balancer, error) {
	f, err := textform.Parse(text, maxBalanceText)
	if err != nil {
		return nil, refuseBalance(err)
	}
	var b Balancer
	switch f.Name {
	case "none":
		b = noBalance{}
	case "random":
		b = randomBalance{cap: takeCap(f, 0), name: f.String()}
	case "paper":
		b = &paperBalance{
			omega:   takeOmega(f),
			cap:     takeCap(f, defaultPaperCap),
			utility: utility(f.Choice("utility", "median", "mean", "max", "sum")),
			name:    f.String(),
		}
	case "search":
		b = &searchBalance{omega: takeOmega(f), cap: takeCap(f, 0), name: f.String()}
	default:
		return nil, refuseBalance(fmt.Errorf("there is no balancer %q", f.Name))
	}
	if err := f.Finish(0, ""); err != nil {
		return nil, refuseBalance(err)
	}
	return b, nil
}

func takeOmega(f *textform.Form) float64 {
	return f.Number("omega", textform.Range[float64]{Usual: defaultOmega, Most: 1, About: "what preferences weigh"})
}

func takeCap(f *textform.Form, usual uint64) int {
	return int(f.Uint("cap", textform.Range[uint64]{Usual: usual, Most: maxBalanceCap, About: "how many may move in a step (0: all)"}))
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

func refuseBalance(err error) error {
	return crowd.Fieldf("balance", "%s (known: %s)", err, strings.Join(BalanceNames(), ", "))
}

const (
	defaultOmega    = 0.5
	defaultPaperCap = 10
)

// noBalance never moves anybody (NT of the paper).
type noBalance struct{}

func (noBalance) Name() string                      { return "none" }
func (noBalance) Plan([]BalanceView, Random) []Move { return nil }

// randomBalance "sends idle workers to a random pool" (RT, section 6.2 of the
// paper). Every pool is as likely as any other, the person's own among them, as
// the text says "a random pool" and not "another": who draws their own stays. One
// number is drawn for each idle person, in the order of their ids, whatever
// comes of it. A pool lets nobody go below its Min; who draws first goes first.
type randomBalance struct {
	cap  int // 0: all
	name string
}

func (b randomBalance) Name() string { return b.name }

func (b randomBalance) Plan(views []BalanceView, rnd Random) []Move {
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
	if b.cap > 0 && len(idle) > 1 {
		first := min(int(rnd.Float64()*float64(len(idle))), len(idle)-1)
		idle = slices.Concat(idle[first:], idle[:first])
	}
	var moves []Move
	for _, c := range idle {
		if b.cap > 0 && len(moves) == b.cap {
			break
		}
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
