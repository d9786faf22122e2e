package authors_test

// The authors' program once more, plain and slow, in O(B²) and with its list
// shuffled in every way there is: what the policies named -code are compared with.

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// A value is a number of IEEE 754 but without rounding: a rational, or an infinity
// or a NaN.
type value struct {
	r       *big.Rat
	special float64 // if r is nil
}

func exactly(f float64) value {
	if math.IsInf(f, 0) || f != f {
		return value{special: f}
	}
	return value{r: rat(f)}
}

// float returns the value rounded.
func (v value) float() float64 {
	if v.r == nil {
		return v.special
	}
	f, _ := v.r.Float64()
	return f
}

func (v value) nan() bool { return v.r == nil && v.special != v.special }

func (v value) plus(o value) value {
	if v.r != nil && o.r != nil {
		return value{r: new(big.Rat).Add(v.r, o.r)}
	}
	return value{special: v.float() + o.float()}
}

func (v value) over(o value) value {
	if v.r != nil && o.r != nil && o.r.Sign() != 0 {
		return value{r: new(big.Rat).Quo(v.r, o.r)}
	}
	return value{special: v.float() / o.float()}
}

func (v value) minus() value {
	if v.r == nil {
		return value{special: -v.special}
	}
	return value{r: new(big.Rat).Neg(v.r)}
}

// above is the operator > of IEEE 754: false where one is a NaN.
func (v value) above(o value) bool {
	if v.r != nil && o.r != nil {
		return v.r.Cmp(o.r) > 0
	}
	return v.float() > o.float()
}

// codeWeight is the program's weight of a batch and what it adds for its index.
func codeWeight(b sched.Batch, log bool) (w, step float64) {
	t := float64(b.Planned)
	if b.Deadline.IsZero() {
		return float64(b.Running) / t, 1 / t
	}
	level, sum := b.Planned-b.Completed-b.Running, new(big.Rat)
	g := func(n int) *big.Rat {
		if log {
			return rat(math.Log(float64(n) / t))
		}
		return big.NewRat(int64(n), int64(b.Planned))
	}
	for i := range b.Running {
		sum.Add(sum, g(b.Planned-level-i))
	}
	w, _ = sum.Float64()
	w = w/t + 0
	if log {
		return w, math.Log(float64(b.Planned-level-b.Running) / t)
	}
	return w, float64(b.Planned-level-b.Running) / t
}

func candidatesOf(open []sched.Batch) []sched.Batch {
	return slices.DeleteFunc(slices.Clone(open), func(b sched.Batch) bool { return !b.Assignable })
}

// quotients returns S_i/x_b for every i and b.
func quotients(list []sched.Batch, log bool) [][]value {
	out := make([][]value, len(list))
	for i := range list {
		x := make([]value, len(list))
		sum := exactly(0)
		for b := range list {
			w, step := codeWeight(list[b], log)
			x[b] = exactly(w)
			if b == i {
				x[b] = x[b].plus(exactly(step))
			}
			sum = sum.plus(x[b])
		}
		for b := range list {
			out[i] = append(out[i], sum.over(x[b]))
		}
	}
	return out
}

// indexIn is f of i where the list is in an order: the maximum is kept as Python's
// max does.
func indexIn(q []value, order []int) value {
	greatest := q[order[0]]
	for _, b := range order[1:] {
		if q[b].above(greatest) {
			greatest = q[b]
		}
	}
	return greatest.minus()
}

// argmax is the place of the first NaN, or else of the first maximum.
func argmax(f []value) int {
	if at := slices.IndexFunc(f, value.nan); at >= 0 {
		return at
	}
	best := 0
	for k := range f {
		if f[k].above(f[best]) {
			best = k
		}
	}
	return best
}

// chances is how likely the program chooses each batch, for an even shuffle.
type chances map[crowd.BatchID]*big.Rat

func (c chances) add(id crowd.BatchID, p *big.Rat) {
	if c[id] == nil {
		c[id] = new(big.Rat)
	}
	c[id].Add(c[id], p)
}

// dafsShuffled goes through all orders of the list.
func dafsShuffled(list []sched.Batch, log bool) chances {
	q, out, orders := quotients(list, log), chances{}, 0
	count := map[crowd.BatchID]int64{}
	permute(len(list), func(order []int) {
		f := make([]value, len(order))
		for k, i := range order {
			f[k] = indexIn(q[i], order)
		}
		count[list[order[argmax(f)]].ID]++
		orders++
	})
	for id, n := range count {
		out.add(id, big.NewRat(n, int64(orders)))
	}
	return out
}

