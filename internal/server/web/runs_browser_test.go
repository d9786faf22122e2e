package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// wideFlow has branches, conditions and a join: a picture of some size.
const wideFlow = `workflow: Check what shops sell
budget: 50.00
sla:
  classes:
    expensive: {when: price > 40, penalty: staged, after: 2m, every: 2m, cost: 0.50, at_most: 3.00}
    others: {penalty: staged, after: 2m, every: 2m, cost: 0.50, at_most: 3.00}
inputs:
  pets: {columns: [name, {price: number}]}
steps:
  kind:
    from: {pets: stream}
    crowd:
      template: {kind: choose_one, question: "What is ${name}?", options: [cat, dog], show: [name]}
      redundancy: {agree: 2, of: 3}
      reward: 0.10
  risk:
    from: {pets: stream}
    service: {url: "URL", send: [name], tries: 1, response: {type: object, properties: {risk: {type: number}}, required: [risk]}}
  expert:
    from: {kind: stream}
    when: kind_undecided or kind_confidence < 0.6
    crowd:
      template: {kind: choose_one, question: "The others disagree about ${name}.", options: [cat, dog], show: [name]}
      reward: 0.50
  both:
    from: {expert: stream, risk: stream}
    sql: select risk.name, kind, expert, risk from expert join risk
    columns: {risk: number}
  sums:
    from: both
    sql: select kind, count(*) as n from both group by kind
    columns: {n: number}
outputs:
  pets_with_risks: {from: both}
  sums: {from: sums, format: jsonl}
`

func petRows(n int) string {
	var b strings.Builder
	b.WriteString("name,price\n")
	for i := range n {
		fmt.Fprintf(&b, "pet number %d,%d\n", i+1, 10*i)
	}
	return b.String()
}

// work does up to n tasks that a worker is given at once.
func (b *browser) work(n int, answer string) {
	b.t.Helper()
	for range n {
		p := b.get("/work").want(200)
		if !strings.Contains(p.Text, `action="/work/submit"`) {
			return
		}
		p.form("/work/submit").set("s.label", answer).send().want(200, "Your answer is in")
	}
}

// Every page of runs, as every other page is looked at.
func TestRunPagesInChromium(t *testing.T) {
	chrome := startChromium(t)
	c, s, flow := flowCompany(t, 3)
	wide := strings.ReplaceAll(wideFlow, "URL", s.URL)
	boss, rita := c.window(t, chrome, "admin"), c.window(t, chrome, "rita")
	rita.open("/runs")
	rita.tour("runs-empty")

	// One that is done, one that waits for its files, one with held items.
	done := c.startPets(flow)
	c.workers[0].answerAll(3, "cat")
	c.req.becomes(done, "Go on from this run")
	loading := c.req.sendRun("", wide, "make").want(200).URL.Path
	s.broken.Store(true)
	made := c.req.sendRun("", wide, "make").want(200)
	busy := made.URL.Path
	c.req.sendInputs(busy, "start", "pets", "pets.csv", petRows(12)).want(200, "Started.")
	c.req.becomes(busy, "risk : 12 items") // held, all of them, before the service is whole again
	s.broken.Store(false)
	c.req.post(busy+"/do", map[string][]string{"do": {"retry"}, "step": {"risk"}}).want(200)
	c.req.becomes(busy, "risk service ● done 12 12")
	for i, w := range c.workers {
		w.work(7, []string{"cat", "dog", "cat"}[i])
	}
	s.broken.Store(true)
	held := c.req.sendRun("", wide, "make").want(200).URL.Path
	c.req.sendInputs(held, "start", "pets", "pets.csv", petRows(4)).want(200, "Started.")
	c.req.becomes(held, "risk : 4 items")
	open := c.req.sendRun("", "workflow: Cats\ninputs: {things: {columns: [{n: number}], open: true}, more: {columns: [id], open: true}}\nsteps: {names: {from: [things, more], sql: select count(*) as many from things}}\n", "make").want(200).URL.Path
	c.req.sendInputs(open, "start").want(200, "Started.", "Seal things", "Seal more")
	c.ahead.Store(int64(7 * time.Minute))

	for _, page := range []struct {
		name string
		who  *window
		path string
	}{
		{"runs", rita, "/runs"},
		{"runs-all", boss, "/runs"},
		{"run-new", rita, "/runs/new"},
		{"run-go-on", rita, "/runs/new?parent=r1&from=risk"},
		{"run-loading", rita, loading},
		{"run-done", rita, done},
		{"run-busy", rita, busy},
		{"run-held", rita, held},
		{"run-open", rita, open},
		{"run-step", rita, busy + "/steps/kind"},
		{"run-item", rita, busy + "/items/1"},
		{"run-item-held", rita, held + "/items/2"},
		{"run-confirm", rita, held + "/confirm?do=skip&step=risk"},
		{"secrets", rita, "/tenants/n1/secrets"},
		{"secret-delete", rita, "/tenants/n1/secrets/KEY/delete"},
	} {
		w := page.who
		w.open(page.path)
		w.until(`document.readyState === "complete" && document.documentElement.classList.contains("scripted")`)
		w.tour(page.name)
	}
	rita.open(loading)
	rita.do(chromedp.SetUploadFiles(chromedp.ID("input-pets"), []string{writeFile(t, "pets.csv", petRows(3)+"a,b,c\n")}), chromedp.Click(chromedp.CSS(`button[value="start"]`)))
	rita.says("1 of them cannot be used")
	rita.tour("run-bad-rows")
	for _, w := range []*window{boss, rita} {
		w.quiet()
	}
}

