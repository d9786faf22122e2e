package engine_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

var update = flag.Bool("update", false, "write what the engine does into testdata/*.txt")

// TestScripts plays the stories of testdata/*.txt. In each file a line that is
// not indented is a command or, with "#", prose; the indented lines after it
// are what it changed. Each "== title" starts a new pool. Between any two
// commands Check must find nothing. Run with -update to write the files again,
// and read the difference.
//
// The reasons that scripts bring out must be all that the engine can give.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no scripts in testdata")
	}
	reasons := make(map[string]bool)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			must(t, err)
			got := play(t, string(text), reasons)
			if *update {
				must(t, os.WriteFile(file, []byte(got), 0o644))
			} else if diff := gocmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
	for _, r := range crowd.Reasons() {
		// An ended batch is out of the pool: the service says so, not the engine.
		if possible := r != crowd.BatchEnded; possible != reasons[r.String()] {
			t.Errorf("reason %s: given by some script: %t, want %t", r, reasons[r.String()], possible)
		}
	}
}

// play runs a text and returns it with what was changed in the place of what
// was expected.
func play(t *testing.T, text string, reasons map[string]bool) string {
	var out strings.Builder
	var s *script
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, " "):
			continue
		case strings.HasPrefix(line, "== "):
			s = newScript(t, reasons)
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "==") {
			continue
		}
		for _, got := range s.do(line) {
			out.WriteString("  " + got + "\n")
		}
		must(t, s.e.Check())
	}
	return out.String()
}

type script struct {
	t       *testing.T
	e       *engine.Engine
	now     time.Time
	states  map[crowd.BatchID]crowd.BatchState
	tenants map[crowd.TenantID]engine.Tenant
	reasons map[string]bool
	lines   []string
	store   *store // for what is read from one
}

func newScript(t *testing.T, reasons map[string]bool) *script {
	s := &script{
		t: t, now: start, reasons: reasons,
		e:       engine.New(engine.Config{Pool: 1, Policy: sched.MustParse("fs")}),
		states:  make(map[crowd.BatchID]crowd.BatchState),
		tenants: make(map[crowd.TenantID]engine.Tenant),
		store:   newStore(),
	}
	s.check(s.setTenant(engine.Tenant{ID: 1, Weight: 1}))
	return s
}

func (s *script) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *script) check(err error) {
	if err != nil {
		s.say("%s: %s", crowd.CodeOf(err), err)
	}
}

// do runs one line and returns what there is to say about it.
func (s *script) do(line string) []string {
	s.lines = nil
	word := strings.Fields(line)
	if strings.HasPrefix(word[0], "u") && len(word[0]) <= 3 {
		s.worker(parse(s, crowd.ParseWorkerID, word[0]), word[1:])
	} else {
		s.requester(word[0], word[1:])
	}
	s.changes()
	return s.lines
}

func parse[T any](s *script, f func(string) (T, error), text string) T {
	v, err := f(text)
	must(s.t, err)
	return v
}

func (s *script) worker(id crowd.WorkerID, word []string) {
	var aid crowd.AssignmentID
	if len(word) > 1 && strings.HasPrefix(word[1], "a") {
		aid = parse(s, crowd.ParseAssignmentID, word[1])
	}
	switch word[0] {
	case "ready":
		h, ok, err := s.e.Ready(s.now, id)
		switch {
		case err != nil:
			s.check(err)
		case !ok:
			s.say("%s waits", id)
		case h.At != s.now:
			s.say("%s holds %s", id, h.Assignment)
		}
	case "answers":
		out, err := s.e.Submit(s.now, id, aid, `"`+word[2]+`"`, word[2])
		s.check(err)
		switch {
		case !out.CountsAt.IsZero():
			s.say("%s counts at %s%s", aid, s.clock(out.CountsAt), flags(", and had come already", out.Duplicate))
		case out.Duplicate:
			s.say("had come already: counted %t, late %t, paid %s", out.Counted, out.Late, out.Paid)
		}
	case "undoes":
		h, answer, err := s.e.Undo(s.now, id, aid)
		if s.check(err); err == nil {
			s.say("%s again until %s, in place of %q", h.Assignment, s.clock(h.Expires), answer.Key)
		}
	case "revises":
		s.revises(id, aid, word[2])
	case "sends-back":
		s.sendsBack(id, aid, strings.Join(word[2:], " "))
	case "returns":
		s.check(s.e.Return(s.now, id, aid))
	case "skips":
		s.check(s.e.Skip(s.now, id, aid))
	case "beats":
		until, err := s.e.Heartbeat(s.now, id, aid)
		if s.check(err); err == nil {
			s.say("until %s", s.clock(until))
		}
	case "leaves":
		s.e.Leave(s.now, id)
	case "why":
		why, err := s.e.WhyWorker(id)
		s.check(err)
		s.counts(why)
	case "starts":
		s.check(s.e.StartDuty(s.now, id))
	case "ends":
		off, err := s.e.EndDuty(s.now, id, engine.Departure(word[1]))
		if s.check(err); !off && err == nil {
			s.say("%s finishes first", id)
		}
	case "trains":
		s.check(s.e.Train(s.now, id, parse(s, strconv.Atoi, word[1])))
	case "on-call":
		s.onCall(id)
	default:
		s.t.Fatalf("a worker cannot %q", word)
	}
}

