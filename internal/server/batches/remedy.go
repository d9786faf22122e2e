package batches

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// Ways are the commands by which a requester has a batch finish with the people that there are.
type Ways struct {
	End   string // ends it early
	Fewer string // asks for fewer answers
}

// WaysOf are those of a batch.
func WaysOf(id crowd.BatchID) Ways {
	return Ways{End: "throng batch end " + id.String(), Fewer: fmt.Sprintf("ask for fewer answers (throng batch edit %s --redundancy N)", id)}
}

// WaysOfStep are those of a step of a run; batch is 0 before it has begun.
func WaysOfStep(run crowd.RunID, step string, batch crowd.BatchID) (w Ways) {
	w.Fewer = fmt.Sprintf("cancel the run (throng workflow cancel %s) and ask for fewer answers in its file", run)
	if batch != 0 {
		w = WaysOf(batch)
	}
	w.End = fmt.Sprintf("throng workflow end %s %s", run, step)
	return w
}

// Remedy names the commands that let a batch finish for which the crowd is too
// small. Of what only an admin may do, p is told to ask one if they are none.
func Remedy(p *access.Principal, c engine.Crowd, ways Ways) string {
	text := moreHands(p, c, ways.End)
	if c.SufficesForFewer() {
		text += ", or " + ways.Fewer
	}
	return text
}

// moreHands is Remedy with the answers that are wanted.
func moreHands(p *access.Principal, c engine.Crowd, end string) string {
	admin := p.May(access.AccountsCreateAnybody) == nil
	ask := "ask an administrator to "
	if admin {
		ask = ""
	}
	switch {
	case c.People >= c.Wanted && len(c.Asks) > 0: // for a task, but not for all
		return ask + "give it to somebody else (throng worker qualify NAME " + scores(c.Asks) + "), in the pool or new there (throng worker add NAME), or end it early (" + end + ")"
	case c.People >= c.Wanted:
		return ask + "add somebody (throng worker add NAME), or end it early (" + end + ")"
	case len(c.Lacks) == 0 && admin:
		return "add people with throng worker add NAME or throng worker invite --mail ADDRESS (--pool POOL, if it is not main)"
	case len(c.Lacks) == 0:
		return "invite people with throng worker invite --mail ADDRESS (--pool POOL, if it is not main), or ask an administrator to add them"
	}
	return ask + "give it to somebody with throng worker qualify NAME " + scores(c.Lacks)
}

// scores are the arguments of a command that has somebody meet requirements.
func scores(of []engine.Requirement) string {
	list := make([]string, len(of))
	for i, r := range of {
		list[i] = fmt.Sprintf("%s=%d", r.FullName(), r.Min)
		if strings.ContainsAny(list[i], " '$") {
			list[i] = strconv.Quote(list[i])
		}
	}
	return strings.Join(list, " ")
}

// remedies fills in what p can do about what keeps the batch waiting.
func (v *BatchView) remedies(p *access.Principal) {
	v.Remedy, v.CrowdRemedy = "", ""
	if v.Crowd.TooSmall() {
		v.CrowdRemedy = Remedy(p, v.Crowd, WaysOf(v.Spec.ID))
	}
	switch v.Reason {
	case crowd.EmergencyStop:
		v.Remedy = Lift(p, &v.Batch, v.Stops)
	case crowd.GateClosed:
		command := fmt.Sprintf("throng pool set %s --no-gate", v.Pool)
		if p.May(access.PoolsChange) != nil {
			command = "ask an administrator for " + command
		}
		v.Remedy = "to begin without them: " + command
	case crowd.PoolFull:
		command := fmt.Sprintf("throng pool set %s --max N, or --no-gate", v.Pool)
		if p.May(access.PoolsChange) != nil {
			command = "ask an administrator for " + command
		}
		v.Remedy = "who is inside keeps their place while they ask for work, also in vain, and gives it up by going off duty; to let in more: " + command
	case crowd.NoTraining:
		if v.Gate.On {
			v.Remedy = "it is handed out to everybody when the pool's gate is closed again"
			break
		}
		v.Remedy = fmt.Sprintf("to begin it for who then comes: throng pool set %s --training N", v.Pool)
		if p.May(access.PoolsChange) != nil {
			v.Remedy = fmt.Sprintf("ask an administrator for throng pool set %s --training N", v.Pool)
		}
	case crowd.NoWorkerReady:
		if !v.PaysNobody {
			break
		}
		command := fmt.Sprintf("throng pool fund %s AMOUNT", v.Pool)
		if p.May(access.PoolsFund) != nil {
			command = "ask an administrator for " + command
		}
		v.Remedy = "to have somebody called: " + command
	case crowd.BatchPaused:
		v.Remedy = fmt.Sprintf("to go on: throng batch resume %s", v.Spec.ID)
		if v.Run != 0 {
			v.Remedy = fmt.Sprintf("to go on: throng workflow resume %s", v.Run)
		}
	case crowd.BudgetSpent:
		switch {
		case v.OverBudget:
			v.Remedy = fmt.Sprintf("to add to it: throng workflow top-up %s AMOUNT", v.Run)
		case v.Unpaid == "":
			v.Remedy = fmt.Sprintf("to add to it: throng batch top-up %s AMOUNT", v.Spec.ID)
		}
	}
}

// Lift names the commands that lift the emergency stops that a batch is under; "" if
// there are none.
func Lift(p *access.Principal, b *store.Batch, stops engine.Stops) string {
	var lifts []string
	if stops.Pool {
		command := fmt.Sprintf("throng pool start %s", b.Pool)
		if p.May(access.PoolsChange) != nil {
			command = "ask an administrator for " + command
		}
		lifts = append(lifts, "to lift the stop of its pool: "+command)
	}
	if stops.Tenant {
		lifts = append(lifts, fmt.Sprintf("to lift the stop of its tenant: throng tenant start %s", b.Spec.Tenant))
	}
	if stops.Batch {
		lifts = append(lifts, fmt.Sprintf("to lift the stop of the batch: throng batch edit %s --start", b.Spec.ID))
	}
	return strings.Join(lifts, "; ")
}

// why says in words why what waits is not taken, and what somebody can do about it.
func (v *BatchView) why() string {
	switch {
	case v.Reason == crowd.CrowdTooSmall && v.Crowd.TooSmall():
		return "it cannot finish: " + v.Crowd.String() + "; " + v.CrowdRemedy
	case v.Remedy != "":
		return v.Because() + "; " + v.Remedy
	}
	return v.Because()
}

// Because says in words why what waits is not taken.
func (v *BatchView) Because() string {
	text := v.Reason.Text()
	switch v.Reason {
	case crowd.CrowdTooSmall:
		if v.Spec.Training {
			text = "it is for newcomers in training, and fewer of them are here than it wants answers from"
		}
	case crowd.EmergencyStop:
		text = v.Stops.String()
	case crowd.GateClosed:
		text = v.Gate.Missing()
	case crowd.NoWorkerReady:
		if v.PaysNobody {
			text = "nobody is there, and the pool's money for waiting is too little to call anybody"
		}
	case crowd.NoTaskYet:
		if v.Spec.ReviewOf != 0 {
			text = "no label of " + v.Spec.ReviewOf.String() + " waits for a review"
		}
	case crowd.PoolFull:
		text = v.Gate.Filled()
	}
	switch {
	case v.Unpaid == "":
		return text
	case v.Reason == crowd.BudgetSpent:
		return v.Unpaid
	}
	return text + "; " + v.Unpaid
}
