package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// edit reads "reward=0.20 count=3 enough=labels:3 reserve=1.00 release …": what a running batch
// is changed to.
func (s *script) edit(id crowd.BatchID, word []string) engine.Edit {
	var x engine.Edit
	for _, option := range word {
		spec := func() engine.Spec { return s.spec([]string{id.String(), option}) }
		switch key, value, _ := strings.Cut(option, "="); key {
		case "priority":
			p, err := strconv.ParseFloat(value, 64)
			must(s.t, err)
			x.Priority = &p
		case "due":
			at := s.now.Add(parse(s, time.ParseDuration, value))
			x.Deadline = &at
		case "reward":
			x.Reward = new(crowd.Money)
			*x.Reward = parse(s, crowd.ParseMoney, value)
		case "count", "agree":
			rule := spec().Rule
			x.Rule = &rule
		case "enough":
			x.Enough = spec().Enough
		case "no-enough":
			x.Enough = &engine.Enough{}
		case "production":
			x.Production = new(bool)
			*x.Production = parse(s, strconv.ParseBool, value)
		case "reserve":
			x.Reserve = parse(s, crowd.ParseMoney, value)
		case "release":
			x.Release = true
		case "small-crowd-ok":
			x.SmallCrowdOK = true
		default:
			s.t.Fatalf("no option %q", option)
		}
	}
	return x
}

// revised says what a batch has become, and which tasks were taken out of batches.
func (s *script) revised(ch *engine.Changes) {
	for _, x := range ch.Revisions {
		parts := []string{x.Reward.String(), x.Rule.String(), "production " + strconv.FormatBool(x.Production)}
		if x.Enough != nil {
			parts = append(parts, "enough "+x.Enough.String())
		}
		if x.Was.Reward > 0 {
			parts = append(parts, fmt.Sprintf("%s up to %s", x.Was.Reward, x.Batch.Assignment(x.Was.Last)))
		}
		if x.Added > 0 {
			parts = append(parts, fmt.Sprintf("%d tasks added", x.Added))
		}
		s.say("%s is now: %s", x.Batch, strings.Join(parts, ", "))
	}
	for _, x := range ch.Removals {
		s.say("%s is taken out", x.Task)
	}
}