func (s *script) clock(at time.Time) string { return at.Sub(start).String() }

// counts says how often each reason was given.
func (s *script) counts(why map[crowd.Reason]int) {
	for _, r := range slices.Sorted(maps.Keys(why)) {
		s.reasons[r.String()] = true
		s.say("%s %d", r, why[r])
	}
}

func (s *script) requester(verb string, word []string) {
	switch verb {
	case "wait":
		s.now = s.now.Add(parse(s, time.ParseDuration, word[0]))
		s.e.Tick(s.now)
	case "policy":
		s.e.SetPolicy(sched.MustParse(word[0]))
	case "worker":
		s.check(s.e.SetWorker(s.now, s.newWorker(word)))
	case "remove":
		s.check(s.e.RemoveWorker(s.now, parse(s, crowd.ParseWorkerID, word[0])))
	case "tenant":
		s.check(s.setTenant(engine.Tenant{ID: parse(s, crowd.ParseTenantID, word[0]), Weight: 1}))
	case "launch":
		s.check(s.e.Launch(s.now, s.spec(word)))
	case "launch-reviewed":
		s.launchReviewed(word)
	case "retainer":
		s.check(s.e.SetRetainer(s.now, s.newRetainer(word)))
	case "gate":
		s.check(s.e.SetGate(s.now, s.newGate(word)))
	case "fund":
		from := engine.Account{Kind: engine.Outside}
		if len(word) > 1 {
			from = engine.Account{Kind: engine.TenantAccount, ID: int64(parse(s, crowd.ParseTenantID, word[1]))}
		}
		s.check(s.e.Fund(s.now, from, parse(s, crowd.ParseMoney, word[0])))
	case "withdraw":
		s.check(s.e.Withdraw(s.now, parse(s, crowd.ParseMoney, word[0])))
	case "account":
		p := s.e.RetainerFunds(s.now)
		s.say("%s in it, %s owed, %s paid%s", p.Funds, p.Owed, p.Paid, flags(", empty", p.Empty))
	case "reading":
		s.reading()
	case "uses":
		for _, u := range s.e.Uses() {
			s.say("%s: %s%s", u.Tenant, u.Worked, flags(", open", u.Open))
		}
	case "undo": // what a quality rule did
		s.check(s.e.UndoAction(s.now, parse(s, crowd.ParseBatchID, word[0]), uint32(parse(s, strconv.Atoi, word[1])), 9))
	case "timer":
		if at, ok := s.e.NextTimer(); ok {
			s.say("at %s", s.clock(at))
		}
	case "stop", "lift":
		s.stop(word[0], verb == "stop")
	default:
		s.batch(verb, parse(s, crowd.ParseBatchID, word[0]), word[1:])
	}
}

func (s *script) setTenant(t engine.Tenant) error {
	s.tenants[t.ID] = t
	return s.e.SetTenant(s.now, t)
}

func (s *script) stop(what string, stopped bool) {
	switch what[0] {
	case 'p':
		s.e.Stop(s.now, stopped)
	case 'n':
		t := s.tenants[parse(s, crowd.ParseTenantID, what)]
		t.Stopped = stopped
		s.check(s.setTenant(t))
	default:
		s.check(s.e.Edit(s.now, parse(s, crowd.ParseBatchID, what), engine.Edit{Stopped: &stopped}))
	}
}