// permute visits all orders of 0 to n-1.
func permute(n int, visit func([]int)) {
	order := make([]int, 0, n)
	var extend func()
	extend = func() {
		if len(order) == n {
			visit(order)
			return
		}
		for k := range n {
			if !slices.Contains(order, k) {
				order = append(order, k)
				extend()
				order = order[:len(order)-1]
			}
		}
	}
	extend()
}

// dafsByFirst is dafsShuffled for longer lists: it takes each batch for the first
// of the list once, and of the orders with that first any is as likely.
func dafsByFirst(list []sched.Batch, log bool) chances {
	q, out := quotients(list, log), chances{}
	n := int64(len(list))
	for first := range list {
		order := []int{first}
		for k := range list {
			if k != first {
				order = append(order, k)
			}
		}
		f := make([]value, len(list))
		for k, i := range order {
			f[k] = indexIn(q[i], order)
		}
		at := argmax(f)
		var equals []int
		for k := range f {
			if f[k].nan() == f[at].nan() && !f[k].above(f[at]) && !f[at].above(f[k]) {
				equals = append(equals, order[k])
			}
		}
		if equals[0] == first {
			equals = equals[:1]
		}
		for _, i := range equals {
			out.add(list[i].ID, big.NewRat(1, n*int64(len(equals))))
		}
	}
	return out
}

// sdafsChances: the least weight, each of the equals alike.
func sdafsChances(list []sched.Batch, log bool) chances {
	var least []crowd.BatchID
	best := math.Inf(1)
	for _, b := range list {
		w, _ := codeWeight(b, log)
		if w < best {
			best, least = w, nil
		}
		if w == best {
			least = append(least, b.ID)
		}
	}
	out := chances{}
	for _, id := range least {
		out.add(id, big.NewRat(1, int64(len(least))))
	}
	return out
}

// codeState draws batches of which many are alike and many at the edges.
func codeState(random *rand.Rand, most int) []sched.Batch {
	pick := func(of ...int) int { return of[random.IntN(len(of))] }
	deadlines, idle, begun := pick(0, 1, 2, 4, 4), pick(0, 0, 1, 2, 4), pick(0, 2, 4, 4)
	var out []sched.Batch
	for id := range 1 + random.IntN(most) {
		b := batch(crowd.BatchID(id+1), pick(1, 2, 2, 3, 4, 5, 8, 20, 50), 0)
		b.Turn = random.Uint64N(5)
		if random.IntN(4) < deadlines {
			b.Deadline = epoch.Add(time.Duration(pick(1, 2, 3)) * time.Hour)
		}
		if random.IntN(4) < begun {
			b.Completed = random.IntN(b.Planned)
		}
		if random.IntN(4) >= idle {
			b.Running = min(b.Planned-b.Completed-1, pick(1, 1, 2, 3, 7))
		}
		b.Assignable = random.IntN(8) > 0
		out = append(out, b)
		for random.IntN(4) == 0 && len(out) < most { // one that is alike
			b.ID = crowd.BatchID(100 + len(out))
			out = append(out, b)
		}
	}
	return out[:min(len(out), most)]
}

// codeModels are the models of the policies by name.
var codeModels = map[string]func([]sched.Batch) chances{
	"dafs-code":             func(l []sched.Batch) chances { return dafsByFirst(l, true) },
	"dafs-code(log=false)":  func(l []sched.Batch) chances { return dafsByFirst(l, false) },
	"sdafs-code":            func(l []sched.Batch) chances { return sdafsChances(l, true) },
	"sdafs-code(log=false)": func(l []sched.Batch) chances { return sdafsChances(l, false) },
}

// seeded is the name of a policy with a seed.
func seeded(name string, seed uint64) string {
	if name[len(name)-1] == ')' {
		return fmt.Sprintf("%s,seed=%d)", name[:len(name)-1], seed)
	}
	return fmt.Sprintf("%s(seed=%d)", name, seed)
}

func told(t *testing.T, name string, open []sched.Batch) sched.Policy {
	t.Helper()
	p := parse(t, name)
	for _, b := range open {
		p.Set(&b)
	}
	return p
}

