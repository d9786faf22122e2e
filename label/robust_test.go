package label

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// attack makes a world of a public data set: five honest answers a task, drawn from
// those that were recorded, and those of attackers.
func attack(p pool, seed uint64, attackers func(rng *rand.Rand, task int, add func(worker string, class Class))) *Dataset {
	rng := rand.New(rand.NewPCG(seed, 7))
	var b Builder
	for _, class := range p.Classes() {
		b.Class(class)
	}
	for i, task := range p.Tasks() {
		workers, labels := p.Answers(i)
		for _, n := range rng.Perm(len(workers))[:min(5, len(workers))] {
			b.Add(Answer{task, p.Workers()[workers[n]], p.Classes()[labels[n]]})
		}
		attackers(rng, i, func(worker string, class Class) {
			b.Add(Answer{task, worker, p.Classes()[class]})
		})
	}
	return b.Build()
}

// known looks up the truth of p in a world made of it.
func (p pool) knownIn(t *testing.T, d *Dataset, truth Truth, share float64, rng *rand.Rand) Truth {
	t.Helper()
	names := map[string]string{}
	for i, task := range p.Tasks() {
		if truth[i] != None && rng.Float64() < share {
			names[task] = p.Classes()[truth[i]]
		}
	}
	known, err := d.Truth(names)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

var attacks = map[string]func(p pool) func(rng *rand.Rand, task int, add func(string, Class)){
	"nobody": func(pool) func(*rand.Rand, int, func(string, Class)) {
		return func(*rand.Rand, int, func(string, Class)) {}
	},
	"3 colluders": func(p pool) func(*rand.Rand, int, func(string, Class)) {
		return func(rng *rand.Rand, _ int, add func(string, Class)) {
			class := Class(rng.IntN(len(p.Classes())))
			for n := range 3 {
				add(fmt.Sprint("colluder", n), class)
			}
		}
	},
	"20 colluders, 3 a task": func(p pool) func(*rand.Rand, int, func(string, Class)) {
		return func(rng *rand.Rand, _ int, add func(string, Class)) {
			class := Class(rng.IntN(len(p.Classes())))
			for _, n := range rng.Perm(20)[:3] {
				add(fmt.Sprint("colluder", n), class)
			}
		}
	},
	"6 constant clickers": func(pool) func(*rand.Rand, int, func(string, Class)) {
		return func(_ *rand.Rand, _ int, add func(string, Class)) {
			for n := range 6 {
				add(fmt.Sprint("clicker", n), 0)
			}
		}
	},
	"2 always wrong": func(p pool) func(*rand.Rand, int, func(string, Class)) {
		return func(rng *rand.Rand, task int, add func(string, Class)) {
			if p.truth[task] == None {
				return
			}
			for n := range 2 {
				wrong := (int(p.truth[task]) + 1 + rng.IntN(len(p.Classes())-1)) % len(p.Classes())
				add(fmt.Sprint("contrary", n), Class(wrong))
			}
		}
	},
}

// The table of the experiment that the definition comes from: mean accuracy over four
// public data sets with attackers, ten draws each, and the least mean of a draw.
func TestRobustTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		attack      string
		gold        float64 // share of the tasks
		mean, least float64 // of the published table
		dsMap       float64 // its mean for DS-MAP
	}{
		{"nobody", 0, .817, .798, .817},
		{"3 colluders", 0, .810, .792, .419},
		{"3 colluders", .02, .816, .795, .684},
		{"20 colluders, 3 a task", 0, .813, .788, .478},
		{"20 colluders, 3 a task", .02, .817, .791, .636},
		{"6 constant clickers", .01, .757, .746, .729},
	}
	draws := uint64(10)
	if testing.Short() {
		draws = 2
	}
	pools := map[string]pool{}
	for _, name := range []string{"bluebird", "dog", "music", "product"} {
		pools[name] = readPool(t, name)
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s, gold %v", tt.attack, tt.gold), func(t *testing.T) {
			t.Parallel()
			sum, least, plain, vote := 0.0, 1.0, 0.0, 0.0
			falseGroups := 0
			for seed := range draws {
				draw := 0.0
				for _, p := range pools {
					d := attack(p, seed, attacks[tt.attack](p))
					rng := rand.New(rand.NewPCG(seed, 99))
					gold := p.knownIn(t, d, p.truth, tt.gold, rng)
					truth := p.knownIn(t, d, p.truth, 1, rng)
					for i := range gold {
						if gold[i] != None {
							truth[i] = None
						}
					}
					r := fit(t, DefaultRobust(), d, gold)
					a, _ := r.Accuracy(truth)
					draw += a / float64(len(pools))
					b, _ := fit(t, DefaultDawidSkene(), d, gold).Accuracy(truth)
					plain += b / float64(len(pools)) / float64(draws)
					c, _ := fit(t, Majority{}, d, gold).Accuracy(truth)
					vote += c / float64(len(pools)) / float64(draws)
					if tt.attack == "nobody" {
						falseGroups += len(r.Groups)
					}
				}
				sum += draw / float64(draws)
				least = min(least, draw)
			}
			t.Logf("robust %.3f (least %.3f), ds-map %.3f, majority %.3f; published %.3f (%.3f), ds-map %.3f", sum, least, plain, vote, tt.mean, tt.least, tt.dsMap)
			// The draws are not those of the experiment. One of them has a group in bluebird
			// that cannot be tested: 108 tasks in which honest people hardly agree.
			if sum < tt.mean-.015 || least < tt.least-.045 {
				t.Errorf("robust %.3f, least %.3f; the experiment has %.3f, %.3f", sum, least, tt.mean, tt.least)
			}
			if falseGroups > 0 {
				t.Errorf("%d groups among honest people", falseGroups)
			}
		})
	}
}