func TestRunsInChromium(t *testing.T) {
	chrome := startChromium(t)

	t.Run("a run moves while one looks, and the keyboard stays where it is", func(t *testing.T) {
		c, s, flow := flowCompany(t, 1)
		path := c.startPets(flow)
		w := c.window(t, chrome, "rita")
		w.open(path)
		w.until(`Number(document.getElementById("live").dataset.seen) >= 1`)
		w.until(`document.querySelector("svg.wf").textContent.includes("0 in · 0 out")`)
		if got := eval[string](w, `document.getElementById("going").textContent`); got != "3" {
			t.Errorf("%s are on their way", got)
		}
		eval[bool](w, `document.querySelector('svg.wf a[href$="/steps/risk"]').focus(), window.old = document.getElementById("going"), true`)
		c.workers[0].answerAll(1, "cat")
		w.until(`document.getElementById("came").textContent === "1" && document.querySelector('svg.wf a[href$="/steps/risk"]').textContent.includes("1 in · 1 out")`)
		if !eval[bool](w, `!window.old.isConnected`) {
			t.Error("the page was not changed, so nothing was tested")
		}
		if got := eval[string](w, `document.activeElement.getAttribute("href")`); got != path+"/steps/risk" {
			t.Errorf("the focus has gone to %q", got)
		}
		s.broken.Store(true)
		c.workers[0].answerAll(1, "cat")
		w.says("Held after errors")
		eval[bool](w, `document.getElementById("retry-risk").focus(), true`)
		s.broken.Store(false)
		w.press(kb.Enter)
		w.says("is tried again")
		w.until(`!document.body.innerText.includes("Held after errors")`)
		c.workers[0].answerAll(1, "dog")
		w.until(`document.querySelector("h1 .chip")?.textContent === "done" && document.readyState === "complete"`) // by itself
		w.says("Go on from this run")
		w.quiet()
	})

	t.Run("a workflow is checked as it is written", func(t *testing.T) {
		c, _, flow := flowCompany(t, 0)
		wrong := strings.Replace(flow, "from: {kind: stream}", "from: {kin: stream}", 1)
		w := c.window(t, chrome, "rita")
		w.open("/runs/new")
		w.do(chromedp.SetUploadFiles(chromedp.ID("run-file"), []string{writeFile(t, "flow.yaml", wrong)}))
		w.says("One thing has to be put right")
		w.tour("run-wrong-typed")
		// By keyboard from the list to the line.
		eval[bool](w, `document.querySelector("#checked .problems a").focus(), true`)
		w.press(kb.Enter)
		w.until(`document.activeElement.classList.contains("wrong") || location.hash.startsWith("#line-")`)
		if got := eval[bool](w, `document.querySelector(location.hash).innerText.includes("kin")`); !got {
			t.Error("the link leads elsewhere")
		}
		if got := eval[bool](w, `(() => { const r = document.querySelector(location.hash).getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; })()`); !got {
			t.Error("the line is not in view")
		}
		eval[bool](w, `(() => { const e = document.getElementById("run-text"); e.value = e.value.replace("{kin:", "{kind:"); e.dispatchEvent(new Event("input")); return true; })()`)
		w.says("In order: 1 input, 3 steps")
		w.tour("run-checked")
		w.do(chromedp.Click(chromedp.CSS(`button[value="make"]`)))
		w.says("Its columns")
		// Without a mouse: the upload, then start.
		w.do(chromedp.SetUploadFiles(chromedp.ID("input-pets"), []string{writeFile(t, "pets.csv", petFile)}))
		eval[bool](w, `document.querySelector('button[value="start"]').focus(), true`)
		w.press(kb.Enter)
		w.says("Started.")
		w.quiet()
	})
}

// Everything on the page of a run can be reached by the tab key, in order.
func TestRunByKeyboard(t *testing.T) {
	chrome := startChromium(t)
	c, s, flow := flowCompany(t, 1)
	s.broken.Store(true)
	path := c.startPets(flow)
	c.workers[0].answerAll(1, "cat")
	c.req.becomes(path, "Held after errors")
	w := c.window(t, chrome, "rita")
	w.open(path)
	w.until(`Number(document.getElementById("live").dataset.seen) >= 1`)
	seen := map[string]bool{}
	for range 90 {
		w.press(kb.Tab)
		at := eval[string](w, `(() => { const e = document.activeElement; return e.getAttribute("href") || e.id || e.textContent.trim(); })()`)
		if at == "" {
			break
		}
		seen[at] = true
	}
	for _, want := range []string{"Pause", path + "/confirm?do=cancel", path + "/steps/kind", "/batches/b1", path + "/confirm?do=end&step=kind", "retry-all", "retry-risk", path + "/confirm?do=skip", path + "/items/1", "/v1" + path + "/outputs/risks?format=csv&spreadsheet=true"} {
		if !seen[want] {
			t.Errorf("the tab key does not reach %s", want)
		}
	}
	w.quiet()
}