// TestFirstAndSetAreEnough: the chances that follow from the first of the list are
// those of all its orders, so that the longer lists below may go by them.
func TestFirstAndSetAreEnough(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	uneven := 0
	for range 600 {
		list := candidatesOf(codeState(random, 5))
		if len(list) == 0 {
			continue
		}
		for _, log := range []bool{true, false} {
			got, want := dafsByFirst(list, log), dafsShuffled(list, log)
			if len(got) != len(want) {
				t.Fatalf("%v: got %v, want %v", list, got, want)
			}
			for id, p := range want {
				if got[id] == nil || got[id].Cmp(p) != 0 {
					t.Fatalf("%v: got %v, want %v", list, got, want)
				}
				if p.Cmp(big.NewRat(1, int64(len(want)))) != 0 {
					uneven++
				}
			}
		}
	}
	if uneven < 50 {
		t.Fatalf("only %d chances that are not even", uneven)
	}
}

// TestCodeChoosesAsTheProgram: what is chosen is among what the program may
// choose, in thousands of states, small and large.
func TestCodeChoosesAsTheProgram(t *testing.T) {
	t.Parallel()
	for name, model := range codeModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(4, 4))
			narrow := 0 // states in which not everything may be chosen
			for n := range 2600 {
				most := 7
				if n%20 == 0 {
					most = 30
				}
				open := codeState(random, most)
				list := candidatesOf(open)
				if len(list) == 0 {
					continue
				}
				want := model(list)
				if len(want) < len(list) {
					narrow++
				}
				for seed := range uint64(8) {
					if id := told(t, seeded(name, seed), open).Next(epoch, anyone{}); want[id] == nil {
						t.Fatalf("%v: got %v, want one of %v", list, id, want)
					}
				}
			}
			if narrow < 700 {
				t.Fatalf("only %d states in which the choice is narrow", narrow)
			}
		})
	}
}

// TestCodeDrawsAsOftenAsTheProgram: over many seeds each batch is chosen as often
// as the program's shuffle would, by a χ² test of each state and of all together.
func TestCodeDrawsAsOftenAsTheProgram(t *testing.T) {
	t.Parallel()
	const draws = 1500
	for name, model := range codeModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(5, 5))
			total, freedom, uneven := 0.0, 0.0, 0
			for freedom < 150 {
				open := codeState(random, 6)
				list := candidatesOf(open)
				if len(list) < 2 {
					continue
				}
				want := model(list)
				if len(want) < 2 {
					continue
				}
				count := map[crowd.BatchID]int{}
				for seed := range uint64(draws) {
					count[told(t, seeded(name, seed), open).Next(epoch, anyone{})]++
				}
				chi, even := 0.0, big.NewRat(1, int64(len(want)))
				for id, p := range want {
					share, _ := p.Float64()
					chi += math.Pow(float64(count[id])-share*draws, 2) / (share * draws)
					if p.Cmp(even) != 0 {
						uneven++
					}
				}
				df := float64(len(want) - 1)
				if chi > df+8*math.Sqrt(2*df)+10 {
					t.Errorf("%v: got %v, want %v: χ² = %g", list, count, want, chi)
				}
				total, freedom = total+chi, freedom+df
			}
			if math.Abs(total-freedom) > 4.5*math.Sqrt(2*freedom) {
				t.Errorf("χ² = %g in all, want %g", total, freedom)
			}
			if name == "dafs-code" && uneven < 10 {
				t.Errorf("only %d chances that are not even", uneven)
			}
		})
	}
}

// TestCodeLivesThroughChanges compares every decision in worlds where batches
// come, change and go, and the whole order with a plain sort.
func TestCodeLivesThroughChanges(t *testing.T) {
	t.Parallel()
	for name, model := range codeModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 20, 1500, func(t *testing.T, seed uint64) (seen int) {
				p := parse(t, name)
				w := newWorld(seed, p)
				for range 300 {
					if w.step(); w.IntN(2) == 0 {
						continue
					}
					list := candidatesOf(w.open)
					if len(list) == 0 {
						continue
					}
					asked := order(p)
					if want := model(list); want[asked[0]] == nil {
						t.Errorf("hand-out %d: %v, want one of %v", w.handouts, asked[0], want)
						return seen
					}
					checkOrder(t, name, list, asked)
					w.handOut(asked[0])
					seen++
				}
				return seen
			})
		})
	}
}

