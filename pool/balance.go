package pool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/kit/textform"
)

// Balancers lists the forms of the ways to move people between pools, as
// ParseBalance reads them.
func Balancers() []Form {
	omega := Option{Name: "omega", Default: defaultOmega, Most: 1, Doc: "what people's preferences weigh against shorter queues"}
	most := func(usual float64) Option {
		return Option{Name: "cap", Default: usual, Most: maxBalanceCap, Whole: true, Doc: "how many may come in one step; 0: all"}
	}
	return []Form{
		{"none", "nobody comes", nil},
		{"random", "each idle person goes to a random pool (RT of the paper)", []Option{most(0)}},
		{"paper", "Algorithm 1 of the paper (PB)", []Option{omega, most(defaultPaperCap),
			{Name: "utility", Words: utilities, Doc: "what is made of the times in which the queues clear: " + strings.Join(utilities, ", ")}}},
		{"search", "Throng's own: the moves that gain most, one after the other", []Option{omega, most(0),
			{Name: "utility", Words: objectives, Doc: "what is to become less: waiting, that of every answer in a queue; clearing, the times in which the queues clear, however long they are"}}},
	}
}

// BalanceNames lists a text form of every balancer with its defaults, as a set to
// compare.
func BalanceNames() []string {
	return lists.Map(Balancers(), func(f Form) string {
		if f.Options == nil {
			return f.Name
		}
		options := lists.Map(f.Options, func(o Option) string {
			if o.Words != nil {
				return o.Name + "=" + o.Words[0]
			}
			return o.Name + "=" + format.Number(o.Default)
		})
		return f.Name + "(" + strings.Join(options, ",") + ")"
	})
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
//	search   Throng's own: omega as above; cap as above (default 0);
//	         utility=waiting (default) or clearing
//
// The error is Invalid, its field "balance". ParseBalance(b.Name()) makes b's
// like.
func ParseBalance(text string) (Balancer, error) { return parseBalancer("balance", text) }

// parseBalancer is ParseBalance for a field of another name.
func parseBalancer(field, text string) (Balancer, error) {
	refuse := func(err error) (Balancer, error) {
		return nil, crowd.Fieldf(field, "%s (known: %s)", err, strings.Join(BalanceNames(), ", "))
	}
	f, err := textform.Parse(text, maxBalanceText)
	if err != nil {
		return refuse(err)
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
			utility: utility(f.Choice("utility", utilities...)),
			name:    f.String(),
		}
	case "search":
		b = &searchBalance{omega: takeOmega(f), cap: takeCap(f, 0), utility: utility(f.Choice("utility", objectives...)), name: f.String()}
	default:
		names := lists.Map(Balancers(), func(f Form) string { return f.Name })
		return refuse(fmt.Errorf("there is no balancer %q%s", f.Name, similarity.DidYouMean(f.Name, names)))
	}
	if err := f.Finish(0, ""); err != nil {
		return refuse(err)
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

const (
	defaultOmega    = 0.5
	defaultPaperCap = 10
)

// noBalance never moves anybody (NT of the paper).
type noBalance struct{}

func (noBalance) Name() string                      { return "none" }
func (noBalance) Plan([]BalanceView, Random) []Move { return nil }

func (noBalance) hinders(_, to *balancePool, name func(*BalanceView) string) string {
	return "nobody comes to " + name(to.BalanceView) + " by balance"
}

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
		if to == c.own || !pools[to].takes(b) || from.out >= from.mayLeave() {
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

// takes reports whether b decides who comes to the pool.
func (p *balancePool) takes(b Balancer) bool { return p.By == nil || family(p.By) == family(b) }

// family is the same for balancers that plan together: all of the search, whatever
// their options, and of the others those of the same text form, whose score is one
// for all pools.
func family(b Balancer) string {
	if _, ok := b.(*searchBalance); ok {
		return "search"
	}
	return b.Name()
}

// wants reports whether the pool may get people: it has a queue (section 5.4 of
// the paper), and it is known how fast people work there, as otherwise nothing
// can be said about what they would change.
func (p *balancePool) wants() bool { return p.Queue > 0 && p.Mu > 0 }

// unknownTime says why nobody comes where wants has no speed to go by.
func (p *balancePool) unknownTime(name func(*BalanceView) string) string {
	if p.Mu > 0 {
		return ""
	}
	return "how long a task takes in " + name(p.BalanceView) + " is not known yet (--task-time says it)"
}

// gain is by how much more the person, who is idle in p, likes to work in to.
func (p *balancePool) gain(who *Person, to *balancePool) float64 {
	return who.PrefersAt(to.At) - who.PrefersAt(p.At)
}

// infinite is what a queue takes where nobody works.
var infinite = math.Inf(1)
