package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/label"
)

// drifting is a batch with checks in which the first worker was right sixty times and then wrong, until a rule
// paused them, and the second one right; and what the tenant calls the first.
func (c *company) drifting(t testing.TB) (crowd.BatchID, string) {
	t.Helper()
	ctx, boss := t.Context(), c.boss.principal()
	b := read(c.app.Batches.Create(ctx, boss, batches.NewBatch{Tenant: 1, Name: "Tones of reviews", Reward: 30_000, Redundancy: label.Count(1), Lease: time.Hour, Checks: &engine.Checks{First: .5, Least: .4},
		Template: []byte(`{"kind": "choose_one", "question": "What is the tone of “${text}”?", "options": ["good", "bad"]}`),
		Quality:  []engine.QualityRule{{When: "drift > 4", Do: "pause"}, {When: "checks > 9 and drift > 1", Do: `warn "Take your time, please."`}}}))(t)
	id := b.Spec.ID
	var file strings.Builder
	file.WriteString("text,_gold\n")
	for i := range 120 {
		fmt.Fprintf(&file, "I have had it for %d days and would buy it again,good\nThe one that I have now is number %d and does what it should,\n", i, i)
	}
	read(c.app.Batches.Upload(ctx, boss, id, strings.NewReader(file.String()), batches.Upload{}))(t)
	read(c.app.Batches.Launch(ctx, boss, id, false))(t)
	for i, n := range []int{90, 30} {
		who := c.workers[i].principal()
		for k := range n {
			held := read(c.app.Work.Next(ctx, who, 0))(t)
			if held == nil {
				break
			}
			c.ahead.Add(int64(time.Duration(8+k%7) * time.Second))
			answer := json.RawMessage(`"good"`)
			if i == 0 && (k%13 == 7 || k >= 60) {
				answer = json.RawMessage(`"bad"`)
			}
			_, _, err := c.app.Work.Submit(ctx, who, held.Assignment, answer, false, 0)
			equal(t, err, nil)
		}
	}
	return id, read(c.app.Accounts.Worker(ctx, boss, 1, c.workers[0].principal().User.ID.String()))(t).Pseudonym
}

// TestPageOfAWorker: the workers of a batch lead to a page each, with figures, pictures, the same as a table, and their answers,
// each of which leads to its task.
func TestPageOfAWorker(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 3)
	id, who := c.drifting(t)
	path := "/batches/" + id.String()
	for _, from := range []string{"/quality", "/results", "/results?q=worker:" + who} {
		found := false
		for _, a := range c.req.get(path + from).want(200).all("a") {
			if href := attr(a, "href"); strings.HasPrefix(href, path+"/workers/") {
				c.req.get(href).want(200, "Worker w_", "as of")
				found = true
			}
		}
		if !found {
			t.Errorf("%s leads to no worker", from)
		}
	}
	page := c.req.get(path+"/workers/"+who).want(200, "Worker "+who, "A rule has paused them.", "How often were they right?", "Did they drift?", "bound 4", "The same in figures", "Right of the last 20",
		"warned: Take your time, please.", "by rule 1, drift > 4", "What the rules go by", "✕ wrong", "✓ right", "Known answers", "typically (median)", "Earlier").without("Latest", c.workers[0].principal().User.Name+" ")
	if n := len(page.all("figure")); n != 2 {
		t.Errorf("%d pictures", n)
	}
	tasks := map[string]bool{}
	for next := path + "/workers/" + who; next != ""; {
		p := c.req.get(next).want(200)
		next = ""
		for _, a := range p.all("a") {
			href := attr(a, "href")
			if strings.HasPrefix(href, path+"/results/") {
				if tasks[href] {
					t.Errorf("%s is there twice", href)
				}
				tasks[href] = true
			}
			if attr(a, "rel") == "next" {
				next = href
			}
		}
	}
	for href := range tasks {
		led := false
		for _, a := range c.req.get(href).want(200).all("a") {
			led = led || attr(a, "href") == path+"/workers/"+who
		}
		if !led {
			t.Errorf("%s does not lead back", href)
		}
		break
	}
	rows := func(p *pageOf) (n int) {
		for _, td := range p.all("td") {
			if attr(td, "data-label") == "Right?" {
				n++
			}
		}
		return n
	}
	if len(tasks) < 61 || rows(page) != 50 {
		t.Errorf("%d tasks are listed, %d on the first page", len(tasks), rows(page))
	}
	wrong := c.req.get(path+"/workers/"+who+"?wrong=1&method=majority").want(200, "✕ wrong", "by majority").without("✓ right")
	if n := rows(wrong); n < 5 || n > 20 {
		t.Errorf("%d are wrong", n)
	}
	var current []string
	for _, a := range wrong.all("a") {
		if attr(a, "aria-current") == "true" {
			current = append(current, words(a))
		}
	}
	equal(t, fmt.Sprint(current), fmt.Sprintf("[Wrong %d]", rows(wrong)))
	name := c.workers[0].principal().User.Name
	c.boss.get(path+"/workers/"+c.workers[0].principal().User.ID.String()).want(200, name, who)
	idle := read(c.app.Accounts.Worker(t.Context(), c.boss.principal(), 1, c.workers[2].principal().User.ID.String()))(t).Pseudonym
	for _, none := range []string{idle, name, c.workers[0].principal().User.ID.String(), "w_x"} {
		c.req.get(path+"/workers/"+none).want(http.StatusNotFound, "no such worker")
	}
	c.req.get(path+"/workers/"+who+"?cursor=x").want(http.StatusUnprocessableEntity, "use next of the page before")
}

// TestPageOfAWorkerInChromium looks at the page on a desk and on a phone, in light and in dark.
func TestPageOfAWorkerInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 2)
	id, who := c.drifting(t)
	w := c.window(t, chrome, "rita")
	w.open("/batches/" + id.String() + "/workers/" + who)
	w.until(`document.readyState === "complete" && document.documentElement.classList.contains("scripted")`)
	w.tour("batchworker")
	w.do(chromedp.Click(chromedp.CSS("details.fold summary")))
	w.tour("batchworker-table")
	w.quiet()
}
