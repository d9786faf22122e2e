package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/wire"
)

// WorkerRun is "throng worker run".
type WorkerRun struct {
	Wait span `default:"60s" help:"How long each request waits for a task; 0s: stop when there is none."`
	Max  int  `placeholder:"N" help:"Stop after so many answers."`
	Remote
}

// Run works.
func (x *WorkerRun) Run(c *Context, r *remote) error {
	if x.Max < 0 {
		return wrong("max", "%d is not a number of answers", x.Max)
	}
	ctx, stop := c.untilSignal()
	defer stop()
	w := &working{remote: r, ctx: ctx, wait: min(x.Wait.Duration, work.MaxWait), most: x.Max, out: c.Stdout}
	w.in, w.over = lines(ctx, c.Stdin)
	w.outage.tell = func(text string) { w.event("away", problem{Code: crowd.Unavailable, Message: text}, "%s\n", text) }
	err := w.run()
	if w.held != nil {
		if back := r.Return(c.background(), w.held.Assignment); back == nil {
			w.event("returned", w.held.Assignment, "%s returned\n", w.held.Assignment)
		} else if err == nil {
			err = back
		}
	}
	if errors.Is(err, errQuit) {
		err = nil
	}
	if err == nil {
		w.event("finished", finished{w.answers, w.later, w.paid, w.awaits}, "%s, %s earned%s%s\n", format.Count(w.answers, "answer"), w.paid, when(w.awaits > 0, fmt.Sprintf(", %s awaits approval", w.awaits)), when(w.later > 0, fmt.Sprintf(", %d to count later", w.later)))
	}
	return err
}

// errQuit ends the work, and errSkipped the task, without being an error.
var (
	errQuit    = errors.New("quit")
	errSkipped = errors.New("skipped")
)

// working is a worker at the terminal.
type working struct {
	*remote
	ctx     context.Context
	wait    time.Duration
	most    int
	in      <-chan string
	over    context.Context // done at the end of the input
	outage  outage
	out     io.Writer
	pool    crowd.PoolID // in which they were last; 0: not known
	called  bool         // the pool calls its people
	begun   bool         // a request for a task was answered: they have been here
	held    *wire.Work
	answers int
	later   int // of them, provisional when they were given
	paid    crowd.Money
	awaits  crowd.Money // approval
}

