package web

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// faint lists texts whose contrast with what is behind them is less than WCAG's
// AA asks for.
const faint = `(() => {
  const rgb = (s) => (s.match(/[\d.]+/g) || []).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const out = new Set();
  let seen = 0;
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.closest(".hidden, .skip, :disabled, .off, svg, option, progress, noscript")) continue;
    let back = null;
    for (let x = e; x && !back; x = x.parentElement) {
      const c = rgb(getComputedStyle(x).backgroundColor);
      if (c.length === 3 || c[3] === 1) back = c.slice(0, 3);
    }
    const style = getComputedStyle(e);
    const a = light(rgb(style.color).slice(0, 3)), b = light(back || [255, 255, 255]);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    seen++;
    if (ratio < (large ? 3 : 4.5)) out.add(ratio.toFixed(2) + " " + e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40));
  }
  if (seen < 5) out.add("only " + seen + " texts found");
  return [...out];
})()`

// Every page is looked at on a desk and on a phone, in light and in dark: none
// is wider than its window, none has faint text, none says anything on the
// console.
func TestEveryPageInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 3, withCorp)
	c.boss.get("/admin/providers").form("/admin/providers/corp/tokens").set("name", "Okta").send().want(200)
	c.boss.get("/admin").form("/admin/pools").set("name", "night shift").set("policy", "dafs").send().want(200)
	c.boss.get("/admin/people/u3").form("/admin/people/u3").set("full_name", "Wanda Fish").set("qualifications", "french 80\nbirds 40").send().want(200)

	c.boss.post("/admin/services", url.Values{"name": {"scores"}, "url": {"https://scores.example/v1"}, "concurrency": {"4"}, "rate": {"600/m"}, "tenants": {"n1"}}).want(200)

	// A batch that is done, one that runs, one paused, drafts.
	c.launchCats("Cats of the harbour")
	for i, w := range c.workers[:2] {
		for n := range 3 {
			answer := []string{"yes", "no", "yes"}[n]
			if i == 1 && n == 2 {
				answer = "no"
			}
			w.get("/work").form("/work/submit").set("s.label", answer).send().want(200)
		}
	}
	html := c.req.get("/batches/new").form("/batches").set("name", "Receipts").set("tenant", "n1").set("kind", "html").set("html", `<p>Total of ${name}?</p><input name="total">`).sendFile("cats.csv", cats).want(200)
	rows := c.req.get("/batches/new").form("/batches").set("name", "Three fields").set("tenant", "n1").set("kind", "form").set("instructions", "Read the picture.\nThen fill in what you see.").
		set("show", "photo | image | The picture").set("question", "What is it?").
		set("f0_name", "animal").set("f0_label", "Which animal is it?").set("f0_type", "choice").set("f0_options", "cat; dog; bear").set("f0_required", "1").
		set("f1_name", "count").set("f1_label", "How many?").set("f1_type", "number").set("f2_name", "note").set("f2_label", "Anything odd?").set("f2_type", "textarea").set("f3_name", "sure").set("f3_label", "I am sure").set("f3_type", "checkbox").
		sendFile("cats.csv", cats).want(200)
	pair := c.req.get("/batches/new").form("/batches").set("name", "Which is nicer").set("tenant", "n1").set("kind", "compare_two").set("question", "Which is nicer?").
		set("left", "photo").set("left_as", "image").set("left_label", "Left").set("right", "name").set("right_label", "Right").set("tie", "1").
		sendFile("pairs.csv", strings.NewReplacer(",yes\n", ",left\n", ",no\n", ",tie\n").Replace(cats)).want(200)
	pair.form(pair.URL.Path+"/settings").set("count", "1").press("then", "launch").send().want(200)
	bad := c.req.get("/batches/new").form("/batches").set("name", "Bad rows").set("tenant", "n1")
	bad.sendFile("rows.csv", "a,b\n1,2\n3\n4,5,6\n").want(422)

	boss, rita, wanda := c.window(t, chrome, "admin"), c.window(t, chrome, "rita"), c.window(t, chrome, "w3")
	for _, page := range []struct {
		name string
		who  *window
		path string
	}{
		{"work-pair", wanda, "/work"},
		{"earnings-none", wanda, "/work/earnings"},
		{"rest", wanda, "/work/rest"},
		{"tokens", wanda, "/tokens"},
		{"account", wanda, "/account"},
		{"forbidden", wanda, "/admin"},
		{"batches", rita, "/batches"},
		{"batch-done", rita, "/batches/b1"},
		{"quality", rita, "/batches/b1/quality"},
		{"results", rita, "/batches/b1/results"},
		{"results-wrong", rita, "/batches/b1/results?q=agre:no"},
		{"result", rita, "/batches/b1/results/1"},
		{"batch-busy", rita, pair.URL.Path},
		{"confirm", rita, pair.URL.Path + "/confirm?do=end"},
		{"draft-html", rita, html.URL.Path},
		{"draft-form", rita, rows.URL.Path},
		{"preview", rita, "/batches/b1/preview?task=2"},
		{"tenant", rita, "/tenants/n1"},
		{"not-found", rita, "/batches/b99"},
		{"admin", boss, "/admin"},
		{"people", boss, "/admin/people"},
		{"services", boss, "/admin/services"},
		{"providers", boss, "/admin/providers"},
		{"person", boss, "/admin/people/u3"},
		{"batches-all", boss, "/batches"},
		{"new-admin", boss, "/batches/new"},
	} {
		w := page.who
		w.open(page.path)
		w.until(`document.readyState === "complete" && document.documentElement.classList.contains("scripted")`)
		w.tour(page.name)
	}
	wanda.open("/work")
	wanda.says("Which is nicer?")
	wanda.press("1")
	wanda.do(chromedp.Click(chromedp.ID("submit")))
	wanda.says("Your answer is in.")
	wanda.open("/work/earnings")
	wanda.says("counted")
	wanda.tour("earnings")
	wanda.do(chromedp.Click(chromedp.CSS(".me summary")), chromedp.Click(chromedp.CSS(`form[action="/signout"] button`)))
	wanda.says("You are signed out.")
	wanda.tour("signin")

	// What came out of a post.
	rita.open("/batches/b5")
	rita.do(chromedp.SetUploadFiles(chromedp.ID("upload-file"), []string{writeFile(t, "rows.csv", "a,b\n1,2\n3\n4,5,6\n")}), chromedp.Click(chromedp.CSS(`form[action$="/upload"] button`)))
	rita.says("cannot be used")
	rita.tour("upload-errors")
	boss.open("/admin/people")
	boss.do(chromedp.Click(chromedp.CSS("details.fold summary")), chromedp.SendKeys(chromedp.ID("person-name"), "newton"), chromedp.Click(chromedp.CSS(`form[action^="/admin/people?"] button.primary`)))
	boss.says("The one-time link for newton")
	boss.tour("person-added")
	link := eval[string](boss, `document.getElementById("secret").textContent`)
	wanda.do(chromedp.Navigate(link))
	wanda.says("Welcome, newton")
	wanda.tour("setup")
	for _, w := range []*window{boss, rita, wanda} {
		w.quiet()
	}
}

// tour looks at the page that is open.
func (w *window) tour(name string) {
	w.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		w.scheme(scheme)
		if list := eval[[]string](w, faint); len(list) > 0 {
			w.t.Errorf("%s, %s: faint text: %q", name, scheme, list)
		}
	}
	w.shot(name + "-dark")
	w.scheme("light")
	w.do(chromedp.EmulateViewport(360, 780, chromedp.EmulateMobile))
	w.shot(name + "-narrow")
	w.shots(name)
}

func (w *window) scheme(name string) {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	if err != nil {
		w.t.Fatal(err)
	}
}
