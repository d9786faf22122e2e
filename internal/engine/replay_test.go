package engine_test

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/sharedtest"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// recorded are the answers that real people gave to the tasks of a public data set.
type recorded struct {
	tasks   []string
	workers []string
	said    map[[2]string]string // by worker and task
	truth   map[string]string
	classes int
}

func readRecorded(t *testing.T, name string) *recorded {
	t.Helper()
	r := &recorded{said: make(map[[2]string]string), truth: make(map[string]string)}
	tasks, workers, classes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, row := range readRows(t, name, "labels.csv") {
		if !tasks[row[0]] {
			tasks[row[0]], r.tasks = true, append(r.tasks, row[0])
		}
		if !workers[row[1]] {
			workers[row[1]], r.workers = true, append(r.workers, row[1])
		}
		classes[row[2]] = true
		r.said[[2]string{row[1], row[0]}] = row[2]
	}
	for _, row := range readRows(t, name, "truth.csv") {
		r.truth[row[0]] = row[1]
	}
	r.classes = len(classes)
	return r
}

func readRows(t *testing.T, name, file string) [][]string {
	t.Helper()
	f, err := os.Open(sharedtest.Dir(t, "labels", name, file))
	must(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must(t, err)
	return rows[1:]
}

// replay asks the people of a data set for answers by a rule. Ten are there at once, each for some
// twenty tasks at a time, who answer at random times. It returns the answers a task, and
// the share of right labels that Dawid and Skene's method makes of what was bought.
func (r *recorded) replay(t *testing.T, rule label.Rule, seed uint64) (answers, accuracy float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	order := rng.Perm(len(r.tasks)) // task n of the batch is order[n-1] of the data
	e := engine.New(engine.Config{Policy: sched.MustParse("fifo")})
	must(t, e.SetTenant(start, engine.Tenant{ID: 1, Weight: 1}))
	for i := range r.workers {
		must(t, e.SetWorker(start, engine.Worker{ID: crowd.WorkerID(i + 1)}))
	}
	tasks := crowd.Money(len(r.tasks))
	must(t, e.Launch(start, engine.Spec{
		ID: 1, Tenant: 1, Tasks: uint32(tasks), Rule: rule.WithClasses(r.classes), Reward: 1, Budget: tasks * crowd.Money(rule.Most()),
		Priority: 1, Lease: time.Hour, TaskTime: time.Minute,
	}))
	now, bought := start, new(label.Builder)
	type visit struct {
		who  crowd.WorkerID
		left int
	}
	var there []visit
	for idle := 0; idle < 20*len(r.workers); {
		for len(there) < 10 {
			there = append(there, visit{crowd.WorkerID(1 + rng.IntN(len(r.workers))), 1 + rng.IntN(40)})
		}
		now = now.Add(time.Second)
		i := rng.IntN(len(there))
		v := &there[i]
		if h, holds := e.Holds(v.who); holds {
			task := r.tasks[order[h.Task.N()-1]]
			said, can := r.said[[2]string{r.workers[v.who-1], task}]
			if can {
				out, err := e.Submit(now, v.who, h.Assignment, said, said)
				must(t, err)
				if out.Counted {
					bought.Add(label.Answer{Task: task, Worker: r.workers[v.who-1], Label: said})
					answers++
				}
				v.left--
				idle = 0
			} else {
				must(t, e.Skip(now, v.who, h.Assignment)) // nobody knows what they would have said
			}
		}
		_, got, err := e.Ready(now, v.who)
		must(t, err)
		if !got || v.left <= 0 {
			idle++
			if h, holds := e.Holds(v.who); holds {
				must(t, e.Return(now, v.who, h.Assignment))
			}
			e.Leave(now, v.who)
			there = append(there[:i], there[i+1:]...)
		}
	}
	must(t, e.Check())
	d := bought.Build()
	fit, err := label.DefaultDawidSkene().Fit(d, nil)
	must(t, err)
	right := 0
	for i, task := range d.Tasks() {
		if class := fit.Labels[i]; d.Classes()[class] == r.truth[task] {
			right++
		}
	}
	return answers / float64(len(r.tasks)), float64(right) / float64(len(r.tasks))
}

// To ask until the label is sure takes fewer answers than seven a task and gives labels as good:
// on the answers of real people, replayed from several beginnings. Where tasks are hard for
// everybody (bluebird) little is saved.
func TestUntilSavesAnswers(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]float64{"dog": 0.68, "bluebird": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readRecorded(t, name)
			const draws = 6
			mean := func(rule label.Rule) (answers, accuracy float64) {
				for seed := range uint64(draws) {
					n, right := r.replay(t, rule, seed)
					answers, accuracy = answers+n/draws, accuracy+right/draws
				}
				t.Logf("%s: %.2f answers a task, %.3f right", rule, answers, accuracy)
				return answers, accuracy
			}
			n, right := mean(label.Until(0.99, 2, 10))
			if m, same := mean(label.Count(7)); n > share*m || right < same-0.01 {
				t.Errorf("%.2f answers and %.3f right, against %.2f and %.3f: more than %.0f %% of them, or worse", n, right, m, same, 100*share)
			}
		})
	}
}
