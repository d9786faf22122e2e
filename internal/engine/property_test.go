package engine_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// TestRandomWorlds drives random worlds with random commands and holds every
// single one against the rules of an engine, as the books (books_test.go) have them.
func TestRandomWorlds(t *testing.T) {
	t.Parallel()
	worlds := uint64(10 * len(policies))
	seen := make(happenings)
	for seed := range worlds {
		list := commands(seed)
		if err := run(seed, list, seen); err != nil {
			short := shrink(seed, list)
			t.Fatalf("world %d: %v\nin short: %v after\n%s", seed, err, run(seed, short, make(happenings)), listing(short))
		}
	}
	checkSeen(t, seen)
}

// checkSeen fails if something that the worlds are made for never happened.
func checkSeen(t *testing.T, seen happenings) {
	t.Helper()
	want := []string{
		"handed out", "handed out by invitation", "a started task before fresh ones", "served while waiting",
		"ready: served", "ready: has to wait", "ready: holds one already", "ready: suspended", "ready: not in the pool",
		"answer late=false counted=true", "answer late=true counted=true", "answer late=true counted=false",
		"submit: duplicate, same answer true", "submit: duplicate, same answer false", "submit: somebody else's",
		"submit: forgotten", "submit: forgotten, kept late", "submit: given back before", "submit nonsense",
		"handed out again", "returned", "skipped", "reported", "expired", "withdrawn", "given back again", "lease extended",
		"label", "label with a tie", "label undecided", "label after an extension", "label of an early end",
		"launched", "launch refused: redundancy", "for everybody among invited ones",
		"batch paused", "batch running", "batch done", "batch ended", "batch cancelled", "batch is not running",
		"transfer: reserve", "transfer: reward", "transfer: hold", "pay is held", "transfer: release",
		"worker comes (back)", "worker removed", "remove: holds a task", "policy changed", "restart",
		"event ready_to_work", "event ready_to_aggregate", "event try_to_aggregate", "event update_task", "event remove_task",
	}
	want = append(want,
		"start duty", "start duty: suspended", "suspended: lifted in time", "start duty: taken back", "ready: off duty", "end duty: after the task", "retainer changed",
		"gone: left", "gone: silent", "gone: released", "gone: moved", "gone: unpaid",
		"gone while waiting: left", "gone while waiting: released", "gone while waiting: moved", "gone while waiting: unpaid",
		"duty kept, on false", "duty kept, on true", "handed out to learn from", "learnt", "nothing to learn from", "train: waits",
		"a wait renewed in time", "waiting that could not be paid", "waits in a pool that cannot pay", "withdraw: too much",
		"account empty, called false", "account empty, called true", "account empty to the nanosecond",
		"transfer: deposit", "transfer: waiting_share", "transfer: waiting", "transfer: withdrawal",
	)
	want = append(want,
		"grown", "grown: a gap", "grown: said twice", "grown: overlapping", "grown: sealed", "grown while paused", "grown while stopped", "grown, kept before it was told",
		"sealed", "sealed twice", "sealed: ended at once", "open batch ended", "open batch cancelled", "open batch restored", "no task yet",
		"batch with an order restored", "passed over what they held",
		"most urgent of several: atc", "most urgent among equals: atc", "urgent before an older task: atc", "urgent before an older task of another class: atc", "grown: no such class", "calendar moved: atc",
		"most urgent of several: event", "most urgent among equals: event", "urgent before an older task: event", "calendar moved: event",
		"response time moved", "tail moved", "told of what falls due", "people on duty when it looked ahead: true", "people on duty when it looked ahead: false", "bound moved", "bound moved while away", "budget of an open batch spent",
	)
	want = append(want,
		"revised: more expensive", "revised: cheaper", "revised: reserved", "revised: refused for reward", "revised: refused for redundancy", "revised: refused for the crowd",
		"revised: closed by it", "revised: paid as promised before", "revised: late, as promised before", "revised: nobody replaced", "revised while none was left to reward",
		"taken out: untouched", "taken out: with answers", "taken out: held", "taken out: labelled", "taken out twice", "taken out: none such", "taken out: the last one", "taken out: answered later", "taken out: of a step", "taken out: given back later",
		"released by an edit", "most: but for late answers", "most: but for what may be given back", "added", "added to invited ones", "added with an order", "added: reserved", "added: refused", "added: to an open batch", "added: by somebody else", "restored with tasks taken out", "restored with a past reward",
	)
	want = append(want,
		"ended by itself: labels", "ended by itself: share", "ended by itself: confidence", "ended by itself: spent", "enough, and somebody at work: labels",
		"enough, and somebody at work: share", "enough, and somebody at work: confidence", "enough, and somebody at work: spent", "enough: taken away", "enough: changed", "enough: refused for the budget", "most: what is enough",
		"total: said", "total: refused, sealed", "total: ended before all had come", "late, and one too many", "label that tells who", "refused: answered enough", "refused: answered elsewhere",
		"a fresh task before started ones", "label: sure enough", "label: sure by what others showed", "label: unsure to the end", "label: sure by answers to other tasks", "label: unsure at an early end",
		"passed over: excluded", "restored with exclusions", "restored with bounds on people",
	)
	want = append(want,
		"reported: a task with answers", "reported: held by others, too", "reported: a second time", "reported: a task taken out", "reported: labelled by others", "reported: taken out later", "reported: in a batch that is done", "reported: in a batch that is ended", "reported: in a batch that is cancelled", "reported: in a batch that is paused",
		"undo", "undo: answered provisionally", "undo: an answer came to count", "undo: counted before its time", "undo: submitted again meanwhile",
		"undo: a task with answers", "undo: a task taken out", "undo: of a paused batch", "undo: a stopped batch", "undo: a bounded batch", "undo: a batch with enough", "undo: after an edit", "undo: by invitation", "undo: with an SLA",
		"undo: comes on duty", "undo: what they learnt from", "undo: restored with provisional answers", "undo: put down another one", "undo: waited", "undo refused: left the pool", "undo refused: suspended", "undo refused: off duty", "undo refused: forgotten",
		"undo refused: submitted", "undo refused: returned", "undo refused: skipped", "undo refused: expired", "revised: provisional, as promised before",
		"report refused: submitted", "report refused: returned", "report refused: skipped", "report refused: expired", "report refused: ended with its task",
	)
	want = append(want,
		"check: handed out", "check: held by several", "check: among tasks with an order", "check: labelled from the start", "check: answered, right true, counted true", "check: answered, right false, counted true", "check: answered, right true, counted false",
		"added: with known answers",
	)
	want = append(want,
		"disregard", "disregard: asked again", "disregard: labelled again", "disregard: another label", "disregard: of the first task", "disregard: an open task", "disregard: a held task", "disregard: a check", "disregard: a task taken out", "disregard: a corrected task",
		"disregard: nothing is left", "disregard: twice of one task", "disregard: by invitation", "disregard: sure by the answers", "disregard: reserved", "disregard: refused for the budget", "disregard: of a workflow", "disregard: of a paused batch", "disregard: of somebody who left",
		"disregard: restored", "disregard: with rules", "disregard: a bounded batch", "disregard: late answer to a task asked again", "disregard: too late",
	)
	want = append(want,
		"revise", "revise: asked again", "revise: labelled again", "revise: another label", "revise: of the first task", "revise: an open task", "revise: a held task", "revise: a check", "revise: the same again", "revise: by invitation", "revise: sure by the answers",
		"revise: more than once", "revise: of a paused batch", "revise: of somebody who left", "revise: held pay", "revise: after a grace", "revise: with rules", "revise: of a task asked again",
		"revise refused: ended", "revise refused: read before", "revise refused: not in this batch", "revise refused: does not count", "revise refused: too late", "revise refused: too often", "revise refused: its pay is decided", "revise refused: disregarded", "revise refused: has taught",
		"revise refused: suspended", "revise refused: paused by a rule", "revise refused: not theirs any more", "revise refused: taken out", "revise refused: decided", "revise refused: no money",
		"lesson: handed out", "lesson: of a rule", "lesson: held by several", "lesson: among tasks with an order", "lesson: no room", "lesson: all had", "lesson: added", "lesson: counts at once, with a grace",
		"lesson: answered, right true, counted true", "lesson: answered, right false, counted true", "lesson: answered, right true, counted false", "lesson: returned", "lesson: expired", "lesson: withdrawn",
		"lesson: granted", "lesson: fewer granted", "lesson: none left to grant", "lesson: withdrawn by an undoing", "lesson: undone when all were given",
	)
	for _, r := range plainRules {
		want = append(want, "rule: "+r.When)
	}
	want = append(want, "rule: refused", "rule: acts anew", "rule: undone warn", "rule: undone pause", "rule: undone train", "rule: undone weight", "weight: a lower one", "weight: another label", "weight: longer until they agree", "weight: agreed by an undoing", "rule: undone twice", "rule: paused with a task of the batch")
	for _, op := range []string{"revise", "add", "grow", "train", "submit", "return", "skip", "report", "tick", "launch", "resume", "top up", "start batch", "start", "start tenant", "worker"} {
		want = append(want, "waiting worker served by "+op)
	}
	for _, p := range policies {
		want = append(want, "handed out under "+p)
	}
	var never []string
	for _, what := range want {
		if seen[what] == 0 {
			never = append(never, what)
		}
	}
	if len(never) > 0 {
		slices.Sort(never)
		t.Errorf("in all worlds this never happened, so nothing was tested about it:\n  %s", strings.Join(never, "\n  "))
	}
	t.Logf("%v", seen)
}

