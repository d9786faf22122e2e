package label

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Two items, one of which won 3 of 4: ln 3 apart.
func TestBradleyTerryByHand(t *testing.T) {
	t.Parallel()
	m := DefaultBradleyTerry()
	m.Virtual = 0
	list := []Comparison{{"w", "a", "b", LeftWins}, {"w", "a", "b", LeftWins}, {"v", "b", "a", RightWins}, {"v", "a", "b", RightWins}}
	s, err := m.Fit(list)
	if err != nil {
		t.Fatal(err)
	}
	best := s.Items[0]
	if best.Item != "a" || !near(best.Score-s.Items[1].Score, math.Log(3), 1e-6) || best.Wins != 3 || best.Losses != 1 || s.Groups != 1 || !s.Converged {
		t.Errorf("%+v", s)
	}
	// I = 4·¾·¼ of the difference, which is twice the score: se = √(4/3)/2.
	if want := z95 * math.Sqrt(4./3) / 2; !near(best.High-best.Score, want, 1e-6) || !near(best.Score-best.Low, want, 1e-6) {
		t.Errorf("bounds %v to %v about %v, want ± %v", best.Low, best.High, best.Score, want)
	}
	// Φ(ln 3 / (√2·√(4/3)/2)) = Φ(1.3455).
	if p := best.Beats(&s.Items[1]); !near(p, .91077, 1e-5) || !near(s.Items[1].Beats(&best), 1-p, 1e-12) {
		t.Errorf("a beats b with %v", p)
	}
	if s.Names[0] != "w" || s.Workers[0].Skill != 1 || s.Workers[1].Skill != .5 {
		t.Errorf("workers %v %+v", s.Names, s.Workers)
	}
}

// Worlds drawn from the model: scores come back, their bounds hold the truth as often as
// they say, and ν is found.
func TestBradleyTerryFindsWhatItAssumes(t *testing.T) {
	t.Parallel()
	inside, all, nu := 0, 0, 0.0
	const worlds, items = 40, 12
	for seed := range uint64(worlds) {
		rng := rand.New(rand.NewPCG(seed, 6))
		score := make([]float64, items)
		mean := 0.0
		for i := range score {
			score[i] = rng.NormFloat64()
			mean += score[i] / items
		}
		var list []Comparison
		for range 1500 {
			a := rng.IntN(items)
			b := (a + 1 + rng.IntN(items-1)) % items
			pa, pb := math.Exp(score[a]), math.Exp(score[b])
			tie := .5 * math.Sqrt(pa*pb)
			c := Comparison{"w", fmt.Sprintf("i%02d", a), fmt.Sprintf("i%02d", b), Neither}
			switch x := rng.Float64() * (pa + pb + tie); {
			case x < pa:
				c.Outcome = LeftWins
			case x < pa+pb:
				c.Outcome = RightWins
			}
			list = append(list, c)
		}
		s, err := DefaultBradleyTerry().Fit(list)
		if err != nil || !s.Converged {
			t.Fatal(err, s)
		}
		nu += s.Ties / worlds
		for _, x := range s.Items {
			var i int
			if _, err := fmt.Sscanf(x.Item, "i%d", &i); err != nil {
				t.Fatal(err)
			}
			all++
			if truth := score[i] - mean; truth >= x.Low && truth <= x.High {
				inside++
			}
		}
	}
	share := float64(inside) / float64(all)
	t.Logf("%.3f of %d bounds hold the truth; ν %.3f", share, all, nu)
	if share < .92 || share > .98 || math.Abs(nu-.5) > .03 {
		t.Errorf("%.3f of %d bounds hold the truth, want about .95; ν %.3f, want .5", share, all, nu)
	}
}

func TestBradleyTerryEdges(t *testing.T) {
	t.Parallel()
	// An item that always wins has a finite score; two islands are two groups.
	s, err := DefaultBradleyTerry().Fit(append(Ranking("w", "a", "b", "c"), Comparison{"w", "x", "y", Neither}))
	if err != nil || s.Groups != 2 || s.Items[0].Item != "a" {
		t.Fatalf("%v %+v", err, s)
	}
	for _, x := range s.Items {
		if math.IsNaN(x.Score) || math.IsInf(x.Score, 0) || math.IsNaN(x.Low) || x.Low > x.Score || x.High < x.Score {
			t.Errorf("%+v", x)
		}
		if want := 1; (x.Item == "x" || x.Item == "y") && (x.Group == want && s.Items[0].Group == want) {
			t.Errorf("%s is in the group of a", x.Item)
		}
	}
	for name, list := range map[string][]Comparison{"nothing": nil, "itself": {{"w", "a", "a", LeftWins}}} {
		if _, err := DefaultBradleyTerry().Fit(list); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for _, m := range []BradleyTerry{{-1, 10, 0}, {math.NaN(), 10, 0}, {.1, 0, 0}, {.1, 10, -1}} {
		if _, err := m.Fit(Ranking("w", "a", "b")); err == nil {
			t.Errorf("%+v is taken", m)
		}
	}
}

// The order of the rows changes nothing but the last bits.
func TestBradleyTerryDoesNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	var list []Comparison
	for range 300 {
		a := rng.IntN(9)
		list = append(list, Comparison{"w", fmt.Sprint(a), fmt.Sprint((a + 1 + rng.IntN(8)) % 9), Outcome(rng.IntN(3))})
	}
	one, err := DefaultBradleyTerry().Fit(list)
	if err != nil {
		t.Fatal(err)
	}
	rng.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	other, err := DefaultBradleyTerry().Fit(list)
	if err != nil {
		t.Fatal(err)
	}
	for n := range one.Items {
		if one.Items[n].Item != other.Items[n].Item || !near(one.Items[n].Score, other.Items[n].Score, 1e-7) {
			t.Errorf("%+v or %+v", one.Items[n], other.Items[n])
		}
	}
}