func (s *script) batch(verb string, id crowd.BatchID, word []string) {
	switch verb {
	case "pause":
		s.check(s.e.Pause(s.now, id))
	case "resume":
		s.check(s.e.Resume(s.now, id))
	case "cancel":
		s.check(s.e.Cancel(s.now, id))
	case "end":
		s.check(s.e.End(s.now, id))
	case "top-up":
		s.check(s.e.TopUp(s.now, id, parse(s, crowd.ParseMoney, word[0])))
	case "grow", "grow-last":
		first := parse(s, strconv.Atoi, word[0])
		items := s.items(parse(s, strconv.Atoi, word[1]), word[2:])
		grow := s.e.Grow
		if verb == "grow-last" {
			grow = s.e.GrowLast
		}
		s.check(grow(s.now, id, uint32(first), items))
	case "take-over":
		s.check(s.e.TakeOver(s.now, id, engine.TakenOver{Labels: parse(s, strconv.Atoi, word[0]), Certainty: parse(s, func(x string) (float64, error) { return strconv.ParseFloat(x, 64) }, word[1])}))
	case "total":
		s.check(s.e.SetTotal(s.now, id, parse(s, strconv.Atoi, word[0])))
	case "seal":
		s.check(s.e.Seal(s.now, id))
	case "edit":
		s.check(s.e.Edit(s.now, id, s.edit(id, word)))
	case "disregard":
		s.disregard(id, word)
	case "take-out":
		s.check(s.e.Remove(s.now, id, uint32(parse(s, strconv.Atoi, word[0]))))
	case "status":
		x, ok := s.e.Status(id)
		if !ok {
			s.say("not running")
			return
		}
		s.reasons[x.Reason.String()] = true
		s.say("%s: planned %d = completed %d + running %d + waiting %d, labelled %d, escrow %s: %s",
			x.State, x.Planned, x.Completed, x.Running, x.Waiting, x.Labelled, x.Escrow, x.Reason)
		if x.Reason == crowd.CrowdTooSmall && x.Crowd.TooSmall() {
			s.say("%s", x.Crowd)
		}
	case "why":
		why, err := s.e.WhyBatch(id)
		if s.check(err); err == nil {
			s.reasons[why.Reason.String()] = true
			s.say("%s, %d ahead; of the workers:", why.Reason, why.Ahead)
			s.counts(why.Workers)
		}
	default:
		s.t.Fatalf("no command %q", verb)
	}
}

func (s *script) onCall(id crowd.WorkerID) {
	c, ok := s.e.OnCall(s.now, id)
	if !ok || !c.On {
		s.say("%s is off duty%s", id, flags(", to learn "+strconv.Itoa(c.Training), c.Training > 0))
		return
	}
	idle := "with a task"
	if !c.Idle.IsZero() {
		idle = "idle since " + s.clock(c.Idle)
	}
	s.say("%s is on duty since %s, %s, seen at %s, earned %s%s", id, s.clock(c.Since), idle, s.clock(c.Seen), c.Earned,
		flags(", waits", c.Waiting, ", outside as number "+strconv.Itoa(c.Outside), c.Outside > 0, ", goes then ("+string(c.Leaves)+")", c.Leaves != "", ", to learn "+strconv.Itoa(c.Training), c.Training > 0))
}

func (s *script) reading() {
	r := s.e.Reading(s.now)
	var idle []string
	for _, p := range r.Idle {
		idle = append(idle, p.ID.String())
	}
	s.say("%d on duty: %d busy, %d in training, idle %v; %d in the queue, the oldest %s, others %s; affordable %d",
		r.Workers, r.Busy, r.Training, idle, r.Queue, r.OldestWait, r.WaitP95, r.Affordable)
	t := r.Counters
	s.say("arrived %d, completed %d, abandoned %d, released %d; on duty %s = worked %s + idle %s",
		t.Arrived, t.Completed, t.Abandoned, t.Released, t.OnDuty, t.Worked, t.Idled)
	if t.Joined != 0 || t.Awaited != 0 {
		s.say("who was asked, the engine cannot know: %+v", t)
	}
}

