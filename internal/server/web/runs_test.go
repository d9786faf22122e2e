package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/sla"
)

// petFlow asks people, calls a service and counts. URL stands for the service.
const petFlow = `workflow: Pets
budget: 5.00
sla: {per: item, penalty: staged, after: 1h, every: 1h, cost: 1.00}
inputs: {pets: {columns: [name]}}
steps:
  kind:
    from: {pets: stream}
    crowd:
      template: {kind: choose_one, question: "What is ${name}?", options: [cat, dog], show: [name]}
      reward: 0.10
  risk:
    from: {kind: stream}
    service: {url: "URL", headers: {Key: "${secret:KEY}"}, send: [name], tries: 1, response: {type: object, properties: {risk: {type: number}}, required: [risk]}}
  sums:
    from: risk
    sql: select kind, count(*) as n from risk group by kind
    columns: {n: number}
outputs:
  risks: {from: risk, format: parquet}
  sums: {from: sums}
`

const petFile = "name\nRex\nTom\nUno\n"

// risks is a service that can be made to fail.
type risks struct {
	*httptest.Server
	broken atomic.Bool
	key    atomic.Value
}

func newRisks(t testing.TB) *risks {
	s := &risks{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.key.Store(r.Header.Get("Key"))
		if s.broken.Load() {
			http.Error(w, "<b>not</b> now", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, `{"risk": 0.25}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// flowCompany is a company that may call the service.
func flowCompany(t testing.TB, workers int) (*company, *risks, string) {
	t.Helper()
	s := newRisks(t)
	host := strings.TrimPrefix(s.URL, "http://")
	c := newCompany(t, workers, func(cfg *app.Config) {
		allow, err := httpstep.ParseAllow([]string{host})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Services = allow
	})
	c.req.get("/tenants/n1/secrets").want(200, "There are none").form("/tenants/n1/secrets").set("name", "KEY").set("value", "open sesame").send().want(200, "Saved.", "KEY").without("open sesame")
	return c, s, strings.ReplaceAll(petFlow, "URL", s.URL)
}

// sendRun sends the form of a new run.
func (b *browser) sendRun(query, text, then string) *pageOf {
	b.t.Helper()
	return b.get("/runs/new"+query).want(200).form("/runs").set("text", text).press("then", then).send()
}

// startPets begins a run of pets, and returns its path.
func (c *company) startPets(flow string) string {
	c.req.t.Helper()
	p := c.req.sendRun("", flow, "make").want(200, "The workflow is in order", "Its columns: name")
	c.req.sendInputs(p.URL.Path, "start", "pets", "pets.csv", petFile).want(200, "Started.").at(p.URL.Path)
	return p.URL.Path
}

// becomes loads a page until it says a text.
func (b *browser) becomes(path, text string) *pageOf {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		p := b.get(path)
		if strings.Contains(words(p.Root), text) {
			return p.want(200)
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s never says %q:\n%s", path, text, words(p.Root))
		}
		pauseALittle()
	}
}

// pauseALittle lets the server do something.
func pauseALittle() { <-time.After(20 * time.Millisecond) }

// answerAll has a worker do all the tasks that they are given.
func (b *browser) answerAll(n int, answer string) {
	b.t.Helper()
	for range n {
		b.becomes("/work", "What is").form("/work/submit").set("s.label", answer).send().want(200, "Your answer is in")
	}
}

func links(p *pageOf) map[string]bool {
	out := map[string]bool{}
	for _, a := range p.all("a") {
		out[attr(a, "href")] = true
	}
	return out
}

// The whole way of a run, without JavaScript.
func TestRunFromFileToResults(t *testing.T) {
	t.Parallel()
	c, s, flow := flowCompany(t, 1)
	c.req.get("/runs").want(200, "No run yet")
	// Only checked: nothing is made.
	p := c.req.sendRun("", flow, "check").want(200, "In order: 1 input, 3 steps, 2 outputs, a budget of 5.00")
	if n := len(p.all("svg")); n < 2 {
		t.Errorf("the workflow is not drawn: %d pictures", n)
	}
	p.without("<style>")
	c.req.get("/runs").want(200, "No run yet")

	path := c.startPets(flow)
	c.req.get("/runs").want(200, "Pets", "running", "started")
	c.req.becomes(path, "kind: 3 in · 0 out, 0 waiting · 3 under way, ▶ running")                                                                  // somebody is on duty
	c.ahead.Store(int64(2 * time.Minute))                                                                                                          // and has gone
	p = c.req.becomes(path, "kind: 3 in · 0 out, 0 waiting · 3 inside, ▲ blocked").want(200, "Nobody is there to work on it", "The slowest items") // since nobody has come so far
	p.want(200, "Earliest end Penalty then", "not known not known")
	if list := c.req.get("/runs").Text; !strings.Contains(list, `aria-label="pets done, kind blocked, risk waiting, sums waiting"`) {
		t.Error("the list does not tell how far the steps are")
	}
	p.want(200, "At the steps 3", "Ended 0", "none late", "Spent 0.00 of 5.00", "nobody is there")
	if batch := c.req.becomes(path, "Batch b1"); !links(batch)["/batches/b1"] {
		t.Error("no link to the batch of the crowd step")
	}
	c.req.get("/batches/b1").want(200, "kind")

	c.ahead.Store(int64(3*time.Hour + time.Minute)) // nobody holds a task yet
	p.form(path+"/topup").set("amount", "0").send().want(422, "not an amount to add").form(path+"/topup").set("amount", "1.25").send().want(200, "The budget is raised.", "Spent 0.00 of 6.25")
	c.workers[0].answerAll(1, "cat")
	c.req.becomes(path, "Ended 1")
	c.workers[0].answerAll(2, "dog")
	p = c.req.becomes(path, "Go on from this run").want(200, "Ended 3", "3 late", "Penalty 6.00 for being late", "Spent 0.30 of 6.25", "How it went", "Items ended over time", "Penalty over time", "now 6.00", "3 of 3 cost a penalty")
	if s.key.Load() != "open sesame" {
		t.Errorf("the service was sent the key %q", s.key.Load())
	}
	for _, want := range []string{
		"/v1" + path + "/outputs/risks?format=parquet&spreadsheet=true", "/v1" + path + "/outputs/risks?format=csv&spreadsheet=true", "/v1" + path + "/outputs/sums?format=jsonl&spreadsheet=true",
		"/v1" + path + "/steps/kind/results?format=csv&spreadsheet=true", path + "/steps/kind", "/runs/new?parent=r1",
	} {
		if !links(p)[want] {
			t.Errorf("there is no link to %s", want)
		}
	}
	for _, gone := range []string{"/do", "/confirm?do=cancel"} {
		p.without(`"` + path + gone + `"`)
	}
	c.req.get("/runs").want(200, "done", "3 items ended, 3 late", "penalty 6.00")
	if list := c.req.get("/runs").Text; !strings.Contains(list, `aria-label="all done"`) {
		t.Error("the list does not show that the run is done")
	}

	rows := c.req.get(path+"/steps/kind").want(200, "3 in", "3 out", "kind_confidence", "cat", "dog", "batch b1")
	if !links(rows)[path+"/items/1"] {
		t.Error("no link to the first item")
	}
	c.req.get(path+"/steps/sums").want(200, "cat", "dog")
	item := c.req.get(path+"/items/1").want(200, "Item 1", "Its way", "came in", "kind_answers", "0.25", "Rex", "the answers of the batch")
	if !links(item)["/batches/b1"] || !links(item)["/v1/batches/b1/annotations?format=csv&spreadsheet=true"] {
		t.Error("no link from the item to its answers")
	}
	if n := strings.Count(item.Text, `class="way-name"`); n != 3 {
		t.Errorf("the way has %d stops, want 3", n)
	}
	for _, path := range []string{path + "/items/99", path + "/items/0", path + "/items/x", path + "/steps/none", "/runs/r99", path + "/confirm?do=nothing", path + "/confirm?do=end&step=none", path + "/confirm?do=pause&step=kind", "/tenants/n1/secrets/NONE/delete"} {
		c.req.get(path).want(404)
	}
}

// What is wrong with a workflow stands next to its line.
func TestWrongWorkflow(t *testing.T) {
	t.Parallel()
	c, _, flow := flowCompany(t, 0)
	wrong := strings.Replace(strings.Replace(flow, "from: {kind: stream}", "from: {kin: stream}", 1), "reward: 0.10", "reward: ten", 1)
	line := 1 + strings.Count(wrong[:strings.Index(wrong, "{kin:")], "\n")
	for _, then := range []string{"check", "make"} {
		p := c.req.sendRun("", wrong, then).want(http.StatusUnprocessableEntity, "things have to be put right", fmt.Sprintf("Line %d, column", line))
		marked := 0
		for _, li := range p.all("li") {
			if attr(li, "class") != "wrong" {
				continue
			}
			marked++
			if attr(li, "tabindex") != "-1" || !links(p)["#"+attr(li, "id")] {
				t.Errorf("no link leads to the marked line %s", attr(li, "id"))
			}
			if !strings.Contains(words(li), "▲") {
				t.Errorf("a marked line says nothing: %s", words(li))
			}
			if attr(li, "id") == fmt.Sprintf("line-%d", line) {
				if text := words(li); !strings.Contains(text, "kin") {
					t.Errorf("line %d shows %q", line, text)
				}
			}
		}
		if marked != 2 {
			t.Errorf("%d lines are marked, want 2", marked)
		}
		if got := p.form("/runs").values.Get("text"); strings.TrimPrefix(got, "\n") != wrong {
			t.Errorf("the text is not kept: %q", got)
		}
	}
	c.req.sendRun("", "  ", "check").want(http.StatusUnprocessableEntity, "paste a workflow, or choose its file")
	c.req.get("/runs").want(200, "No run yet")

	// A file takes the place of the text, and is shown then.
	p := c.req.get("/runs/new").form("/runs").set("text", "no workflow").press("then", "check").sendFile("flow.yaml", flow).want(200, "In order")
	if got := p.form("/runs").values.Get("text"); strings.TrimPrefix(got, "\n") != flow {
		t.Errorf("the file is not shown: %q", got)
	}
	// Browsers end the lines of a text in their own way.
	p = c.req.post("/runs", url.Values{"text": {strings.ReplaceAll(flow, "\n", "\r\n")}, "then": {"check"}}).want(200, "In order")
	if got := p.form("/runs").values.Get("text"); strings.TrimPrefix(got, "\n") != flow || strings.Contains(p.Text, "\r") {
		t.Errorf("the lines end in another way: %q", got)
	}
	// The script is told in JSON.
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/runs", strings.NewReader(url.Values{"text": {wrong}}.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if p := c.req.do(req); p.Status != 200 || !strings.Contains(p.Text, "line-number") || !strings.Contains(p.Header.Get("Content-Type"), "json") {
		t.Errorf("the script is told %d %s", p.Status, p.Text)
	}
}

// A large file is shown around what is wrong only.
func TestLinesOfALargeFile(t *testing.T) {
	t.Parallel()
	c, _, flow := flowCompany(t, 0)
	p := c.req.sendRun("", flow+strings.Repeat("# more\n", 1000)+"last: 1\n", "check").want(http.StatusUnprocessableEntity, "last")
	shown, gaps := 0, 0
	for _, li := range p.all("li") {
		if has(li, "value") {
			shown++
		}
		if attr(li, "class") == "gap" {
			gaps++
		}
	}
	if shown < 3 || shown > 40 || gaps != 1 {
		t.Errorf("%d lines and %d gaps are shown", shown, gaps)
	}
}

// Pause, resume, hold, retry, skip, end a step, cancel, go on.
func TestRunActions(t *testing.T) {
	t.Parallel()
	c, s, flow := flowCompany(t, 1)
	s.broken.Store(true)
	path := c.startPets(flow)
	do := func(text, step string) *pageOf {
		return c.req.post(path+"/do", url.Values{"do": {text}, "step": {step}})
	}
	do("pause", "").want(200, "Paused.", "paused", "Resume")
	c.workers[0].get("/work").want(200, "Waiting for a task")
	do("resume", "").want(200, "Resumed.", "running")
	do("pause", "kind").want(404)
	do("fly", "").want(404)

	c.workers[0].answerAll(1, "cat")
	p := c.req.becomes(path, "risk : 1 item").want(200, "Held after errors", "risk service 1 item, all that is left here, held after an error. ▲ held 1 0 0 0 0 0 1", "<b>not</b> now", "held", "Tries").without("<b>not</b>")
	if !links(p)[path+"/items/1"] {
		t.Error("no link to the held item")
	}
	c.req.get("/runs").want(200, "1 item held after errors")
	c.req.get(path+"/items/1").want(200, "held", "1 try", "not</b> now").without("<b>not</b>")
	s.broken.Store(false)
	do("retry", "risk").want(200, "is tried again")
	c.req.becomes(path, "Ended 1")
	c.req.becomes(path+"/items/1", "0.25")

	s.broken.Store(true)
	c.workers[0].answerAll(1, "cat")
	c.req.becomes(path, "risk : 1 item")
	ask := c.req.get(path+"/confirm?do=skip&step=risk").want(200, "Give up the held items?", "Step risk")
	c.req.get(path).want(200, "risk : 1 item") // asking does nothing
	ask.form(path+"/do").send().want(200, "are given up")
	c.req.becomes(path+"/items/2", "failed")

	// The last item is in nobody's hands: the step is ended early.
	c.req.get(path+"/confirm?do=end&step=kind").want(200, "End this step early?").form(path+"/do").send().want(200, "The step ends")
	c.req.becomes(path, "Go on from this run").want(200, "done", "none late").without("Penalty over time")
	c.req.get(path+"/items/3").want(200, "failed")
	c.req.post(path+"/do", url.Values{"do": {"pause"}}).want(http.StatusConflict)

	// From the service on, with the labels that are there.
	s.broken.Store(false)
	next := c.req.get("/runs/new?parent=r1&from=risk").want(200, "Go on from Pets").form("/runs")
	if got := next.values.Get("from"); got != "risk" {
		t.Errorf("it goes on from %q", got)
	}
	// What was ticked stays so, also when something else is wrong.
	if next.values.Get("ask_again")+next.values.Get("renew_ages") != "" {
		t.Errorf("ticked before: %v", next.values)
	}
	again := next.set("ask_again", "1").set("renew_ages", "1").set("budget", "much").press("then", "make").send().want(422, "budget").form("/runs").
		set("budget", "0").press("then", "make").send().want(422, "0 is not a budget (more than 0, or leave it empty)").form("/runs")
	if again.values.Get("ask_again") != "1" || again.values.Get("renew_ages") != "1" {
		t.Errorf("ticked after an error: %v", again.values)
	}
	next = c.req.get("/runs/new?parent=r1&from=risk").form("/runs").set("renew_ages", "1")
	made := next.press("then", "make").send().want(200, "Ready to start", "goes on from r1 , again from risk, ages renewed", "3 rows")
	path = made.URL.Path
	made.form(path+"/do").send().want(200, "Started.")
	c.req.becomes(path, "Go on from this run")
	c.req.get(path).want(200, "ages renewed")
	c.req.get(path+"/items/2").want(200, "0.25", "Its age counts from")

	// A run that has not ended is not gone on from.
	path = c.startPets(flow)
	open := strings.TrimPrefix(path, "/runs/")
	c.req.get("/runs/new?parent="+open).want(200, "cancel it").form("/runs").press("then", "make").send().want(http.StatusConflict, "cancel it first")
	c.req.get(path+"/confirm?do=cancel").want(200, "Cancel this run?").form(path+"/do").send().want(200, "Cancelled.", "cancelled", "Go on from this run")
	loading := c.req.sendRun("", flow, "make").want(200)
	c.req.get(loading.URL.Path+"/confirm?do=cancel").want(200).form(loading.URL.Path+"/do").send().want(200, "Cancelled.")
}

// Names and values of all kinds are shown as text.
func TestRunsAreEscaped(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	evil := `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`
	flow := `workflow: '` + strings.ReplaceAll(evil, "'", "''") + `'
inputs: {rows: {columns: [name]}}
steps:
  ask:
    from: {rows: stream}
    when: name != "</svg><script>alert(3)</script>"
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.10}
  say: {from: ask, sql: "select name, '</title><script>alert(4)</script>' as said from ask"}
`
	check := func(p *pageOf) {
		t.Helper()
		p.want(p.Status)
		for _, x := range p.all("script") {
			if !strings.HasPrefix(attr(x, "src"), "/static/") || x.FirstChild != nil {
				t.Errorf("%s has a script of its own: %v", p.URL, x.Attr)
			}
		}
		for _, x := range p.all("img") {
			t.Errorf("%s has a picture: %v", p.URL, x.Attr)
		}
	}
	shown := func(p *pageOf, text string) {
		t.Helper()
		check(p)
		if !strings.Contains(words(p.Root), text) {
			t.Errorf("%s does not show %q:\n%s", p.URL, text, words(p.Root))
		}
	}
	shown(c.req.sendRun("", flow, "check"), evil)
	check(c.req.sendRun("", strings.Replace(flow, "reward: 0.10", "reward: <script>alert(5)</script>", 1), "check").want(http.StatusUnprocessableEntity))
	path := c.req.sendRun("", flow, "make").want(200).URL.Path
	shown(c.req.get(path), evil)
	file := "name\n\"" + strings.ReplaceAll(evil, `"`, `""`) + "\"\nx,<script>alert(6)</script>\n"
	p := c.req.sendInputs(path, "load", "rows", `<script>.csv`, file)
	shown(p, "<script>.csv")
	p.form(path + "/do").send().want(200)
	shown(c.req.get("/runs"), evil)
	shown(c.req.get(path), evil)
	shown(c.req.get(path+"/steps/rows"), evil)
	shown(c.req.get(path+"/items/1"), evil)
	shown(c.req.get(path+"/confirm?do=cancel"), evil)
	c.req.get(path + "/confirm?do=cancel").form(path + "/do").send().want(200)
	shown(c.req.get("/runs/new?parent=r1"), evil)
	var svg *html.Node
	for _, x := range c.req.get(path).all("svg") {
		if attr(x, "class") == "wf" {
			svg = x
		}
	}
	if svg == nil || !strings.Contains(words(svg), evil) {
		t.Error("the picture does not show the name")
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	const path, value = "/tenants/n1/secrets", "a-value-to-hide"
	form := func() *sheet { return c.req.get(path).want(200).form(path) }
	form().set("name", "TWO WORDS").set("value", value).send().want(http.StatusUnprocessableEntity, "not the name of a secret").without(value)
	form().set("name", "KEY").set("value", "").send().want(http.StatusUnprocessableEntity, "1 to 4096 bytes")
	form().set("name", "KEY").set("value", value).send().want(200, "Saved.", "KEY").without(value)
	form().set("name", "KEY").set("value", value+"2").send().want(200, "KEY").without(value)
	if !links(c.req.get(path))[path+"/KEY/delete"] {
		t.Error("no link to delete it")
	}
	ask := c.req.get(path+"/KEY/delete").want(200, "Delete this secret?", "KEY").without(value)
	c.req.get(path).want(200, "KEY")
	ask.form(path+"/KEY/delete").send().want(200, "The secret is deleted", "There are none")
	c.req.post(path+"/KEY/delete", nil).want(404)
	if !links(c.req.get("/tenants/n1").want(200))[path] {
		t.Error("the tenant's page does not lead to its secrets")
	}
	if strings.Contains(c.log.String(), value) {
		t.Error("the log has the secret")
	}
}

// The list goes on from page to page.
func TestListOfRuns(t *testing.T) {
	t.Parallel()
	c, _, flow := flowCompany(t, 0)
	for range runsShown + 3 {
		c.req.post("/runs", url.Values{"text": {flow}, "tenant": {"n1"}, "then": {"make"}, "name": {"many"}}).want(200)
	}
	p := c.req.get("/runs").want(200, "r23", "r4", "needs 1 file").without(`href="/runs/r3"`)
	if !links(p)["/runs?before=r4&tenant=n1"] {
		t.Error("no link to older runs")
	}
	c.req.get("/runs?before=r4&tenant=n1").want(200, "r3", "r1", "Newest").without(`href="/runs/r4"`)
	c.boss.get("/runs").want(200, "Acme", "All tenants", "r23")
	c.boss.get("/runs/r1").want(200, "many")
	c.req.get("/runs?tenant=n9").want(404)
	if p := c.req.get("/runs/r1"); strings.Contains(p.Text, "text/event-stream") || !strings.Contains(p.Text, "Cancel this run") {
		t.Error("a run that waits for its files is shown as one under way")
	}
	c.req.get("/runs?before=x").want(404)
}

// Runs are a tenant's own: others neither see nor use them.
func TestRunsOfOthers(t *testing.T) {
	t.Parallel()
	c, _, flow := flowCompany(t, 0)
	c.boss.get("/admin").form("/admin/tenants").set("name", "Other").send().want(200)
	olga := c.as(t, c.boss, "olga", func(f *sheet) { f.set("tenants", "n2") })
	path := c.req.sendRun("", flow, "make").want(200).URL.Path
	c.req.get(path+"/confirm?do=cancel").form(path+"/do").send().want(200, "cancelled")
	olga.get("/runs").want(200, "No run yet").without("Pets")
	for _, x := range []string{"/runs/new?parent=r1", "/runs/new?like=r1", path, path + "/steps/pets", path + "/events", "/tenants/n1/secrets"} {
		olga.get(x).want(404).without("Pets", "KEY")
	}
	olga.sendInputs(path, "start", "pets", "pets.csv", petFile).want(404)
	olga.post("/runs", url.Values{"text": {flow}, "tenant": {"n1"}, "then": {"make"}}).want(404)
	olga.post("/runs", url.Values{"text": {flow}, "tenant": {"n2"}, "then": {"make"}, "parent": {"r1"}}).want(404)
	olga.post("/tenants/n1/secrets", url.Values{"name": {"KEY"}, "value": {"mine"}}).want(404)
	c.req.get("/runs").want(200, "r1").without("r2")
	olga.post("/runs", url.Values{"text": {flow}, "tenant": {"n2"}, "then": {"make"}}).want(200, "The workflow is in order")
}

// Where a line is marked, and how long ones are cut.
func TestCodeLines(t *testing.T) {
	t.Parallel()
	got := codeLines("a: é x\r\n"+strings.Repeat("y", longLine+5)+"\n", []workflow.Problem{{Line: 1, Column: 4, Message: "m"}, {Line: 2, Column: longLine * 2}, {Line: 9}, {}})
	if len(got) != 3 || got[0].Before != "a: " || got[0].From != "é x" || len(got[0].Problems) != 1 || got[1].From != "…" || len([]rune(got[1].Before)) != longLine || got[2].From != "" {
		t.Errorf("%+v", got)
	}
	if got := codeLines("", []workflow.Problem{{Line: 1, Column: 1}}); len(got) != 1 || len(got[0].Problems) != 1 {
		t.Errorf("an empty file: %+v", got)
	}
}

// The steps of a penalty up to an age.
func TestPenaltyMarks(t *testing.T) {
	t.Parallel()
	p := &sla.Penalty{Kind: sla.Staged, After: time.Hour, Every: time.Hour, Cost: crowd.Unit}
	marks := penaltyMarks(p, 3*time.Hour)
	if len(marks) != 2 || marks[0].At != 7200 || marks[0].Text != "1.00" || marks[1].At != 10800 || marks[1].Text != "2.00" {
		t.Errorf("%v", marks)
	}
	if n := len(penaltyMarks(p, 100*time.Hour)); n != mostMarks {
		t.Errorf("%d marks", n)
	}
}

// An item of which a query makes two, a list of more rows than a page, and a step
// that fails as a whole.
func TestRunItemsAndFailedStep(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	flow := `workflow: Split
inputs: {rows: {columns: [a, b]}}
steps:
  parts:
    from: {rows: stream}
    sql: select value as x from rows, json_each(json_array(a, b))
  few:
    from: parts
    sql: {query: select x from parts, rows: 1}
`
	path := c.req.sendRun("", flow, "make").want(200).URL.Path
	file := "a,b\n"
	for i := range 60 {
		file += fmt.Sprintf("left %d,right %d\n", i+1, i+1)
	}
	c.req.sendInputs(path, "start", "rows", "rows.csv", file).want(200, "Started.")
	p := c.req.becomes(path, "few : the step has failed").want(200, "Held after errors", "✕ failed", "Try all again", "a step has failed. Try it again, below, or cancel the run and go on from it with a changed file.").without("Give all up", "give it up")
	c.req.get("/runs").want(200, "step few has failed")
	p.want(200, "Came out 0")

	first := c.req.get(path+"/steps/parts").want(200, "60 in · 120 out", "left 1", "right 33").without("120 out · ", "left 34<", ">First<")
	next := ""
	for x := range links(first) {
		if strings.Contains(x, "after=") {
			next = x
		}
	}
	c.req.get(next).want(200, "left 60", "right 60", "First").without("left 1<", "after=")

	item := c.req.get(path+"/items/1").want(200, "What was made from it")
	made := ""
	for x := range links(item) {
		if strings.HasPrefix(x, path+"/items/") {
			made = x
			c.req.get(x).want(200, "Made from item 1", "as item 1", "came in", "left 1")
		}
	}
	if made == "" {
		t.Error("no link to what was made from the item")
	}
	c.req.post(path+"/do", url.Values{"do": {"retry"}}).want(200, "is tried again")
	c.req.becomes(path, "few : the step has failed")
}
