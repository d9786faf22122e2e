package cli

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// The order that is shown, the chosen batch, and the keys next to it must tell
// the same story, whatever the policy.
func TestExplainAgreesWithTheKeys(t *testing.T) {
	t.Parallel()
	for _, policy := range append(sched.Names(), "dafs(f=identity)", "beta-fair(beta=inf)", "tenant-fair(sdafs)", "wcfs(tenant-fair(fifo),k=0)") {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			compared := 0
			for range 300 {
				st := randomState(t, random)
				at := st.now(now())
				out := st.explain(sched.MustParse(policy), at, 0)
				order := sched.MustParse(policy)
				for _, b := range st.batches {
					order.Set(&b.Batch)
				}
				order.Next(at, &asker{order: make(map[crowd.BatchID]int)}) // keys are as of the last decision
				var keys []sched.Key
				for i, e := range out.Batches {
					which := slices.IndexFunc(st.batches, func(b stateBatch) bool { return b.id == e.ID })
					k, open := order.Key(st.batches[which].ID)
					if open != e.Open || (open && e.Place != i+1) {
						t.Fatalf("%s stands at place %d of the list, and says %d (open %t)", e.ID, i+1, e.Place, e.Open)
					}
					if open {
						keys = append(keys, k)
					}
				}
				for i := 1; i < len(keys); i++ {
					compared++
					if keys[i].Before(keys[i-1]) && !slices.Equal(keys[i].Rank, keys[i-1].Rank) {
						t.Fatalf("%v is listed before %v", keys[i-1], keys[i])
					}
				}
				chosen := order.Next(at, &asker{})
				first := out.Batches[0]
				switch {
				case chosen == 0 && out.Chosen != nil:
					t.Fatalf("the policy picks nothing, explain says %s", *out.Chosen)
				case chosen != 0 && (out.Chosen == nil || *out.Chosen != first.ID || !first.Chosen || !first.Candidate):
					t.Fatalf("the policy picks %d, explain says %v, and %s comes first", chosen, out.Chosen, first.ID)
				}
			}
			if compared < 300 {
				t.Fatalf("only %d pairs compared", compared)
			}
		})
	}
}

func randomState(t *testing.T, random *rand.Rand) *state {
	t.Helper()
	var list []map[string]any
	for i := range 1 + random.IntN(8) {
		planned := 1 + random.IntN(20)
		b := map[string]any{
			"id": i + 1, "tenant": []string{"acme", "rivals", ""}[random.IntN(3)], "priority": float64(1 + random.IntN(3)), "planned": planned,
			"completed": random.IntN(planned + 2), "running": random.IntN(4), "production": random.IntN(2) == 0, "turn": random.IntN(3), "task_time_seconds": 1 + random.IntN(3),
		}
		if random.IntN(2) == 0 {
			b["deadline"] = random.IntN(3) * 3600
		}
		list = append(list, b)
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	st, err := readState(strings.NewReader(string(data)), "-")
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// A policy is told the time that --at says, or else one that suits the state.
func TestExplainTellsTheTime(t *testing.T) {
	t.Parallel()
	current := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		state string
		want  time.Time
	}{
		"a deadline is a date":          {`[{"id":1,"planned":2,"deadline":"2030-01-01T00:00:00Z"},{"id":2,"planned":2,"arrived":70}]`, current},
		"an arrival is a date":          {`[{"id":1,"planned":2,"arrived":70},{"id":2,"planned":2,"arrived":"2030-01-01T00:00:00+01:00"}]`, current},
		"seconds: the latest arrival":   {`[{"id":1,"planned":2,"arrived":70.5},{"id":2,"planned":2,"arrived":9,"deadline":1000}]`, time.Unix(70, 500_000_000)},
		"also before 0":                 {`[{"id":1,"planned":2,"arrived":-70},{"id":2,"planned":2,"arrived":-71},{"id":3,"planned":1}]`, time.Unix(-70, 0)},
		"deadlines in seconds are none": {`[{"id":1,"planned":2,"deadline":1000}]`, time.Unix(0, 0)},
		"no time at all":                {`[{"id":1,"planned":2}]`, time.Unix(0, 0)},
	} {
		st, err := readState(strings.NewReader(c.state), "-")
		if err != nil {
			t.Fatal(err)
		}
		if got := st.now(current); !got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	for text, want := range map[string]time.Time{
		"1500":                      time.Unix(1500, 0),
		"2.25":                      time.Unix(2, 250_000_000),
		"2030-01-31T18:00:00+01:00": time.Date(2030, 1, 31, 17, 0, 0, 0, time.UTC),
	} {
		x := Explain{At: text}
		if got, err := x.at(&state{}); err != nil || !got.Equal(want) {
			t.Errorf("--at %s: got %v, %v, want %v", text, got, err, want)
		}
	}
	timed := &timed{Policy: sched.MustParse("fifo")}
	st := randomState(t, rand.New(rand.NewPCG(1, 1)))
	st.explain(timed, current, 0)
	if want := []time.Time{current, current}; !slices.Equal(timed.at, want) {
		t.Errorf("the policy was told %v, want %v", timed.at, want)
	}
}

// timed notes the times that a policy is told.
type timed struct {
	sched.Policy
	at []time.Time
}

func (p *timed) Next(at time.Time, w sched.Worker) crowd.BatchID {
	p.at = append(p.at, at)
	return p.Policy.Next(at, w)
}

func TestNumbered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		names []string
		want  map[string]int64
	}{
		"numbers stand for themselves":             {[]string{"10", "9", "9"}, map[string]int64{"9": 9, "10": 10}},
		"and after the letter":                     {[]string{"b10", "b9"}, map[string]int64{"b9": 9, "b10": 10}},
		"by number, though they cannot stand":      {[]string{"0", "10", "9"}, map[string]int64{"0": 1, "9": 2, "10": 3}},
		"also when they are long":                  {[]string{"99999999999999999999", "3"}, map[string]int64{"3": 1, "99999999999999999999": 2}},
		"equal numbers stay apart":                 {[]string{"01", "1"}, map[string]int64{"01": 1, "1": 2}},
		"else by the bytes":                        {[]string{"x10", "x9", "a"}, map[string]int64{"a": 1, "x10": 2, "x9": 3}},
		"one without the letter: by the bytes":     {[]string{"b10", "b9", "c1"}, map[string]int64{"b10": 1, "b9": 2, "c1": 3}},
		"nothing is a name too":                    {[]string{"", "acme"}, map[string]int64{"": 1, "acme": 2}},
		"the letter alone is no number":            {[]string{"b", "b1"}, map[string]int64{"b": 1, "b1": 2}},
		"too great for an id, so they are counted": {[]string{strconv.Itoa(1 << 40), "5"}, map[string]int64{"5": 1, strconv.Itoa(1 << 40): 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, numbered(slices.Clone(c.names), "b")); diff != "" {
				t.Errorf("numbers (-want +got):\n%s", diff)
			}
		})
	}
}
