package pool_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/pool"
)

func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func TestParseBalance(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"none":                                   "none",
		" random ":                               "random",
		"paper":                                  "paper",
		"paper(omega=0.5,cap=10,utility=median)": "paper",
		"paper( cap = 3 , omega = 0.250 )":       "paper(omega=0.25,cap=3)",
		"paper(utility=max)":                     "paper(utility=max)",
		"paper(omega=-0,utility=sum,cap=0)":      "paper(omega=0,cap=0,utility=sum)",
		"search":                                 "search",
		"search(omega=1,cap=0)":                  "search(omega=1)",
		"search(cap=1000000)":                    "search(cap=1000000)",
	} {
		b, err := pool.ParseBalance(from)
		if err != nil {
			t.Errorf("%s: %v", from, err)
			continue
		}
		if b.Name() != want {
			t.Errorf("%s is called %s, want %s", from, b.Name(), want)
		}
		if again, err := pool.ParseBalance(b.Name()); err != nil || again.Name() != want {
			t.Errorf("%s cannot be read again: %v", b.Name(), err)
		}
	}
	for from, want := range map[string]string{
		"":                       "a name is missing",
		"best":                   `no balancer "best"`,
		"none(cap=1)":            `none has no option "cap"`,
		"random(omega=1)":        `random has no option "omega"`,
		"paper(omega=1.5)":       "omega=0 to 1",
		"paper(omega=NaN)":       "omega=0 to 1",
		"paper(cap=-1)":          "cap=0 to 1000000",
		"search(cap=1000001)":    "cap=0 to 1000000",
		"paper(utility=least)":   "not utility=least",
		"search(utility=median)": "utility=waiting or utility=clearing",
		"search(cap=1,cap=2)":    "search has cap twice",
		"search(cap)":            `not "cap"`,
		"search(cap=1":           "lacks its )",
		"search()":               "a name is missing",
		strings.Repeat("n", 129): "at most 128 characters",
	} {
		b, err := pool.ParseBalance(from)
		if crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, %v; want Invalid with %q", from, b, err, want)
		}
	}
	for _, name := range pool.BalanceNames() {
		if _, err := pool.ParseBalance(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var balancers = []string{
	"none", "random", "paper", "paper(omega=0)", "paper(omega=1)", "paper(omega=0.1,cap=3,utility=mean)", "paper(cap=0,utility=max)",
	"paper(omega=0.001,cap=50,utility=sum)", "search", "search(omega=0)", "search(omega=1)", "search(omega=0.1,cap=2)", "search(omega=0.9,cap=12)", "search(utility=clearing)",
}

func plan(views []pool.BalanceView, name string, seed uint64) []pool.Move {
	return pool.MustParseBalance(name).Plan(views, rand.New(rand.NewPCG(seed, 1)))
}

// check says what is wrong with a plan, whoever made it.
func check(t *testing.T, views []pool.BalanceView, name string, moves []pool.Move) {
	t.Helper()
	limit, search, chosen := math.MaxInt, strings.HasPrefix(name, "search"), !strings.HasPrefix(name, "random")
	if strings.HasPrefix(name, "paper") {
		limit = 10
	}
	if _, rest, found := strings.Cut(name, "cap="); found {
		digits, _, _ := strings.Cut(strings.TrimSuffix(rest, ")"), ",")
		if limit, _ = strconv.Atoi(digits); limit == 0 {
			limit = math.MaxInt
		}
	}
	if len(moves) > limit {
		t.Errorf("%s moves %d", name, len(moves))
	}
	byPool := map[crowd.PoolID]*pool.BalanceView{}
	for i := range views {
		byPool[views[i].Pool] = &views[i]
	}
	moved, out := map[crowd.WorkerID]bool{}, map[crowd.PoolID]int{}
	for _, m := range moves {
		from, to := byPool[m.From], byPool[m.To]
		switch {
		case from == nil || to == nil || from == to:
			t.Errorf("%s: %v goes nowhere", name, m)
		case !slices.ContainsFunc(from.Idle, func(p pool.Person) bool { return p.ID == m.Worker }):
			t.Errorf("%s: %v is not idle there", name, m)
		case moved[m.Worker]:
			t.Errorf("%s: %v goes twice", name, m)
		case chosen && to.Queue == 0:
			t.Errorf("%s: %v goes where nothing waits", name, m)
		}
		moved[m.Worker] = true
		if out[m.From]++; from != nil && out[m.From] > room(from, search) {
			t.Errorf("%s: %v leaves too few", name, m)
		}
	}
	if search && !allOfUse(views, moves) {
		t.Errorf("%s: %v: somebody is of no use", name, moves)
	}
}

// TestPlansAreSound: what holds for every plan, and that the order in which
// pools, people and places come does not matter.
func TestPlansAreSound(t *testing.T) {
	t.Parallel()
	for _, name := range balancers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			least := 500
			if name == "none" {
				least = 0
			}
			towns(t, 400, least, func(t *testing.T, rng *rand.Rand, views []pool.BalanceView) int {
				before := describe(views)
				moves := plan(views, name, 1)
				check(t, views, name, moves)
				if describe(views) != before {
					t.Errorf("%s changed what it was given", name)
				}
				again := plan(shuffled(rng, views), name, 1)
				if diff := cmp.Diff(moves, again); diff != "" {
					t.Errorf("%s: in another order (-want +got):\n%s", name, diff)
				}
				if name == "none" && len(moves) > 0 {
					t.Errorf("none moves %v", moves)
				}
				return len(moves)
			})
		})
	}
}

