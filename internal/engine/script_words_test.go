package engine_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sla"
)

// newGate reads "min=2 max=3"; nothing is no gate.
func (s *script) newGate(word []string) engine.Gate {
	g := engine.Gate{On: len(word) > 0}
	for _, x := range word {
		switch key, value, _ := strings.Cut(x, "="); key {
		case "min":
			g.Min = parse(s, strconv.Atoi, value)
		case "max":
			g.Max = parse(s, strconv.Atoi, value)
		default:
			s.t.Fatalf("no option %q", x)
		}
	}
	return g
}

func (k *books) heldRows() []engine.Handout {
	var list []engine.Handout
	for _, r := range k.holding {
		list = append(list, r.Handout)
	}
	slices.SortFunc(list, func(x, y engine.Handout) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Assignment, y.Assignment))
	})
	return list
}

// spec reads "b1 tasks=2 count=3 …". The price is 0.10, the budget pays
// everything and the lease is 10 minutes unless it says otherwise.
func (s *script) spec(word []string) engine.Spec {
	x := engine.Spec{
		ID: parse(s, crowd.ParseBatchID, word[0]), Tenant: 1, Tasks: 1, Rule: label.Count(1), Reward: 100_000,
		Priority: 1, Lease: 10 * time.Minute, TaskTime: time.Minute,
	}
	for _, option := range word[1:] {
		key, value, _ := strings.Cut(option, "=")
		first, second, _ := strings.Cut(value, ":")
		switch key {
		case "tenant":
			x.Tenant = parse(s, crowd.ParseTenantID, value)
		case "tasks":
			x.Tasks = uint32(parse(s, strconv.Atoi, value))
		case "count":
			x.Rule = label.Count(parse(s, strconv.Atoi, value))
		case "agree":
			x.Rule = label.Agree(parse(s, strconv.Atoi, first), parse(s, strconv.Atoi, second))
		case "budget":
			x.Budget = parse(s, crowd.ParseMoney, value)
		case "lease":
			x.Lease = parse(s, time.ParseDuration, value)
		case "grace":
			x.Grace = parse(s, time.ParseDuration, value)
		case "revise":
			x.Revise = parse(s, time.ParseDuration, value)
		case "life":
			x.EndsAt = s.now.Add(parse(s, time.ParseDuration, value))
		case "needs":
			x.Requirements = append(x.Requirements, engine.Requirement{Name: first, Min: parse(s, strconv.Atoi, second)})
		case "invite":
			if x.Invited == nil {
				x.Invited = make(map[crowd.WorkerID][]uint32)
			}
			w := parse(s, crowd.ParseWorkerID, first)
			for n := range strings.SplitSeq(second, ",") {
				x.Invited[w] = append(x.Invited[w], uint32(parse(s, strconv.Atoi, n)))
			}
		case "training":
			x.Training = true
		case "enough": // labels:2, or spent:0.50
			x.Enough = s.enough(first, second)
		case "per-worker":
			x.PerWorker = parse(s, strconv.Atoi, value)
		case "not-by":
			x.NotBy = append(x.NotBy, value)
		case "open":
			x.Open = true
		case "checks": // FIRST:LEAST:TRAINING
			least, training, _ := strings.Cut(second, ":")
			share := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
			x.Checks = &engine.Checks{First: parse(s, share, first), Least: parse(s, share, least), Training: parse(s, strconv.Atoi, training)}
		case "known", "lesson": // N:ANSWER
			if x.Known == nil {
				x.Known = make(map[uint32]string)
			}
			n := uint32(parse(s, strconv.Atoi, first))
			if x.Known[n] = second; key == "lesson" {
				x.Lessons = append(x.Lessons, n)
			}
		case "quality": // CONDITION:pause, CONDITION:trainN, CONDITION:weightW, or CONDITION:TEXT of a warning, without spaces
			if n, is := strings.CutPrefix(second, string(engine.Train)); is {
				second = string(engine.Train) + " " + n
			} else if x, is := strings.CutPrefix(second, string(engine.LowerWeight)); is {
				second = string(engine.LowerWeight) + " " + x
			} else if second != string(engine.PausePerson) {
				second = string(engine.Warn) + " " + strconv.Quote(second)
			}
			x.Quality = append(x.Quality, engine.QualityRule{When: first, Do: second})
		case "promise": // after:cost, once
			x.SLA = &engine.Terms{Penalty: sla.Penalty{Kind: sla.Constant, After: parse(s, time.ParseDuration, first), Cost: parse(s, crowd.ParseMoney, second)}}
		case "small-crowd-ok":
			x.SmallCrowdOK = true
		default:
			s.t.Fatalf("no option %q", option)
		}
	}
	x.Budget = cmp.Or(x.Budget, x.Reward*crowd.Money(x.MostAnswers()))
	return x
}