// newRetainer reads "called silence=30s rate=0.06 promise=10m training=2".
func (s *script) newRetainer(word []string) engine.Retainer {
	var r engine.Retainer
	for _, x := range word {
		key, value, _ := strings.Cut(x, "=")
		switch key {
		case "called":
			r.Called = true
		case "silence":
			r.Silence = parse(s, time.ParseDuration, value)
		case "rate":
			r.Rate = parse(s, crowd.ParseMoney, value)
		case "promise":
			r.Promise = parse(s, time.ParseDuration, value)
		case "training":
			r.Training = parse(s, strconv.Atoi, value)
		default:
			s.t.Fatalf("no option %q", x)
		}
	}
	return r
}

// newWorker reads "u1 english=80 blocked=n1 staff=n2 serves=n3 suspended".
func (s *script) newWorker(word []string) engine.Worker {
	w := engine.Worker{ID: parse(s, crowd.ParseWorkerID, word[0]), Qualifications: make(map[string]int)}
	for _, x := range word[1:] {
		key, value, _ := strings.Cut(x, "=")
		switch key {
		case "suspended", "lent":
			w.Suspended, w.Lent = w.Suspended || key == "suspended", w.Lent || key == "lent"
		case "blocked":
			w.BlockedBy = append(w.BlockedBy, parse(s, crowd.ParseTenantID, value))
		case "staff":
			w.StaffOf = append(w.StaffOf, parse(s, crowd.ParseTenantID, value))
		case "serves":
			w.Serves = append(w.Serves, parse(s, crowd.ParseTenantID, value))
		default:
			w.Qualifications[key] = parse(s, strconv.Atoi, value)
		}
	}
	return w
}

// changes says what has changed.
func (s *script) changes() {
	var ch engine.Changes
	s.e.Take(&ch)
	s.store.apply(&ch)
	s.revised(&ch)
	for _, x := range ch.Ends {
		s.say("%s %s", x.Assignment, x.State)
	}
	for _, x := range ch.Answers {
		s.say("%s: %s%s", x.Assignment, x.Key, flags(" late", x.Late, " counted", x.Counted, " paid "+x.Paid.String(), x.Paid > 0))
	}
	s.sentBack(&ch)
	s.revisedAnswers(&ch)
	s.disregarded(&ch)
	for _, x := range ch.Labels {
		s.say("%s has its label: %s, %.2f of %d%s", x.Task, x.Value, x.Confidence, x.Answers, flags(", tie", x.Tie, ", undecided", x.Undecided))
	}
	for _, x := range ch.Actions {
		s.say("action %d of %s on %s: %s%s, as %s", x.N, x.Batch, x.Worker, x.Kind, flags(" ("+x.Text+")", x.Kind == engine.Train, " "+x.Weight.String(), x.Kind == engine.LowerWeight), x.When)
	}
	for _, x := range ch.Undoings {
		s.say("action %d of %s is undone", x.N, x.Batch)
	}
	for _, x := range ch.Transfers {
		if x.Kind != engine.Reward {
			s.say("%s from %s to %s", x.Amount, x.From, x.To)
		}
	}
	for _, x := range ch.Shifts {
		if !x.On {
			s.say("%s is off duty: %s", x.Worker, x.Why)
		}
	}
	for _, x := range ch.Duties {
		since := ""
		if x.On {
			since = " since " + s.clock(x.Since)
		}
		s.say("kept: %s on duty %t%s%s%s", x.Worker, x.On, since, flags(", "+string(x.Why), x.Why != ""), flags(", to learn "+strconv.Itoa(x.Training), x.Training > 0))
	}
	for _, x := range ch.Gates {
		s.say("the gate is open: %t", x.Open)
	}
	for _, x := range ch.Progress {
		if s.states[x.Batch] != x.State {
			s.states[x.Batch] = x.State
			s.say("%s is %s%s", x.Batch, x.State, flags(", it had enough", x.HadEnough))
		}
	}
	for _, x := range ch.Handouts {
		s.say("%s: %s to %s until %s%s", x.Assignment, x.Task, x.Worker, s.clock(x.Expires), flags(", who waited", slices.Contains(ch.Served, x)))
	}
}
