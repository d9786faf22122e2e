package web

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/throng-dev/throng/internal/server/batches"
)

// toRevise launches a batch whose answers are revised, of two tasks.
func (c *company) toRevise(t *testing.T, template string) string {
	t.Helper()
	boss := c.req.principal()
	b := read(c.app.Batches.Create(t.Context(), boss, batches.NewBatch{Tenant: 1, Name: "slips", Template: []byte(template), Reward: 10_000, Revise: time.Hour}))(t)
	read(c.app.Batches.Upload(t.Context(), boss, b.Spec.ID, strings.NewReader("thing\ncat\ndog\n"), batches.Upload{}))(t)
	read(c.app.Batches.Launch(t.Context(), boss, b.Spec.ID, true))(t)
	return b.Spec.ID.String()
}

// An answer that counts is revised with the keyboard alone, with scripts and without, and its pages are no wider than a
// phone.
func TestReviseByKeysInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 1)
	id := c.toRevise(t, undoForm)
	w := c.window(t, chrome, "w1")
	w.open("/work")
	w.until(`document.readyState === "complete" && document.getElementById("answer") !== null`)
	w.do(chromedp.SendKeys(`[name="s.what"]`, "a cat"+kb.Enter))
	w.says("Your answer is in.")
	for n, scripts := range []bool{true, false} {
		w.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
			return err
		}))
		w.open("/work/earnings")
		w.shots(fmt.Sprintf("revise-earnings-%t", scripts))
		w.tabTo(`a[href^="/work/revise/"]`)
		w.press(kb.Enter)
		w.says("What you give here takes its place")
		w.shots(fmt.Sprintf("revise-%t", scripts))
		w.tabTo(`[name="s.what"]`)
		w.press(kb.End)
		w.press(fmt.Sprint(" or ", n))
		w.tabTo("#submit")
		w.press(kb.Enter)
		w.says("Your new answer is in place of the one before")
		w.says("revised")
	}
	if got, err := answersOf(c, id); err != nil || !strings.Contains(got, "a cat or 0 or 1") {
		t.Errorf("the answer is %s, %v", got, err)
	}
	w.quiet()
}

// tabTo goes on with the key Tab until something has the focus.
func (w *window) tabTo(selector string) {
	w.t.Helper()
	for range 60 {
		if eval[bool](w, fmt.Sprintf(`document.activeElement?.matches(%q) ?? false`, selector)) {
			return
		}
		w.press(kb.Tab)
	}
	w.t.Fatalf("Tab never comes to %s\n%s", selector, w.words())
}

// An answer to a requester's own HTML comes out of its frame and takes the place of the one before.
func TestReviseInAFrameInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 1)
	id := c.toRevise(t, `{"kind": "html", "html": "<input name=\"what\" value=\"a dog\">"}`)
	w := c.window(t, chrome, "w1")
	held := read(c.app.Work.Next(t.Context(), c.workers[0].principal(), 0))(t)
	if _, _, err := c.app.Work.Submit(t.Context(), c.workers[0].principal(), held.Assignment, []byte(`{"what": "a cat"}`), false, 0); err != nil {
		t.Fatal(err)
	}
	w.open("/work/revise/" + held.Assignment.String())
	w.says(`{"what":"a cat"}`)
	w.until(`Number(document.getElementById("frame")?.height) > 0`)
	w.shots("revise-frame")
	// A click may miss the frame right after a change of size, so it is tried until it is heard.
	const done = `document.body?.innerText.includes("Your new answer is in place of the one before") === true`
	for try := 0; !eval[bool](w, done); try++ {
		if try == 20 {
			t.Fatalf("the answer does not come out of the frame:\n%s", w.words())
		}
		if at := eval[[]float64](w, `(() => { const r = document.getElementById("frame")?.getBoundingClientRect(); return r ? [r.left + 60, r.top + 20] : []; })()`); len(at) == 2 {
			w.do(chromedp.MouseClickXY(at[0], at[1]))
			w.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		}
		w.soon(done)
	}
	w.says("Your new answer is in place of the one before")
	if got, err := answersOf(c, id); err != nil || got != `{"what":"a dog"}` {
		t.Errorf("the answer is %s, %v", got, err)
	}
	w.quiet()
}
