package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// TestMoneyOfWalks takes a hundred thousand short walks of submitting, undoing, returning, taking
// tasks out, changing the reward and ending, and adds up in the plainest way: each answer that
// counts is paid once what was promised for it, no other is, and a batch's budget goes to its
// answers and back, to the last micro-unit.
func TestMoneyOfWalks(t *testing.T) {
	t.Parallel()
	walks := uint64(100_000)
	if testing.Short() {
		walks = 10_000
	}
	did := make(happenings)
	for seed := range walks {
		if err := moneyWalk(rand.New(rand.NewPCG(seed, 38)), did); err != nil {
			t.Fatalf("walk %d: %v", seed, err)
		}
	}
	for _, what := range []string{"provisional", "taken back", "counted", "counted at the end", "late and counted", "late", "taken out", "rewarded anew", "cancelled", "ended", "done"} {
		if did[what] < 100 {
			t.Errorf("it came to %q %d times: %v", what, did[what], did)
		}
	}
}

// sums is what a walk adds up.
type sums struct {
	e        *engine.Engine
	ch       engine.Changes
	did      happenings
	promised map[crowd.AssignmentID]crowd.Money
	counted  map[crowd.AssignmentID]bool
	held     map[crowd.AssignmentID]bool // provisional
	balance  map[engine.Account]crowd.Money
	last     engine.Progress
}

func moneyWalk(r *rand.Rand, did happenings) error {
	s := &sums{
		e: engine.New(engine.Config{Policy: sched.MustParse("fs")}), did: did, promised: make(map[crowd.AssignmentID]crowd.Money),
		counted: make(map[crowd.AssignmentID]bool), held: make(map[crowd.AssignmentID]bool), balance: make(map[engine.Account]crowd.Money),
	}
	now := start
	if err := s.e.SetTenant(now, engine.Tenant{ID: 1, Weight: 1}); err != nil {
		return err
	}
	for id := range crowd.WorkerID(3) {
		if err := s.e.SetWorker(now, engine.Worker{ID: id + 1}); err != nil {
			return err
		}
	}
	rule := []label.Rule{label.Count(1), label.Count(2), label.Agree(2, 3)}[r.IntN(3)]
	spec := engine.Spec{
		ID: 1, Tenant: 1, Tasks: uint32(2 + r.IntN(4)), Rule: rule, Reward: crowd.Money(1 + r.IntN(99)), Priority: 1,
		Lease: time.Duration(20+r.IntN(60)) * time.Second, TaskTime: time.Second, Grace: time.Duration(1+r.IntN(40)) * time.Second,
	}
	spec.Budget = spec.Reward*crowd.Money(int(spec.Tasks)*rule.Most()) + crowd.Money(r.IntN(1000))
	if err := s.e.Launch(now, spec); err != nil {
		return err
	}
	var given []engine.Handout
	for range 60 {
		now = now.Add(time.Duration(r.IntN(15)) * time.Second)
		s.e.Tick(now)
		who := crowd.WorkerID(1 + r.IntN(3))
		h, holds := s.e.Holds(who)
		switch n := r.IntN(20); {
		case n < 6 && !holds:
			s.e.Ready(now, who)
		case n < 11 && holds:
			s.e.Submit(now, who, h.Assignment, "{}", key(r.Uint32()))
		case n < 13 && len(given) > 0: // late, or once more
			old := given[r.IntN(len(given))]
			s.e.Submit(now, old.Worker, old.Assignment, "{}", key(r.Uint32()))
		case n < 16 && len(given) > 0:
			old := given[r.IntN(len(given))]
			s.e.Undo(now, old.Worker, old.Assignment)
		case n == 16 && holds:
			s.e.Return(now, who, h.Assignment)
		case n == 17 && r.IntN(4) == 0:
			s.e.Remove(now, 1, 1+uint32(r.IntN(int(spec.Tasks))))
		case n == 18 && r.IntN(3) == 0:
			reward := crowd.Money(1 + r.IntN(99))
			if s.e.Edit(now, 1, engine.Edit{Reward: &reward, Reserve: 10_000, Release: r.IntN(2) == 0}) == nil {
				did["rewarded anew"]++
			}
		case n == 19 && r.IntN(4) == 0:
			s.e.CountNow(now, who)
		}
		if err := s.add(); err != nil {
			return err
		}
		given = append(given, s.ch.Handouts...)
	}
	if r.IntN(2) == 0 {
		s.e.Cancel(now, 1)
	} else {
		s.e.End(now, 1)
	}
	if err := s.add(); err != nil {
		return err
	}
	did[string(s.last.State)]++
	if escrow := s.balance[engine.Account{Kind: engine.BatchAccount, ID: 1}]; escrow != 0 || len(s.held) > 0 {
		return fmt.Errorf("it has ended with %s left, and %d provisional answers", escrow, len(s.held))
	}
	return nil
}

// add takes what has changed and adds it up.
func (s *sums) add() error {
	s.e.Take(&s.ch)
	for _, h := range s.ch.Handouts {
		s.promised[h.Assignment] = h.Reward
	}
	for _, u := range s.ch.Undone {
		if !s.held[u.Assignment] {
			return fmt.Errorf("%s is taken back, and was not provisional", u.Assignment)
		}
		delete(s.held, u.Assignment)
		s.did["taken back"]++
	}
	for _, a := range s.ch.Provisional {
		s.held[a.Assignment] = true
		s.did["provisional"]++
	}
	ended := false
	for _, p := range s.ch.Progress {
		s.last, ended = p, p.State.Ended()
	}
	due := make(map[crowd.AssignmentID]crowd.Money)
	for _, a := range s.ch.Answers {
		if s.counted[a.Assignment] || a.Kept != s.held[a.Assignment] {
			return fmt.Errorf("%+v: counted before: %t, provisional: %t", a, s.counted[a.Assignment], s.held[a.Assignment])
		}
		delete(s.held, a.Assignment)
		switch {
		case !a.Counted:
			s.did["late"]++
			continue
		case a.Late:
			s.did["late and counted"]++
		case ended:
			s.did["counted at the end"]++
		}
		s.did["counted"]++
		s.counted[a.Assignment], due[a.Assignment] = true, s.promised[a.Assignment]
	}
	for range s.ch.Removals {
		s.did["taken out"]++
	}
	for _, x := range s.ch.Transfers {
		s.balance[x.From] -= x.Amount
		s.balance[x.To] += x.Amount
		if x.Kind != engine.Reward {
			continue
		}
		if x.Amount != due[x.Assignment] {
			return fmt.Errorf("%s is paid %s, due is %s", x.Assignment, x.Amount, due[x.Assignment])
		}
		delete(due, x.Assignment)
	}
	if len(due) > 0 {
		return fmt.Errorf("not paid: %v", due)
	}
	spent, sum := crowd.Money(0), crowd.Money(0)
	for id := range s.counted {
		spent += s.promised[id]
	}
	for account, m := range s.balance {
		if sum += m; account.Kind == engine.BatchAccount && m < 0 {
			return fmt.Errorf("%s has %s", account, m)
		}
	}
	if sum != 0 || s.last.Spent != spent || !ended && s.last.Escrow != s.balance[engine.Account{Kind: engine.BatchAccount, ID: 1}] {
		return fmt.Errorf("accounts sum to %s; %s spent on answers worth %s, %s left", sum, s.last.Spent, spent, s.last.Escrow)
	}
	return s.e.Check()
}
