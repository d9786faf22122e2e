package web

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/throng-dev/throng/internal/kit/sharedtest"
)

// These tests drive a real Chromium. Without one they are skipped, unless
// THRONG_REQUIRE_BROWSER=1 says that it has to be there, as in CI. Pictures of
// every page go to $THRONG_SCREENSHOTS, if that is set.

// patience is how long a test waits for something that should happen at once.
const patience = 20 * time.Second

// startChromium starts one browser; each window is somebody of their own.
func startChromium(t testing.TB) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(sharedtest.Chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(alloc)
	if err := chromedp.Do(ctx); err != nil {
		stop()
		stopAlloc()
		t.Fatalf("Chromium does not start: %v", err)
	}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Logf("Chromium did not end well: %v", err)
		}
		stop()
		stopAlloc()
	})
	return ctx
}

// window is somebody's real browser.
type window struct {
	t    testing.TB
	ctx  context.Context
	site *site
	mu   sync.Mutex
	said []string // errors on the console
}

// window opens a browser of its own (cookies and all) and signs in.
func (s *site) window(t testing.TB, browser context.Context, name string) *window {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	w := &window{t: t, ctx: ctx, site: s}
	if err := chromedp.Do(ctx); err != nil { // the window lives as long as the context of its first action
		t.Fatal(err)
	}
	w.do(chromedp.EmulateViewport(1280, 800))
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if m.Type == "error" || m.Type == chromedp.ConsoleException {
				w.mu.Lock()
				w.said = append(w.said, m.Text)
				w.mu.Unlock()
			}
		}
	}()
	w.open("/signin")
	w.do(chromedp.SendKeys(chromedp.ID("signin-name"), name), chromedp.SendKeys(chromedp.ID("signin-password"), password+kb.Enter))
	w.until(`location.pathname !== "/signin" && document.readyState === "complete"`)
	return w
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		w.t.Fatalf("%v\n%s", err, w.words())
	}
}

func (w *window) open(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate(w.site.URL + path))
}

// eval returns the value of an expression in the page.
func eval[T any](w *window, expression string) T {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.ctx, patience)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		w.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to be true, over page loads too.
func (w *window) until(expression string) {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.ctx, patience)
	defer stop()
	for {
		// A page that is being left breaks the poll off; the next page is asked again.
		if ok, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Second))); err == nil && ok {
			return
		}
		if ctx.Err() != nil {
			w.t.Fatalf("never true: %s\n%s", expression, w.words())
		}
	}
}

// soon waits a second for an expression to be true.
func (w *window) soon(expression string) {
	// Whether it was is looked at again by the caller.
	_, _ = chromedp.Run(w.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Second)))
}

// says waits for a text on the page.
func (w *window) says(text string) {
	w.t.Helper()
	w.until(fmt.Sprintf("document.body && document.body.innerText.includes(%q)", text))
}

func (w *window) words() string {
	ctx, stop := context.WithTimeout(context.WithoutCancel(w.ctx), 2*time.Second)
	defer stop()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

func (w *window) press(keys string, opts ...chromedp.KeyOption) {
	w.t.Helper()
	w.do(chromedp.KeyEvent(keys, opts...))
}

// quiet checks that nothing went wrong on the console: a broken policy, a
// script's error.
func (w *window) quiet() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.said {
		if strings.Contains(text, "status of 4") { // answers that the test asked for
			continue
		}
		w.t.Errorf("the console says: %s", text)
	}
}