// checkOrder: after the first come the others by weight; dafs-code goes by id among
// equals, sdafs-code by id from one of them on, round to the beginning.
func checkOrder(t *testing.T, name string, list []sched.Batch, asked []crowd.BatchID) {
	t.Helper()
	log := name != "dafs-code(log=false)" && name != "sdafs-code(log=false)"
	weight := map[crowd.BatchID]float64{}
	for _, b := range list {
		weight[b.ID], _ = codeWeight(b, log)
	}
	rest := asked
	if name[0] == 'd' {
		rest = asked[1:]
	}
	turns := map[float64]int{}
	for k := 1; k < len(rest); k++ {
		before, after := rest[k-1], rest[k]
		c := cmp.Compare(weight[before], weight[after])
		if c == 0 && before > after {
			if turns[weight[before]]++; name[0] == 's' && turns[weight[before]] == 1 {
				c = -1
			}
		} else if c == 0 {
			c = -1
		}
		if c >= 0 {
			t.Errorf("asked about %v, with the weights %v", asked, weight)
		}
	}
	for w, n := range turns { // a round ends before its beginning
		first := slices.IndexFunc(rest, func(id crowd.BatchID) bool { return weight[id] == w })
		last := first
		for last+1 < len(rest) && weight[rest[last+1]] == w {
			last++
		}
		if n > 1 || rest[last] > rest[first] {
			t.Errorf("asked about %v, with the weights %v", asked, weight)
		}
	}
}

// TestListOrderOfTheProgram: edf-code and fs-code go by their key, then by id,
// whatever the turns.
func TestListOrderOfTheProgram(t *testing.T) {
	t.Parallel()
	infinite := time.Unix(1<<40, 0)
	due := func(b sched.Batch) time.Time {
		if b.Deadline.IsZero() {
			return infinite
		}
		return b.Deadline
	}
	for name, compare := range map[string]func(a, b sched.Batch) int{
		"edf-code": func(a, b sched.Batch) int { return due(a).Compare(due(b)) },
		"fs-code": func(a, b sched.Batch) int {
			return cmp.Compare(float64(a.Running)/float64(a.Planned), float64(b.Running)/float64(b.Planned))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 20, 1500, func(t *testing.T, seed uint64) (seen int) {
				p := parse(t, name)
				w := newWorld(seed, p)
				for range 300 {
					w.step()
					list := candidatesOf(w.open)
					slices.SortFunc(list, func(a, b sched.Batch) int { return cmp.Or(compare(a, b), cmp.Compare(a.ID, b.ID)) })
					var want []crowd.BatchID
					for _, b := range list {
						want = append(want, b.ID)
					}
					if diff := gocmp.Diff(want, order(p)); diff != "" {
						t.Errorf("order (-want +got):\n%s", diff)
						return seen
					}
					if len(want) > 0 && w.IntN(2) == 0 {
						w.handOut(want[0])
					}
					seen++
				}
				return seen
			})
		})
	}
}

// TestTheIndexInTheKey compares f, as Key prints it, with the program's, the NaNs
// passed over.
func TestTheIndexInTheKey(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 6))
	kinds := map[string]int{}
	for range 1500 {
		open := codeState(random, 7)
		list := candidatesOf(open)
		for _, log := range []bool{true, false} {
			p := told(t, fmt.Sprintf("dafs-code(log=%t)", log), open)
			for i, q := range quotients(list, log) {
				q = slices.DeleteFunc(q, value.nan)
				if len(q) == 0 {
					continue
				}
				order := make([]int, len(q))
				for k := range q {
					order[k] = k
				}
				want := indexIn(q, order).float()
				k, _ := p.Key(list[i].ID)
				figure := func(name string) float64 {
					at := slices.IndexFunc(k.Figures, func(f sched.Figure) bool { return f.Name == name })
					return float64(k.Figures[at].Value)
				}
				if w, _ := codeWeight(list[i], log); figure("w") != w || w == 0 && math.Signbit(figure("w")) {
					t.Fatalf("log=%t, %v of %v: w = %v, want %v", log, list[i].ID, list, figure("w"), w)
				}
				got := figure("f")
				if got != want && !(math.Abs(got/want-1) < 1e-12) {
					t.Fatalf("log=%t, %v of %v: f = %v, want %v", log, list[i].ID, list, got, want)
				}
				switch {
				case math.IsInf(want, 0):
					kinds[fmt.Sprint(want)]++
				default:
					kinds["finite"]++
				}
			}
		}
	}
	for _, kind := range []string{"+Inf", "-Inf", "finite"} {
		if kinds[kind] < 200 {
			t.Errorf("f was %s only %d times", kind, kinds[kind])
		}
	}
}