// TestManyPeople is the same for very many.
func TestManyPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		giving, wanting, each, longest int
		value                          float64 // what search must reach; measured: 0.49425 and 0.27341
	}{{25, 25, 400, 800, 0.4942}, {50, 25, 200, 100_000, 0.2734}} {
		views := city(50, c.giving, c.wanting, c.each, c.longest)
		for i := range views {
			views[i].CStar = i % 90 * 6
		}
		other := shuffled(rand.New(rand.NewPCG(5, 5)), views)
		for _, name := range []string{"search", "search(omega=0.05,cap=3000)", "paper", "paper(cap=40)", "random"} {
			moves := plan(views, name, 1)
			check(t, views, name, moves)
			if len(moves) < 9 {
				t.Errorf("%s moves only %d", name, len(moves))
			}
			if value := pool.Evaluate(views, moves, 0.5).Value; name == "search" && value < c.value {
				t.Errorf("search gets %g of at least %g", value, c.value)
			}
			if !slices.Equal(moves, plan(other, name, 1)) {
				t.Errorf("%s plans something else in another order", name)
			}
		}
	}
}

// TestNobodysFavourite: of very many people, enough go to a pool that all like
// least, and those who know the work go first.
func TestNobodysFavourite(t *testing.T) {
	t.Parallel()
	const n, dests, limit = 26_000, 8, 400
	views := make([]pool.BalanceView, 1+dests)
	for i := range views {
		views[i] = pool.BalanceView{Pool: crowd.PoolID(i + 1), At: i, Queue: 1, Workers: 1, OnDuty: 1, Mu: 1, TrainingRate: 0.1}
	}
	views[0].Queue, views[0].Workers, views[0].OnDuty, views[dests].Queue = 0, n, n, 100_000
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range n {
		p := pool.Person{ID: crowd.WorkerID(k + 1), Prefers: preferences(rng, 1+dests, 1), Knows: make([]bool, 1+dests)}
		p.Prefers[dests] /= 100
		p.Knows[dests] = rng.IntN(40) == 0
		views[0].Idle = append(views[0].Idle, p)
	}
	moves := plan(views, "search(omega=0.01,cap="+strconv.Itoa(limit)+")", 1)
	there, know := 0, 0
	for _, m := range moves {
		if m.To == views[dests].Pool {
			there++
			if person, own := find(views, m); person.KnowsAt(dests, own.At) {
				know++
			}
		}
	}
	if there < limit-dests || know != there {
		t.Errorf("%d go, %d where they are needed, of whom %d know the work", len(moves), there, know)
	}
}

// unlearned is the town as paper sees it: nobody knows the work of another pool.
func unlearned(views []pool.BalanceView) []pool.BalanceView {
	other := slices.Clone(views)
	for i := range other {
		other[i].Idle = slices.Clone(other[i].Idle)
		for k := range other[i].Idle {
			other[i].Idle[k].Knows = nil
		}
	}
	return other
}