// trace runs commands and returns what each of them changed, as JSON.
func trace(t *testing.T, seed uint64, list []command, perm func(int) []int) []string {
	t.Helper()
	w, err := newWorld(seed, make(happenings), perm)
	must(t, err)
	must(t, w.settle())
	var lines []string
	for _, c := range list {
		must(t, w.do(c))
		line, err := json.Marshal(&w.ch)
		must(t, err)
		lines = append(lines, c.op+": "+string(line))
	}
	return lines
}

// TestSameCommandsSameChanges is determinism: the same commands change the same
// things in the same order, and it does not matter in which order workers and
// tenants were made known before.
func TestSameCommandsSameChanges(t *testing.T) {
	t.Parallel()
	handouts := 0
	for seed := range uint64(len(policies)) {
		list := commands(seed)
		first := trace(t, seed, list, inOrder)
		for name, perm := range map[string]func(int) []int{
			"again":                 inOrder,
			"workers the other way": func(n int) []int { p := inOrder(n); slices.Reverse(p); return p },
			"workers shuffled":      rand.New(rand.NewPCG(seed, 9)).Perm,
		} {
			if diff := cmp.Diff(first, trace(t, seed, list, perm)); diff != "" {
				t.Fatalf("world %d, %s: changes differ (-first +then):\n%s", seed, name, diff)
			}
		}
		handouts += strings.Count(strings.Join(first, "\n"), `"Reward":`)
	}
	if handouts < 1000 {
		t.Errorf("only %d hand-outs were compared", handouts)
	}
}