// TestSumsThatVanish: S_i = 0 comes of a coincidence only, where deadline batches
// and the others add up to nothing: R/T that rounds to -ln(C/T) of another.
func TestSumsThatVanish(t *testing.T) {
	t.Parallel()
	ln := math.Log(0.5)
	r, planned := fractionOf(-ln)
	busy := batch(1, planned, r) // w = -ln(1/2)
	idle := with(batch(2, 2, 0), func(b *sched.Batch) { b.Completed, b.Deadline = 1, epoch })
	other := batch(3, 5, 0)
	if w, _ := codeWeight(busy, true); w != -ln {
		t.Fatalf("w = %v, want %v", w, -ln)
	}
	// w = ln(1/2)/4, so that four batches such as this one make up for busy.
	begun := func(id crowd.BatchID) sched.Batch {
		return with(batch(id, 4, 1), func(b *sched.Batch) { b.Completed, b.Deadline = 1, epoch })
	}
	// Both add ln(1/2), from a weight of 0 and from one below; level makes up for the latter.
	deep := with(batch(6, 4, 1), func(b *sched.Batch) { b.Completed, b.Deadline = 2, epoch })
	w, _ := codeWeight(deep, true)
	r, planned = fractionOf(-w)
	level := batch(7, planned, r)
	turning := func(id crowd.BatchID, planned, completed int) sched.Batch {
		return with(batch(id, planned, 0), func(b *sched.Batch) { b.Completed, b.Deadline = completed, epoch })
	}
	even := []sched.Batch{busy, begun(12), begun(13), begun(14), begun(15)}
	even = even[:len(even):len(even)]
	atEdge, edge := edgeOf(t)
	w, _ = codeWeight(atEdge, true)
	r, planned = fractionOf(-w)
	evens := batch(8, planned, r)
	again := func(b sched.Batch) sched.Batch { b.ID += 100; return b } // so that none is alone nearest to 0
	for name, open := range map[string][]sched.Batch{
		"S_i = 0 by a step below 0":                  {busy, idle},
		"and the other step makes it infinite":       {busy, idle, other},
		"two such":                                   {busy, idle, other, with(idle, func(b *sched.Batch) { b.ID = 4 })},
		"next to a fresh one":                        {busy, idle, other, with(other, func(b *sched.Batch) { b.ID, b.Deadline = 5, epoch })},
		"S itself is 0":                              {with(busy, func(b *sched.Batch) { b.ID = 9 }), begun(1), begun(2), begun(3), begun(4), other},
		"S is 0, a turning one next to a weight < 0": {busy, begun(2), begun(3), begun(4), begun(5), with(idle, func(b *sched.Batch) { b.ID = 6 })},
		"two such, of which one has a weight":        {busy, level, idle, deep, other},
		"and there is no other with none":            {busy, level, idle, deep},
		"S is 0, turning ones up to |m| and beyond":  append(even, turning(20, 21, 19), turning(21, 20, 18), idle, turning(22, 3, 2)),
		"S is 0, turning ones beyond |m| only":       append(even, idle, turning(22, 3, 2), turning(23, 3, 2)),
		"S is 0, a turning one at |m|":               {atEdge, evens, again(atEdge), again(evens), edge, turning(20, 21, 20), idle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := dafsByFirst(open, true)
			if len(open) < 7 {
				want = dafsShuffled(open, true)
			}
			checkChances(t, open, want)
		})
	}
}

// edgeOf returns two deadline batches of which the second, with nobody at work,
// would come to the weight of the first.
func edgeOf(t *testing.T) (begun, turning sched.Batch) {
	t.Helper()
	for planned := 4; planned < 100; planned++ {
		begun = with(batch(31, planned, planned-2), func(b *sched.Batch) { b.Completed, b.Deadline = 1, epoch })
		w, _ := codeWeight(begun, true)
		n, d := fractionOf(math.Exp(w))
		turning = with(batch(32, d, 0), func(b *sched.Batch) { b.Completed, b.Deadline = n, epoch })
		if _, step := codeWeight(turning, true); step == w {
			return begun, turning
		}
	}
	t.Fatal("there is no such pair")
	return begun, turning
}