// TestPaperNeverLoses: the score of what is chosen is at least that of no moves,
// and the more may move, the better.
func TestPaperNeverLoses(t *testing.T) {
	t.Parallel()
	finite, better := 0, 0
	towns(t, 600, 500, func(t *testing.T, rng *rand.Rand, views []pool.BalanceView) (seen int) {
		views = unlearned(views)
		omega := []float64{0.001, 0.3, 0.9}[rng.IntN(3)]
		last := pool.Evaluate(views, nil, omega)
		for limit := 1; limit <= 12; limit++ {
			moves := plan(views, "paper(omega="+text(omega)+",cap="+strconv.Itoa(limit)+")", 1)
			e := pool.Evaluate(views, moves, omega)
			was, is := last.Score, e.Score
			if math.IsInf(last.Perf, 1) && math.IsInf(e.Perf, 1) {
				was, is = last.Preference, e.Preference
			} else {
				finite++
			}
			if is < was-1e-9*math.Abs(was) {
				t.Errorf("cap %d: %g after %g", limit, is, was)
			}
			if is > was {
				better++
			}
			last = e
			seen += len(moves)
		}
		return seen
	})
	if finite < 1000 || better < 500 {
		t.Errorf("only %d finite scores, %d better", finite, better)
	}
}

// TestSearchAgainstPaper: by the objective of search, its plan is at least as good
// as paper's wherever that sends nobody who is of no use. Where people are idle in
// pools with a queue it may end in a plan that no chain improves and that is not
// the best; that is rare.
func TestSearchAgainstPaper(t *testing.T) {
	t.Parallel()
	useless, uselessBetter, most := 0, 0, 0.0
	looked, worse, gap := 0, 0, 0.0
	towns(t, 1500, 1200, func(t *testing.T, rng *rand.Rand, views []pool.BalanceView) (seen int) {
		for i := range views {
			views[i].CStar = 0 // paper does not know it
		}
		omega := []float64{0, 0.1, 0.5, 0.9}[rng.IntN(4)]
		options := "(cap=10,omega=" + text(omega) + ")"
		ours, theirs := plan(views, "search"+options, 1), plan(views, "paper"+options, 1)
		value := pool.Evaluate(views, ours, omega).Value
		if value < 0 {
			t.Errorf("search has a value of %g", value)
		}
		other := pool.Evaluate(views, theirs, omega).Value
		if !allOfUse(views, theirs) {
			if useless++; other > value {
				uselessBetter++
				most = max(most, other-value)
			}
			return 0
		}
		looked++
		if value < other-1e-12 {
			if worse++; !mixed(views) {
				t.Errorf("search %g, paper %g (omega %g)", value, other, omega)
			}
			gap = max(gap, other-value)
		}
		return 1
	})
	if worse*250 > looked || gap > 0.05 {
		t.Errorf("search is worse in %d of %d towns, by up to %g", worse, looked, gap)
	}
	t.Logf("search is worse in %d of %d towns, by up to %.4f", worse, looked, gap)
	t.Logf("paper sends people who are of no use in %d towns; in %d of them that has the greater value, by up to %.4f", useless, uselessBetter, most)
}

