package web

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/throng-dev/throng/internal/task"
)

// launchExample makes and launches a batch of one task from the example of a
// kind, by the JSON form of the template.
func (c *company) launchExample(t testing.TB, d *task.Descriptor, template task.Template) {
	t.Helper()
	raw, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	rows := csv.NewWriter(&file)
	_ = rows.WriteAll([][]string{d.Example.Row.Columns, d.Example.Row.Cells}) // a buffer cannot fail
	draft := c.req.get("/batches/new").want(200).form("/batches").set("name", d.Name).set("tenant", "n1").set("kind", "json").set("json", string(raw)).
		sendFile("row.csv", file.String()).want(200, "1 task")
	draft.form(draft.URL.Path+"/settings").set("count", "1").press("then", "launch").send().want(200, "Launched")
}

// The worker's page of every kind is shown on a desk and on a phone, no wider
// than the window, with every point of the longest scale in sight.
func TestEveryKindInChromium(t *testing.T) {
	chrome := startChromium(t)
	for _, d := range task.Descriptors() {
		t.Run(string(d.Kind), func(t *testing.T) {
			c := newCompany(t, 1)
			c.launchExample(t, d, d.Example.Template)
			w := c.window(t, chrome, "w1")
			w.open("/work")
			w.until(`document.readyState === "complete" && document.querySelector(".task") !== null`)
			w.shots("kind-" + string(d.Kind))
			w.quiet()
		})
	}
}

// A scale of eleven points is answered by the keys of a keyboard's row of digits.
func TestRatingByKeysInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 1)
	d := task.Rating.Describe()
	c.launchExample(t, d, task.Template{Kind: task.Rating, Question: "How likely?", Own: &task.RatingSettings{Points: 11, Low: "not at all likely", High: "extremely likely"}})
	w := c.window(t, chrome, "w1")
	w.open("/work")
	w.says("How likely?")
	w.says("11: extremely likely")
	for key, point := range map[string]string{"1": "1", "9": "9", "0": "10", "-": "11"} {
		w.press(key)
		if got := eval[string](w, `new FormData(document.getElementById("answer")).get("s.label")`); got != point {
			t.Errorf("the key %s chooses %q, want %s", key, got, point)
		}
	}
	w.press("4")
	w.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	if hidden := eval[int](w, `[...document.querySelectorAll(".scale .option")].filter((o) => { const b = o.getBoundingClientRect(); return b.left < 0 || b.right > innerWidth || b.width < 24 || b.height < 24; }).length`); hidden > 0 {
		t.Errorf("%d points are out of sight or too small to touch", hidden)
	}
	w.shots("rating-11")
	w.press("\r")
	w.says("Your answer is in.")
	if got, err := answersOf(c, "b1"); err != nil || got != `{"label":4}` {
		t.Errorf("the answer is %s, %v", got, err)
	}
	w.quiet()
}