// checkChances compares how often each batch is chosen over many seeds.
func checkChances(t *testing.T, open []sched.Batch, want chances) {
	t.Helper()
	const draws = 3000
	count := map[crowd.BatchID]int{}
	for seed := range uint64(draws) {
		count[told(t, seeded("dafs-code", seed), open).Next(epoch, anyone{})]++
	}
	chi := 0.0
	for id, n := range count {
		if want[id] == nil {
			t.Fatalf("got %v, want one of %v", id, want)
		}
		share, _ := want[id].Float64()
		chi += math.Pow(float64(n)-share*draws, 2) / (share * draws)
	}
	if len(count) != len(want) || chi > 30 {
		t.Errorf("got %v, want %v: χ² = %g", count, want, chi)
	}
}

// TestCodeInRareStates: states that chance hardly finds, in which each candidate
// has to be reckoned with the m of its own sign.
func TestCodeInRareStates(t *testing.T) {
	t.Parallel()
	due := func(id crowd.BatchID, planned, running, completed int) sched.Batch {
		return with(batch(id, planned, running), func(b *sched.Batch) { b.Completed, b.Deadline = completed, epoch })
	}
	for name, open := range map[string][]sched.Batch{
		// S = -.157; S_1 = -.137 where the weight nearest to 0 is -.0004, S_2 = .343.
		"the least positive weight has a sum below 0, another above": {
			batch(1, 50, 1), batch(2, 2, 1), due(3, 50, 1, 48), due(4, 50, 1, 48),
			due(5, 3, 1, 1), due(6, 3, 1, 1), due(7, 3, 1, 1), due(8, 3, 1, 1), due(9, 3, 1, 1),
		},
		// S = 55/32: raising 1 gives (55+8)/9 = 7, another one (55+1)/8 = 7.
		"the least weight and the least steps are equal": {
			batch(1, 4, 1), batch(2, 32, 9), batch(3, 32, 19), batch(4, 32, 19),
		},
		// S = .49; raising 2 adds -.04, 3 -.69.
		"the weight nearest to 0 has a sum above 0, another below": {
			batch(1, 2, 1), due(2, 50, 1, 48), due(3, 20, 1, 10), due(4, 20, 1, 10),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkChances(t, open, dafsByFirst(open, true))
		})
	}
}

// fractionOf returns integers below 2^31 whose quotient rounds to f, 0 < f < 1: by
// its continued fraction.
func fractionOf(f float64) (n, d int) {
	x := rat(f)
	n0, d0, n1, d1 := big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)
	for {
		whole := new(big.Int).Quo(x.Num(), x.Denom())
		n0, n1 = n1, new(big.Int).Add(n0, new(big.Int).Mul(whole, n1))
		d0, d1 = d1, new(big.Int).Add(d0, new(big.Int).Mul(whole, d1))
		n, d = int(n1.Int64()), int(d1.Int64())
		if d > 0 && float64(n)/float64(d) == f {
			return n, d
		}
		x.Sub(x, new(big.Rat).SetInt(whole))
		x.Inv(x)
	}
}

// TestDrawsOfOnePolicyAreIndependent: one seed, hand-out after hand-out, where any
// batch may be chosen: all are chosen alike, and so are all pairs in a row.
func TestDrawsOfOnePolicyAreIndependent(t *testing.T) {
	t.Parallel()
	const batches, workers, handouts = 10, 4, 40_000
	for _, name := range []string{"dafs-code(log=false)", "dafs-code(log=false,seed=2)"} {
		w := newWorld(1, parse(t, name))
		for id := range crowd.BatchID(batches) {
			w.open = append(w.open, batch(id+1, 1<<20, 0))
			w.changed(int(id))
		}
		var running []crowd.BatchID
		var pairs [batches][batches]float64
		last := crowd.BatchID(1)
		for range handouts {
			if len(running) == workers {
				b := &w.open[running[0]-1]
				b.Running--
				b.Completed++
				w.changed(int(running[0] - 1))
				running = running[1:]
			}
			id := w.policy.Next(epoch, anyone{})
			w.handOut(id)
			running = append(running, id)
			pairs[last-1][id-1]++
			last = id
		}
		chi, want := 0.0, float64(handouts)/(batches*batches)
		for _, row := range pairs {
			for _, n := range row {
				chi += (n - want) * (n - want) / want
			}
		}
		if chi > 99+5*math.Sqrt(2*99) || chi < 99-5*math.Sqrt(2*99) {
			t.Errorf("%s: χ² = %g, want 99 or so", name, chi)
		}
	}
}