// TestRestoredGoesOnAlike runs an engine and one restored from its store side
// by side. One batch of one answer a task leaves nothing that a restart forgets
// (turns, the order in which tasks came back, concessions), so every change
// must be the same.
func TestRestoredGoesOnAlike(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		policy := []string{"fs", "wfs", "edf", "fifo", "sjf"}[seed%5]
		w, err := newWorld(seed, make(happenings), inOrder)
		must(t, err)
		w.k.policy = policy
		w.e.SetPolicy(sched.MustParse(policy))
		s := benchSpec(1, 60)
		s.Rule, s.Budget, s.SmallCrowdOK = label.Count(1), 70*s.Reward, true
		must(t, w.e.Launch(w.now, s))
		w.last = 1
		w.k.launch(s)
		w.store.specs[1] = s
		must(t, w.settle())
		plain := func() command {
			return command{[]string{"ready", "submit", "submit"}[r.IntN(3)], r.Uint32(), r.Uint32(), r.Uint32()}
		}
		for range 5 + r.IntN(60) {
			must(t, w.do(plain()))
		}
		if len(w.running()) == 0 {
			continue
		}
		twin, err := engine.Restore(w.now, engine.Config{Policy: sched.MustParse(policy), Observe: true}, w.store.snapshot(false))
		must(t, err)
		for _, p := range w.e.People(w.now) { // in a pool that everybody may enter this is not kept
			must(t, twin.StartDuty(w.now, p.Worker))
		}
		for _, id := range w.k.waiting {
			_, _, err := twin.Ready(w.now, id)
			must(t, err)
		}
		var got engine.Changes
		twin.Take(&got)
		for len(w.running()) > 0 {
			c := plain()
			holder, holds := w.held(c.a)
			must(t, w.do(c))
			switch who := w.worker(c.a); {
			case c.op == "ready":
				twin.Ready(w.now, who)
			case holds:
				_, err := twin.Submit(w.now, holder.Worker, holder.Assignment, `{"label":"`+key(c.b)+`"}`, key(c.b))
				must(t, err)
			}
			twin.Take(&got)
			if diff := cmp.Diff(w.ch, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(engine.Event{}, "N")); diff != "" {
				t.Fatalf("world %d, %s: changes differ (-original +restored):\n%s", seed, c, diff)
			}
			compared += len(got.Handouts) + len(got.Answers)
		}
	}
	if compared < 500 {
		t.Errorf("only %d hand-outs and answers were compared", compared)
	}
}

// TestBacklogWithGaps takes a batch of 300 tasks, three answers each, through
// the hands of six people one after the other, all of whom skip some. So tasks
// leave the backlog from its middle, and each person's way through it must
// survive that the gaps are closed.
func TestBacklogWithGaps(t *testing.T) {
	t.Parallel()
	w, err := newWorld(1, make(happenings), inOrder)
	must(t, err)
	for id := range crowd.WorkerID(6) {
		must(t, w.setWorker(engine.Worker{ID: id + 1}))
	}
	s := benchSpec(1, 300)
	w.now, w.last = w.now.Add(time.Second), 1
	w.k.advance(w.now)
	must(t, w.e.Launch(w.now, s))
	w.k.launch(s)
	w.store.specs[1] = s
	must(t, w.settle())
	step := func(id crowd.WorkerID, skip bool) bool {
		must(t, w.ready(id))
		must(t, w.settle())
		h, ok := w.e.Holds(id)
		switch {
		case !ok:
			w.leave(id)
			return false
		case skip:
			must(t, w.e.Skip(w.now, id, h.Assignment))
		default:
			must(t, w.submit(h, "A"))
		}
		must(t, w.settle())
		return true
	}
	for i := range 40 { // everybody is somewhere in it when the gaps come
		for id := range crowd.WorkerID(6) {
			step(id+1, (i+int(id))%6 == 0)
		}
	}
	for id := range crowd.WorkerID(6) {
		for i := 0; step(id+1, i%(5+int(id)) == 0); i++ {
		}
	}
	if done := w.k.batches[1].labelled; done < 250 {
		t.Errorf("%d labels of 300: too few people came to too few tasks", done)
	}
}
