package demo

import (
	"math/rand/v2"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

// What happens in the scene of live pools is drawn beforehand: the load of each
// pool, and for each person what they do at their first, second and further call
// and task. So the same seed makes the same decisions, whatever the timing.

var (
	tenantNames   = []string{"Alder Research", "Birch Support"}
	tenantWeights = []float64{2, 1}
)

// The time of an answer, evenly between the two.
const (
	leastService = 200 * time.Millisecond
	mostService  = 500 * time.Millisecond
	meanService  = (leastService + mostService) / 2
)

// How people behave.
const (
	comes     = 0.75 // to a call; else
	declines  = 0.15
	abandons  = 0.03 // after an answer
	mostDelay = 1500 * time.Millisecond
	lessDelay = 300 * time.Millisecond
	mostRest  = 3 * time.Second // after leaving unasked
)

// habits are what a person will decide. Each kind of decision has a stream of its
// own, of which each decision takes as many figures as any other.
type habits struct {
	calls, tasks, rests *rand.Rand
	likes               []float64 // each pool
}

func newHabits(seed uint64, person, pools int) *habits {
	stream := func(kind uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(person)<<8|kind)) }
	h := &habits{calls: stream(1), tasks: stream(2), rests: stream(3)}
	wishes := stream(4)
	for range pools {
		h.likes = append(h.likes, float64(wishes.IntN(11))/10)
	}
	return h
}

// reply is what somebody does who is called.
type reply string

const (
	comesIn reply = "comes"
	refuses reply = "declines"
	ignores reply = "ignores"
)

// call decides on the next call.
func (h *habits) call() (reply, time.Duration) {
	x, after := h.calls.Float64(), lessDelay+time.Duration(h.calls.Float64()*float64(mostDelay-lessDelay))
	switch {
	case x < comes:
		return comesIn, after
	case x < comes+declines:
		return refuses, after
	}
	return ignores, after
}

// task decides on the next task: how long it takes, and whether they leave then.
func (h *habits) task() (takes time.Duration, leaves bool) {
	takes = leastService + time.Duration(h.tasks.Float64()*float64(mostService-leastService))
	return takes, h.tasks.Float64() < abandons
}

// rest decides how long they answer no call.
func (h *habits) rest() time.Duration { return time.Duration(h.rests.Float64() * float64(mostRest)) }

// planned is a batch to come.
type planned struct {
	at      time.Duration // after the begin
	tenant  int
	tasks   int
	first   int // number to judge
	twofold bool
}

func (p planned) answers() int {
	if p.twofold {
		return 2
	}
	return 1
}

// poolPlan is a pool to be: how it is controlled, and its load.
type poolPlan struct {
	name     string
	sizes    string // what controls it, for people
	training int
	control  wire.Control
	load     []planned
}

// Of the load: how often a batch comes, until when (as a share of the time), and
// the answers a second that 60 people are asked for, in quiet times and in the
// peak.
const (
	batchEvery = time.Second
	loadUntil  = 0.9
	quiet      = 4.0
	peak       = 18.0
)

// poolPlans are the pools of the scene. Their peaks follow one another, so that one
// has people to spare when the next one needs them.
func poolPlans(o Options) []poolPlan {
	kinds := []struct {
		name, elasticity, stability string
		training                    int
		rises, falls                float64 // of the load, as shares of the time
	}{
		{"reviews", "feed-forward(clear=10s)", "none", 0, 0.10, 0.40},
		{"photos", "ct-p(kp=3)", "hybrid(window=10s)", 1, 0.35, 0.65},
		{"chats", "rules", "hybrid(window=10s)", 0, 0.55, 0.80},
	}
	window := max(min(10*time.Second, o.For/3), 2*time.Second)
	plans := make([]poolPlan, len(kinds))
	for i, k := range kinds {
		balance, least, most := true, 1, max(2, o.People/len(kinds))
		seconds, cooldown, task := window.Seconds(), window.Seconds()/10, meanService.Seconds()
		salary := float64(waitingRate) / float64(crowd.Unit)
		p := &plans[i]
		*p = poolPlan{name: k.name, sizes: k.elasticity + " + " + k.stability, training: k.training, control: wire.Control{
			Elasticity: &k.elasticity, Stability: &k.stability, Balance: &balance, Min: &least, Max: &most, WindowSeconds: &seconds, CooldownSeconds: &cooldown,
			Expect: &wire.Expect{TaskTimeSeconds: &task}, Target: &wire.Target{Salary: &salary},
		}}
		if k.elasticity == "rules" {
			p.control.Rules = rules(kinds[0].name)
		}
		p.load = loadOf(o, i, k.rises, k.falls)
	}
	return plans
}

// loadOf draws the batches of a pool.
func loadOf(o Options, i int, rises, falls float64) []planned {
	random := rand.New(rand.NewPCG(o.Seed, uint64(i)<<8))
	share := func(x float64) time.Duration { return time.Duration(x * float64(o.For)) }
	var list []planned
	left := 0.0
	for at := time.Duration(0); at < share(loadUntil); at += batchEvery {
		rate := quiet
		if at >= share(rises) && at < share(falls) {
			rate = peak
		}
		b := planned{at: at, twofold: random.IntN(3) == 0, first: random.IntN(1_000_000)}
		if random.Float64()*(tenantWeights[0]+tenantWeights[1]) >= tenantWeights[0] {
			b.tenant = 1
		}
		// Half of it to one and a half times of it.
		left += rate * batchEvery.Seconds() * float64(o.People) / DefaultPeople * (0.5 + random.Float64())
		if b.tasks = int(left) / b.answers(); b.tasks == 0 {
			continue
		}
		left -= float64(b.tasks * b.answers())
		list = append(list, b)
	}
	return list
}

// rules are those of a pool that decides by them.
func rules(from string) *[]pool.Rule {
	return &[]pool.Rule{
		{When: "queue > 8 || c_star - workers - coming > 1", Do: "recruit 1"},
		{When: "queue > 12 && idle == 0", Do: "transfer 1 from " + from},
		{When: "idle > 2 && queue == 0", Do: "release 1"},
	}
}