// lines reads lines until the end, or until ctx is done; over is done then.
func lines(ctx context.Context, r io.Reader) (_ <-chan string, over context.Context) {
	out := make(chan string)
	over, end := context.WithCancel(context.Background())
	go func() {
		defer end()
		defer close(out)
		s := bufio.NewScanner(r)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			select {
			case out <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, over
}

// event tells what happened: a line of JSON, or a sentence.
func (w *working) event(name string, v any, sentence string, args ...any) {
	if w.json {
		_ = line(w.out, map[string]any{"event": name, name: v}) // if nobody reads, the next answer fails
		return
	}
	say(w.out, "%s", clean(fmt.Sprintf(sentence, args...)))
}

func (w *working) run() error {
	for w.most == 0 || w.answers < w.most {
		if w.held == nil {
			if err := w.next(); err != nil {
				return err
			}
		}
		if err := w.answer(); err != nil {
			return err
		}
	}
	return nil
}

// next waits for a task.
func (w *working) next() error {
	told := ""
	w.where()
	ctx, cancel := context.WithCancel(w.ctx) // whoever can answer no task needs none
	defer cancel()
	defer context.AfterFunc(w.over, cancel)()
	for {
		var work *wire.Work
		var why map[string]int
		err := w.outage.ask(ctx, func() (err error) {
			work, why, err = w.request()
			return err
		})
		if w.ctx.Err() != nil {
			return errQuit
		}
		if crowd.CodeOf(err) == crowd.OffDuty {
			return w.offDuty(err)
		}
		if err != nil {
			return err
		}
		w.begun = true
		if w.where() {
			told = "" // of the pool before
		}
		if work != nil {
			w.held = work
			w.show()
			return nil
		}
		if reasons := reasonsOf(why); reasons != told {
			w.event("nothing", why, "nothing to do: %s\n", reasons)
			told = reasons
		}
		if w.wait <= 0 || w.over.Err() != nil {
			return errQuit
		}
	}
}

// where says if they were moved to another pool, and reports it.
func (w *working) where() (moved bool) {
	d, err := w.Duty(w.ctx, "", 0)
	if err != nil {
		return false // if it matters, the next request fails, too
	}
	w.outage.reached = true // a server that goes away from now on is waited for, also before their first task
	if moved = w.pool != 0 && d.Pool != w.pool; moved {
		w.event("pool", wire.NamedPool{ID: d.Pool, Name: d.PoolName}, "you are in another pool now: %s\n", d.PoolName)
	}
	w.pool, w.called = d.Pool, d.CallsOnly
	return moved
}

// offDuty says what to do: as an error, if nothing was done yet, else as the end
// of the work. It is no error that they have gone themselves from a pool that calls nobody.
func (w *working) offDuty(err error) error {
	if !w.called && w.begun {
		err = crowd.Errorf(crowd.OffDuty, "%s (come back with: throng worker run)", err)
	} else {
		err = crowd.Errorf(crowd.OffDuty, "%s (wait for a call with: throng duty status --watch --until && throng duty on)", err)
		if w.answers == 0 {
			return err
		}
	}
	w.event("off_duty", refused(err), "%s\n", err)
	return errQuit
}

// request asks for a task, and waits for one while there is input to answer it with.
func (w *working) request() (*wire.Work, map[string]int, error) {
	next := w.Next
	if w.begun {
		next = w.NextUnlessLeft
	}
	if w.wait > 0 && w.over.Err() == nil {
		ctx, cancel := context.WithCancel(w.ctx)
		defer cancel()
		defer context.AfterFunc(w.over, cancel)()
		work, why, err := next(ctx, w.wait)
		if work != nil || w.over.Err() == nil {
			return work, why, err
		}
	}
	return next(w.ctx, 0)
}

func reasonsOf(why map[string]int) string {
	var list []string
	for _, reason := range crowd.Reasons() {
		if why[reason.String()] > 0 {
			list = append(list, reason.Text())
		}
	}
	return strings.Join(list, "; ")
}

// show prints the task.
func (w *working) show() {
	h := w.held
	if w.json {
		w.event("task", h, "")
		return
	}
	var b strings.Builder
	say(&b, "\n── %s · %s%s · pays %s · until %s ──\n", h.Name, h.Task, when(h.Training, " · training"), h.RewardMicros, h.ExpiresAt.Local().Format(time.TimeOnly))
	for _, text := range []string{h.View.Title, h.View.Instructions} {
		if text != "" {
			say(&b, "%s\n", text)
		}
	}
	for _, cell := range h.View.Cells {
		say(&b, "  %s: %s\n", cell.Label, cell.Text)
	}
	if v := h.View; v.Left != nil && v.Right != nil {
		say(&b, "  Left, %s: %s\n  Right, %s: %s\n", v.Left.Label, v.Left.Text, v.Right.Label, v.Right.Text)
	}
	showReview(&b, h)
	if h.Reply != "" {
		say(&b, "From %s: %s\n", from(h), h.Reply)
	}
	if h.View.Question != "" {
		say(&b, "%s\n", h.View.Question)
	}
	if h.View.Framed() {
		say(&b, "This task needs a browser: %s/work (here: s skip, u undo, p TEXT report, r return, q quit)\n", w.URL)
	}
	say(w.out, "%s", clean(b.String()))
}

// answer takes an answer and submits it, and takes the next task that comes
// with the reply.
func (w *working) answer() error {
	for {
		raw, err := w.ask()
		if errors.Is(err, errSkipped) {
			return nil
		}
		verdict := err
		if err != nil && !isVerdict(err) {
			return err
		}
		id := w.held.Assignment
		more := w.most == 0 || w.answers+1 < w.most
		var outcome wire.Outcome
		var next *wire.Work
		err = w.outage.ask(w.ctx, func() (err error) { // a repeated answer is counted once
			outcome, next, err = w.send(id, raw, verdict, more)
			return err
		})
		switch code := crowd.CodeOf(err); {
		case err == nil:
			w.answers++
			w.later += btoi(!outcome.CountsAt.IsZero())
			w.paid += outcome.PaidMicros
			w.awaits += outcome.HeldMicros
			w.held = next
			w.event("outcome", outcome, "%s\n%s", outcomeText(outcome), feedbackText(outcome.Feedback))
			if next != nil {
				w.show()
			}
			return nil
		case code == crowd.Invalid || code == crowd.TooLarge || staysHeld(err):
			w.event("refused", refused(err), "%s\n", err)
		case code == crowd.Conflict || code == crowd.NotFound:
			w.event("lost", refused(err), "%s\n", err)
			w.held = nil
			return nil
		default:
			return err
		}
	}
}

func refused(err error) problem { return problem{Code: codeOf(err), Message: message(err)} }

// ask returns the answer to the task in hand.
func (w *working) ask() (json.RawMessage, error) {
	if w.json {
		return w.askJSON()
	}
	controls := w.held.View.Controls
	if w.held.View.Framed() {
		controls = nil
	}
	if len(controls) == 0 {
		return nil, w.refuseAll()
	}
	answer := make(map[string]any, len(controls))
	for i := 0; i < len(controls); {
		control := &controls[i]
		text, err := w.prompt(control)
		if err != nil {
			return nil, err
		}
		value, err := valueOf(control, strings.Replace(text, "//", "/", btoi(strings.HasPrefix(text, "//"))))
		if err != nil {
			say(w.out, "%s\n", clean(err.Error()))
			continue
		}
		if value != nil {
			answer[control.Name] = value
		}
		i++
	}
	return json.Marshal(answer)
}

// refuseAll takes commands for a task that cannot be answered here.
func (w *working) refuseAll() error {
	for {
		if _, err := w.prompt(&task.Control{}); err != nil {
			return err
		}
		say(w.out, "only s, u, p TEXT, r and q here\n")
	}
}

// askJSON takes a line as it is.
func (w *working) askJSON() (json.RawMessage, error) {
	for {
		text, err := w.line()
		if err == nil {
			err = w.command(text, nil)
		}
		if err != nil {
			return nil, err
		}
		if json.Valid([]byte(text)) {
			return json.RawMessage(text), nil
		}
		w.event("refused", problem{Code: crowd.Invalid, Message: "the line is neither JSON nor s, u, p TEXT, r or q"}, "")
	}
}

func (w *working) line() (string, error) {
	select {
	case text, open := <-w.in:
		if !open {
			return "", errQuit
		}
		return strings.TrimSpace(text), nil
	case <-w.ctx.Done():
		return "", errQuit
	}
}

// hints say what a type of control takes.
var hints = map[task.ControlType]string{
	task.ControlCheckboxes: "(several, like 1,3; - for none) ",
	task.ControlCheckbox:   "(y or n) ",
	task.ControlDate:       "(like 2030-01-31) ",
}

// prompt asks for the value of a control, and carries a command out.
func (w *working) prompt(control *task.Control) (string, error) {
	var b strings.Builder
	if control.Label != "" {
		say(&b, "%s\n", control.Label)
	}
	if control.Help != "" {
		say(&b, "  (%s)\n", control.Help)
	}
	for i, o := range control.Options {
		key := o.Value
		if byNumber(control.Options) {
			key = strconv.Itoa(i + 1)
		}
		say(&b, "  %s  %s\n", key, o.Label)
	}
	hint := hints[control.Type]
	if control.Type == task.ControlNumber && control.Unit != "" {
		hint = control.Unit + " "
	}
	say(&b, "%s> ", hint)
	say(w.out, "%s", clean(b.String()))
	text, err := w.line()
	if err != nil || !onTerminal(w.c.Stdin) {
		say(w.out, "\n") // nobody pressed Enter
	}
	if err == nil {
		err = w.command(text, control)
	}
	return text, err
}

// command carries s, u, p TEXT, r and q out, and a and b TEXT in a review, and returns nil for anything else. In free
// text they are written /s, /u, /p TEXT, /r, /q, /a and /b TEXT, and so where an option is called so.
func (w *working) command(text string, control *task.Control) error {
	bare, slashed := strings.CutPrefix(text, "/")
	if !slashed && control != nil {
		free := control.Type == task.ControlText || control.Type == task.ControlTextArea
		named := slices.ContainsFunc(control.Options, func(o task.ViewOption) bool { return o.Value == text })
		if free || named {
			return nil
		}
	}
	if what, reports := strings.CutPrefix(bare, "p "); reports {
		return w.report(what)
	}
	if comment, back := strings.CutPrefix(bare, "b "); back {
		if err := w.sendBack(comment); err != nil {
			return err
		}
	}
	switch bare {
	case "a":
		return w.accept()
	case "s":
		skipped := w.held.Assignment
		var next *wire.Work
		if err := w.outage.ask(w.ctx, func() (err error) {
			next, err = w.Skip(w.ctx, skipped, 0)
			return err
		}); err != nil {
			return err
		}
		w.held = next
		w.event("skipped", skipped, "skipped\n")
		if next != nil {
			w.show()
		}
		return errSkipped
	case "u":
		return w.undo()
	case "r", "q":
		return errQuit
	}
	return nil
}

// valueOf reads what was typed for a control; nil leaves it out.
func valueOf(control *task.Control, text string) (any, error) {
	switch control.Type {
	case task.ControlRadio:
		if text != "" || control.Required {
			return option(control, text)
		}
		return nil, nil
	case task.ControlCheckboxes:
		list := []string{}
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			if part == "-" {
				continue
			}
			value, err := option(control, part)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case task.ControlCheckbox:
		switch strings.ToLower(text) {
		case "y", "yes", "true", "1":
			return true, nil
		case "n", "no", "false", "0", "":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither y nor n", text)
	}
	if text == "" && !control.Required {
		return nil, nil
	}
	return text, nil
}