// mixed reports whether people are idle in a pool with a queue.
func mixed(views []pool.BalanceView) bool {
	return slices.ContainsFunc(views, func(v pool.BalanceView) bool { return v.Queue > 0 && len(v.Idle) > 0 })
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	// Times are in seconds. Pool 2 is at place 0 of the readings.
	views := []pool.BalanceView{
		{Pool: 1, At: 2, Workers: 3, OnDuty: 3, Mu: 1, Preference: 1.5, Idle: []pool.Person{
			{ID: 11, Prefers: []float64{0.9, 0.1, 0.5}},
			{ID: 12, Prefers: []float64{0.2, 0.7, 0.4}, Knows: []bool{false, true, false}},
			{ID: 13, Prefers: []float64{0.6, 0.6, 0.6}},
		}},
		{Pool: 2, At: 0, Queue: 20, Workers: 2, OnDuty: 2, Mu: 0.5, TrainingRate: 0.2, Preference: 1},
		{Pool: 3, At: 1, Queue: 6, Workers: 1, OnDuty: 1, Mu: 0.25, TrainingRate: 0.05, Preference: 0.5},
	}
	type want struct{ preference, perf, score, waiting, value float64 }
	cases := map[string]struct {
		moves []pool.Move
		w     []float64
		want  want
	}{
		"nobody moves: equation 3": {
			w:    []float64{0, 20, 24},
			want: want{3, 1.0 / 20, 1.525, 272, 0}, // 20·20/2 + 6·24/2
		},
		"one is trained in time, L > L_tr": {
			// Training takes 5, in which 5 tasks go; 15 are left at 1.5 a second.
			moves: []pool.Move{{Worker: 11, From: 1, To: 2}},
			w:     []float64{0, 15, 24},
			want:  want{3.4, 1.0 / 15, 0.5*3.4 + 0.5/15, 222, 0.5*0.4/6 + 0.5*50/272},
		},
		"two are trained one after the other": {
			// Training takes 5(1+1/2) = 7.5, in which 7.5 go; 12.5 at 2 a second.
			moves: []pool.Move{{Worker: 11, From: 1, To: 2}, {Worker: 12, From: 1, To: 2}},
			w:     []float64{0, 13.75, 24},
			want:  want{3.2, 1 / 13.75, 1.6 + 0.5/13.75, 209.5, 0.5*0.2/6 + 0.5*62.5/272},
		},
		"who knows the work needs no training": {
			moves: []pool.Move{{Worker: 12, From: 1, To: 3}},
			w:     []float64{0, 20, 12},
			want:  want{3.3, 1.0 / 12, 1.65 + 0.5/12, 236, 0.5*0.3/6 + 0.5*36/272},
		},
		"whoever is not idle there, or goes nowhere, counts for nothing": {
			moves: []pool.Move{{Worker: 11, From: 2, To: 3}, {Worker: 99, From: 1, To: 3}, {Worker: 13, From: 1, To: 9}, {Worker: 13, From: 1, To: 1}},
			w:     []float64{0, 20, 24},
			want:  want{3, 1.0 / 20, 1.525, 272, 0},
		},
		"nobody goes twice": {
			moves: []pool.Move{{Worker: 12, From: 1, To: 3}, {Worker: 12, From: 1, To: 2}},
			w:     []float64{0, 20, 12},
			want:  want{3.3, 1.0 / 12, 1.65 + 0.5/12, 236, 0.5*0.3/6 + 0.5*36/272},
		},
	}
	near := cmp.Comparer(func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-12*max(1, math.Abs(a)) })
	for name, c := range cases {
		e := pool.Evaluate(views, c.moves, 0.5)
		if diff := cmp.Diff(c.w, e.W, near); diff != "" {
			t.Errorf("%s: W (-want +got):\n%s", name, diff)
		}
		got := want{e.Preference, e.Perf, e.Score, e.Waiting, e.Value}
		if diff := cmp.Diff(c.want, got, near, cmp.AllowUnexported(want{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	t.Run("L at most L_tr", func(t *testing.T) {
		slow := slices.Clone(views)
		slow[2].TrainingRate = 0.04 // 25 seconds, in which 6.25 tasks go
		e := pool.Evaluate(slow, []pool.Move{{Worker: 11, From: 1, To: 3}}, 0.5)
		if e.W[2] != 24 {
			t.Errorf("W is %g, want as if nobody had come, 24", e.W[2])
		}
	})
	t.Run("nobody is there", func(t *testing.T) {
		empty := slices.Clone(views)
		empty[2].Workers, empty[2].OnDuty = 0, 0
		e := pool.Evaluate(empty, nil, 0.5)
		// With one newcomer 20 + 24; twice that counts.
		if !math.IsInf(e.W[2], 1) || math.Abs(e.Waiting-(200+3*88)) > 1e-9 {
			t.Errorf("W is %g, waiting %g; want +Inf, 464", e.W[2], e.Waiting)
		}
		moves := plan(empty, "search(omega=0,cap=1)", 1)
		if len(moves) != 1 || moves[0].To != 3 {
			t.Errorf("search sends %v, want one to pool 3", moves)
		}
	})
	t.Run("those in training are newcomers", func(t *testing.T) {
		more := slices.Clone(views)
		more[1].OnDuty++
		if e := pool.Evaluate(more, []pool.Move{{Worker: 12, From: 1, To: 2}}, 0.5); math.Abs(e.W[1]-13.75) > 1e-9 {
			t.Errorf("W is %g, want 13.75", e.W[1])
		}
	})
	t.Run("who leaves a queue is missed there", func(t *testing.T) {
		more := slices.Clone(views)
		more[1].Idle = []pool.Person{{ID: 21, Knows: []bool{true, true, true}}}
		e := pool.Evaluate(more, []pool.Move{{Worker: 21, From: 2, To: 3}}, 0.5)
		if e.W[1] != 40 || e.W[2] != 12 {
			t.Errorf("W is %v, want 40 and 12", e.W[1:])
		}
	})
	t.Run("the median is 0", func(t *testing.T) {
		more := append(slices.Clone(views), pool.BalanceView{Pool: 4, At: 3, Mu: 1}, pool.BalanceView{Pool: 5, At: 4, Mu: 1})
		if e := pool.Evaluate(more, nil, 0.5); !math.IsInf(e.Perf, 1) || !math.IsInf(e.Score, 1) {
			t.Errorf("Perf is %g, score %g; want +Inf", e.Perf, e.Score)
		}
		if e := pool.Evaluate(more, nil, 1); e.Score != 3 {
			t.Errorf("score is %g where only preferences count, want 3", e.Score)
		}
		// By the preferences alone: 11 likes pool 2 by 0.4 more, 12 pool 3 by 0.3.
		// The greedy heuristic sends all to the longest wait, pool 3, which 11 likes
		// less; with omega near 1 it goes by what they like.
		if moves := plan(more, "paper", 1); len(moves) != 0 {
			t.Errorf("paper sends %v, want nobody", moves)
		}
		want := []pool.Move{{Worker: 11, From: 1, To: 2}, {Worker: 12, From: 1, To: 3}}
		if diff := cmp.Diff(want, plan(more, "paper(omega=0.999)", 1)); diff != "" {
			t.Errorf("paper(omega=0.999) (-want +got):\n%s", diff)
		}
	})
}

// TestPaperByHand follows Algorithm 1 through a town of three pools.
func TestPaperByHand(t *testing.T) {
	t.Parallel()
	views := []pool.BalanceView{
		{Pool: 1, At: 0, Workers: 4, OnDuty: 4, Min: 1, Mu: 1, Idle: []pool.Person{
			{ID: 14, Prefers: []float64{0.5, 0.1, 0.5}}, // gains 0
			{ID: 13, Prefers: []float64{0.5, 0.9, 0.2}}, // 0.4
			{ID: 12, Prefers: []float64{0.5, 0.6, 0.7}}, // 0.2
			{ID: 11, Prefers: []float64{0.5, 0.7, 0.1}}, // 0.2, and goes before 12
		}},
		{Pool: 2, At: 1, Queue: 40, Workers: 2, OnDuty: 2, Mu: 1}, // 20
		{Pool: 3, At: 2, Queue: 36, Workers: 2, OnDuty: 2, Mu: 1}, // 18
	}
	for i, c := range []struct {
		name string
		want []pool.Move
	}{
		// Waits alone: 13 to pool 2 (20 > 18), which then takes 13.3; 11 to pool 3
		// (18), which then takes 12; 12 to pool 2 (13.3 > 12). 14 may not leave.
		{"paper(omega=0,utility=sum)", []pool.Move{{Worker: 13, From: 1, To: 2}, {Worker: 11, From: 1, To: 3}, {Worker: 12, From: 1, To: 2}}},
		{"paper(omega=0,utility=sum,cap=2)", []pool.Move{{Worker: 13, From: 1, To: 2}, {Worker: 11, From: 1, To: 3}}},
		// The longest wait goes from 20 to 18, then 13.3, then 12.
		{"paper(omega=0,utility=max,cap=1)", []pool.Move{{Worker: 13, From: 1, To: 2}}},
		// Preferences alone: to where each likes it best.
		{"paper(omega=1)", []pool.Move{{Worker: 13, From: 1, To: 2}, {Worker: 11, From: 1, To: 2}, {Worker: 12, From: 1, To: 3}}},
		// The median of 0, 13.3 and 18 is 13.3 after one; of 0, 12 and 13.3 it is 12
		// after two; of 0, 10 and 12 it is 10 after three.
		{"paper(omega=0)", []pool.Move{{Worker: 13, From: 1, To: 2}, {Worker: 11, From: 1, To: 3}, {Worker: 12, From: 1, To: 2}}},
	} {
		if diff := cmp.Diff(c.want, plan(views, c.name, 1)); diff != "" {
			t.Errorf("%d: %s (-want +got):\n%s", i, c.name, diff)
		}
	}
}

// TestRandomIsEven: each pool is as likely as any other, the person's own among
// them, and one number is drawn for everybody.
func TestRandomIsEven(t *testing.T) {
	t.Parallel()
	const n = 30_000
	views := []pool.BalanceView{{Pool: 1, Workers: n, OnDuty: n}, {Pool: 2, At: 1}, {Pool: 3, At: 2, Queue: 4}}
	for k := range n {
		views[0].Idle = append(views[0].Idle, pool.Person{ID: crowd.WorkerID(k + 1)})
	}
	rnd := &stream{Rand: rand.New(rand.NewPCG(3, 4))}
	count := map[crowd.PoolID]int{}
	moves := pool.MustParseBalance("random").Plan(views, rnd)
	for _, m := range moves {
		count[m.To]++
	}
	count[1] = n - len(moves)
	for id, got := range count {
		// Five times the standard deviation of a binomial, sqrt(n 1/3 2/3) = 82.
		if math.Abs(float64(got-n/3)) > 410 {
			t.Errorf("%d go to %s, want about %d", got, id, n/3)
		}
	}
	if rnd.drawn != n {
		t.Errorf("%d numbers were drawn for %d people", rnd.drawn, n)
	}
}

// TestTiesGoToTheLowerWorker: of people who are all the same the lowest ids go,
// whatever pool they are in.
func TestTiesGoToTheLowerWorker(t *testing.T) {
	t.Parallel()
	views := []pool.BalanceView{
		{Pool: 1, At: 0, Workers: 3, OnDuty: 3, Mu: 1, Idle: []pool.Person{{ID: 9}, {ID: 2}, {ID: 7}}},
		{Pool: 2, At: 1, Workers: 3, OnDuty: 3, Mu: 1, Idle: []pool.Person{{ID: 3}, {ID: 8}, {ID: 1}}},
		{Pool: 3, At: 2, Workers: 1, OnDuty: 1, Mu: 1, Queue: 100},
		{Pool: 4, At: 3, Workers: 1, OnDuty: 1, Mu: 1, Queue: 100},
	}
	for _, name := range []string{"paper(omega=0,utility=sum,cap=3)", "search(cap=3)"} {
		var went []int
		for _, m := range plan(views, name, 1) {
			went = append(went, int(m.Worker))
		}
		if slices.Sort(went); !slices.Equal(went, []int{1, 2, 3}) {
			t.Errorf("%s: %v go, want 1, 2 and 3", name, went)
		}
	}
	moves := plan(views, "search(cap=1)", 1)
	if want := []pool.Move{{Worker: 1, From: 2, To: 3}}; !slices.Equal(moves, want) {
		t.Errorf("search(cap=1): %v, want %v", moves, want)
	}
}

// TestSearchKeepsWhatWillBeNeeded: CStar is kept, even where the queue elsewhere
// is long, and nobody is sent without use.
func TestSearchKeepsWhatWillBeNeeded(t *testing.T) {
	t.Parallel()
	views := []pool.BalanceView{
		{Pool: 1, At: 0, Workers: 8, OnDuty: 8, CStar: 5, Mu: 1},
		{Pool: 2, At: 1, Queue: 1000, Workers: 1, OnDuty: 1, Mu: 1},
	}
	for k := range 8 {
		views[0].Idle = append(views[0].Idle, pool.Person{ID: crowd.WorkerID(k + 1), Prefers: []float64{0, 1}})
	}
	for _, c := range []struct{ cStar, queue, want int }{{5, 1000, 3}, {0, 1000, 8}, {9, 1000, 0}, {0, 2, 2}} {
		views[0].CStar, views[1].Queue = c.cStar, c.queue
		if got := len(plan(views, "search", 1)); got != c.want {
			t.Errorf("c* %d, queue %d: %d go, want %d", c.cStar, c.queue, got, c.want)
		}
	}
}