// shot keeps a picture, if pictures are wanted, and checks that the page is not
// wider than the window.
func (w *window) shot(name string) {
	w.t.Helper()
	if wide := eval[bool](w, `document.documentElement.scrollWidth > document.documentElement.clientWidth`); wide {
		over := eval[[]string](w, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll") && !e.closest(".hidden")).slice(0, 5).map(e => e.outerHTML.slice(0, 100))`)
		w.t.Errorf("%s is wider than the window: %q", name, over)
	}
	dir := os.Getenv("THRONG_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, stop := context.WithTimeout(w.ctx, patience)
	defer stop()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// shots takes a picture on a desk and on a phone.
func (w *window) shots(name string) {
	w.t.Helper()
	w.do(chromedp.EmulateViewport(1280, 800))
	w.shot(name)
	w.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	w.shot(name + "-phone")
	w.do(chromedp.EmulateViewport(1280, 800))
}

func TestInChromium(t *testing.T) {
	chrome := startChromium(t)

	t.Run("keys answer a task", func(t *testing.T) {
		c := newCompany(t, 2)
		c.launchCats("Cats")
		w := c.window(t, chrome, "w1")
		w.says("1.png a cat?")
		w.press("2")
		if got := eval[string](w, `new FormData(document.getElementById("answer")).get("s.label")`); got != "no" {
			t.Fatalf("the key 2 chose %q", got)
		}
		w.press("1")
		w.press(kb.Enter)
		w.says("2.png a cat?")
		w.says("Your answer is in.")
		if got := eval[string](w, `location.search`); got != "" {
			t.Errorf("a reload would show the notice again: %s", got)
		}
		// Enter without a choice sends nothing: the browser says what is missing.
		w.press(kb.Enter)
		if got := eval[int](w, `document.querySelectorAll("input:invalid").length`); got != 2 {
			t.Errorf("%d boxes are missing", got)
		}
		w.says("2.png a cat?")
		// What was chosen survives a reload.
		w.press("2")
		w.do(chromedp.Reload())
		if got := eval[string](w, `new FormData(document.getElementById("answer")).get("s.label")`); got != "no" {
			t.Errorf("after a reload %q is chosen", got)
		}
		w.press(kb.Enter)
		w.says("3.png a cat?")
		w.do(chromedp.Click(chromedp.ID("skip")))
		w.says("Waiting for a task")
		answers, err := answersOf(c, "b1")
		if err != nil || answers != `{"label":"yes"} {"label":"no"}` {
			t.Errorf("the answers are %s (%v)", answers, err)
		}
		w.quiet()
	})

	t.Run("the timer counts and the lease is kept alive", func(t *testing.T) {
		c := newCompany(t, 1)
		draft := c.req.get("/batches/new").form("/batches").set("name", "Short").set("tenant", "n1").sendFile("cats.csv", cats).want(200)
		draft.form(draft.URL.Path+"/settings").set("count", "1").set("lease", "0.1").press("then", "launch").send().want(200, "Launched")
		w := c.window(t, chrome, "w1")
		w.says("0:0")
		first := eval[string](w, `document.getElementById("timer").textContent`)
		w.until(fmt.Sprintf(`document.getElementById("timer").textContent < %q`, first))
		low := eval[string](w, `document.getElementById("timer").textContent`)
		w.do(chromedp.MouseClickXY(5, 400))
		w.until(fmt.Sprintf(`document.getElementById("timer").textContent > %q`, low)) // a sign of life renews the lease
		w.quiet()
	})

	t.Run("a requester's page is sealed off, and its answer arrives", func(t *testing.T) {
		c := newCompany(t, 1)
		page := `<p id="who">${name}</p>
<input name="stolen" id="stolen" value="nothing"><input name="note" id="note" value="hello ${name}">
<script>
const out = [];
const attempt = (name, f) => { try { out.push(name + "=" + f()); } catch (e) { out.push(name + " refused"); } };
attempt("cookie", () => document.cookie);
attempt("parent", () => parent.document.body.innerText);
attempt("storage", () => localStorage.length);
attempt("origin", () => origin);
document.getElementById("stolen").value = out.join("; ");
</script>`
		draft := c.req.get("/batches/new").form("/batches").set("name", "Mine").set("tenant", "n1").set("kind", "html").set("html", page).
			sendFile("cats.csv", cats).want(200, "Task 1 of 3")
		draft.form(draft.URL.Path+"/settings").set("count", "1").press("then", "launch").send().want(200, "Launched")
		w := c.window(t, chrome, "w1")
		w.until(`document.getElementById("frame") && Number(document.getElementById("frame").height) > 0`)
		// The page may come to listen after the frame has told its height, and asks.
		eval[bool](w, `(() => { const frame = document.getElementById("frame"); frame.removeAttribute("height");
			import(document.querySelector('script[src$="/work.js"]').src.replace("/work.js", "/frame.js")).then((m) => m.listen(frame, {})); return true; })()`)
		w.until(`Number(document.getElementById("frame").height) > 0`)
		if got := eval[bool](w, `document.getElementById("frame").contentDocument === null`); !got {
			t.Error("the frame shares the page's origin")
		}
		// Another window that speaks as the frame would is not heard. Messages come
		// in order, so when the second has been seen, so has the first.
		eval[bool](w, `window.heard = 0, window.addEventListener("message", () => { window.heard++; }), window.postMessage({throng: "answer", fields: {note: "forged"}}, "*"), window.postMessage("last", "*"), true`)
		w.until(`window.heard >= 2`)
		w.shots("work-html")
		// A click and then a key within the frame. Right after a change of size a
		// click may miss it, so both are tried until they are heard.
		for try := 0; !eval[bool](w, `document.body?.innerText.includes("Your answer is in.") === true`); try++ {
			if try == 20 {
				t.Fatalf("the answer does not come out of the frame:\n%s", w.words())
			}
			// The answer may be on its way: then the next page has another frame, or none.
			if at := eval[[]float64](w, `(() => { const r = document.getElementById("frame")?.getBoundingClientRect(); return r ? [r.left + 200, r.top + 20] : []; })()`); len(at) == 2 {
				w.do(chromedp.MouseClickXY(at[0], at[1]))
				w.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
			}
			w.soon(`document.body?.innerText.includes("Your answer is in.") === true`)
		}
		got, err := answersOf(c, "b1")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"cookie refused", "parent refused", "storage refused", "origin=null", "hello 1.png"} {
			if !strings.Contains(got, want) {
				t.Errorf("the answer is %s, without %q", got, want)
			}
		}
		if strings.Contains(got, "forged") {
			t.Errorf("a forged answer was taken: %s", got)
		}
	})

	t.Run("what was typed into a requester's page survives a lost tab", func(t *testing.T) {
		c := newCompany(t, 1)
		page := `<input name="note" id="note" style="width:100%; height:80px"><input type="radio" name="colour" value="red"><input type="radio" name="colour" value="blue" id="blue">
<input type="checkbox" name="sure" value="yes" id="sure" checked><select name="kinds" id="kinds" multiple><option>a</option><option>b</option><option>c</option></select>
<input name="pair" value="first"><input name="pair" id="second"><input type="hidden" name="load" id="load" value="fresh"><input type="hidden" name="events" id="events">
<script>
// Only what a person types sets the others: what is put back afterwards is not the page's doing.
note.addEventListener("input", (e) => {
	if (!e.isTrusted) { events.value = "heard " + note.value; return; }
	blue.checked = true; sure.checked = false; second.value = "2nd"; load.value = "stale";
	for (const o of kinds.options) o.selected = o.value !== "b";
});
</script>`
		draft := c.req.get("/batches/new").form("/batches").set("name", "Mine").set("tenant", "n1").set("kind", "html").set("html", page).
			sendFile("cats.csv", cats).want(200, "Task 1 of 3")
		draft.form(draft.URL.Path+"/settings").set("count", "1").press("then", "launch").send().want(200, "Launched")
		w := c.window(t, chrome, "w1")
		const kept = `Object.entries(localStorage).some(([k, v]) => k.startsWith("throng.draft.") && v.includes("typed"))`
		there := func() { w.until(`Number(document.getElementById("frame")?.height) > 0`) }
		// A click right after a page has come may miss the frame, so it is tried until it is heard.
		for try := 0; try < 20 && !eval[bool](w, kept); try++ {
			there()
			if at := eval[[]float64](w, `(() => { const r = document.getElementById("frame").getBoundingClientRect(); return [r.left + 100, r.top + 40]; })()`); len(at) == 2 {
				w.do(chromedp.MouseClickXY(at[0], at[1]))
			}
			w.press("typed")
			w.soon(kept)
		}
		w.do(chromedp.Reload())
		for try := 0; try < 20 && !eval[bool](w, `document.body?.innerText.includes("Your answer is in.") === true`); try++ {
			there()
			if at := eval[[]float64](w, `(() => { const r = document.getElementById("frame")?.getBoundingClientRect(); return r ? [r.left + 100, r.top + 40] : []; })()`); len(at) == 2 {
				w.do(chromedp.MouseClickXY(at[0], at[1]))
				w.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
			}
			w.soon(`document.body?.innerText.includes("Your answer is in.") === true`)
		}
		got, err := answersOf(c, "b1")
		if want := `{"colour":"blue","events":"heard typed","kinds":["a","c"],"load":"fresh","note":"typed","pair":["first","2nd"]}`; err != nil || !strings.HasPrefix(got, want) { // a key that came late may have answered the next task, too
			t.Errorf("the answers are %s (%v), want %s first", got, err, want)
		}
		if eval[bool](w, kept) {
			t.Error("the draft is kept after its answer is in")
		}
		w.quiet()
	})

	t.Run("the waiting page wakes by itself", func(t *testing.T) {
		c := newCompany(t, 2)
		w := c.window(t, chrome, "w1")
		w.says("Waiting for a task")
		w.says("no batch is running")
		w.shots("waiting")
		c.launchCats("Cats")
		w.says("1.png a cat?")
		w.quiet()
	})

	t.Run("progress moves while one looks", func(t *testing.T) {
		c := newCompany(t, 2)
		path := c.launchCats("Cats").URL.Path
		w := c.window(t, chrome, "rita")
		w.open(path)
		w.until(`Number(document.getElementById("live").dataset.seen) >= 1`)
		w.says("0 of 3")
		for _, b := range c.workers {
			b.get("/work").want(200).form("/work/submit").set("s.label", "yes").send().want(200)
		}
		w.says("1 of 3")
		w.says("33 %")
		w.shots("batch-running")
		c.req.post(path+"/do", map[string][]string{"do": {"pause"}}).want(200)
		w.until(`document.querySelector(".chip.paused") && document.readyState === "complete"`) // the buttons too are others now
		c.req.post(path+"/do", map[string][]string{"do": {"end"}}).want(200)
		w.until(`document.querySelector("h1 .chip").textContent === "ended"`)
		w.shots("batch-ended")
		w.quiet()
	})

	t.Run("a requester makes a batch by hand", func(t *testing.T) {
		c := newCompany(t, 1)
		file := writeFile(t, "pets.csv", "name,text\nRex,barks\nTom,meows\n")
		w := c.window(t, chrome, "rita")
		w.says("No batch yet")
		w.shots("batches-empty")
		w.open("/batches/new")
		w.shots("new")
		w.do(chromedp.SendKeys(chromedp.ID("new-name"), "Pets"), chromedp.SendKeys(chromedp.ID("new-question"), "What is ${name}?"))
		if shown := eval[bool](w, `document.getElementById("new-html").checkVisibility()`); shown {
			t.Error("the fields of another kind are shown")
		}
		w.do(chromedp.Click(chromedp.CSS(`[name="kind"][value="html"]`)))
		if shown := eval[bool](w, `document.getElementById("new-html").checkVisibility()`); !shown {
			t.Error("the fields of the chosen kind are hidden")
		}
		w.do(chromedp.Click(chromedp.CSS(`[name="kind"][value="choose_one"]`)), chromedp.SetValue(chromedp.ID("new-options"), "dog\ncat\n"),
			chromedp.SetUploadFiles(chromedp.ID("new-file"), []string{file}), chromedp.Click(chromedp.CSS(`main form button.primary`)))
		w.says("What is Rex?")
		w.shots("draft")
		asks := func(want bool) {
			t.Helper()
			if got := eval[bool](w, `!window.dispatchEvent(new Event("beforeunload", { cancelable: true }))`); got != want {
				t.Errorf("leaving asks: %t, want %t", got, want)
			}
		}
		asks(false)
		w.do(chromedp.SetValue(chromedp.ID("settings-reward"), "0.25"), chromedp.SetValue(chromedp.ID("settings-count"), ""), chromedp.SendKeys(chromedp.ID("settings-count"), "1"))
		w.until(`document.getElementById("cost").textContent === "0.50"`)
		asks(true)
		w.do(chromedp.Click(chromedp.CSS(`[name="look"]`)))
		w.says("What is Tom?")
		w.until(`document.getElementById("cost").textContent === "0.50"`)
		asks(true)
		w.do(chromedp.Click(chromedp.CSS(`[name="then"][value="launch"]`)))
		w.says("Launched")
		asks(false)
		w.quiet()
	})
}

func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// answersOf lists the answers of a batch in order.
func answersOf(c *company, id string) (string, error) {
	p := c.req.principal()
	b := crowdBatch(id)
	_, list, err := c.app.Batches.Annotations(context.Background(), p, b, true)
	if err != nil {
		return "", err
	}
	var out []string
	for a, err := range list {
		if err != nil {
			return "", err
		}
		out = append(out, string(a.Body))
	}
	return strings.Join(out, " "), nil
}
