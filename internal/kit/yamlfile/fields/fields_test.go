package fields_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

var (
	language = yamlfile.Language{Name: "file", Begin: "name: x", Most: 1000}
	table    = fields.Of(
		fields.Text("name").Needed("like name: x"), fields.Duration(time.Second, time.Hour, "wait"), fields.Number(0, 1, "weight"),
		fields.Share("share"), fields.Count(1, 9, "count"), fields.Uint64("seed"), fields.Bool("on"), fields.List(2, "list"),
		fields.Any("a", "b"),
	)
)

func read(t *testing.T, text string) (*fields.Object, *yamlfile.Notes) {
	t.Helper()
	notes := &yamlfile.Notes{File: "x"}
	top := language.Parse([]byte(text), notes)
	if top == nil {
		t.Fatal(notes.Problems())
	}
	return fields.Read(notes, top, table), notes
}

func TestValues(t *testing.T) {
	t.Parallel()
	o, notes := read(t, "{name: ' x ', wait: 1m, weight: 0.5, share: 30%, count: 3, seed: 18446744073709551615, 'on': true, list: [1, 2], a: 1}")
	var name string
	wait, weight, share, count, seed, on, other := time.Duration(0), 0.0, 0.0, 0, uint64(0), false, 7
	ok := fields.Set(o, "name", &name) && fields.Set(o, "wait", &wait) && fields.Set(o, "weight", &weight) && fields.Set(o, "share", &share) &&
		fields.Set(o, "count", &count) && fields.Set(o, "seed", &seed) && fields.Set(o, "on", &on)
	if !ok || name != "x" || wait != time.Minute || weight != 0.5 || share != 0.3 || count != 3 || seed != 1<<64-1 || !on {
		t.Errorf("%v: %q %v %g %g %d %d %v", ok, name, wait, weight, share, count, seed, on)
	}
	if len(o.List("list")) != 2 || !o.Has("a") || o.Has("b") || o.Place("b") != o.Node || o.One("it", "a", "b") != "a" || !o.Complete || o.Len() != 9 {
		t.Errorf("%+v", o)
	}
	o, more := read(t, "name: x")
	if fields.Set(o, "count", &other) || other != 7 {
		t.Errorf("a field that is not there makes %d", other)
	}
	if problems := append(notes.Problems(), more.Problems()...); len(problems) > 0 {
		t.Error(problems)
	}
}

func TestWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[1]":                               "x:1:1: a mapping is wanted, like name: …; here is a list",
		"{count: 3}":                        "x:1:1: name is missing: like name: x",
		"{name: x, cuont: 3}":               `x:1:11: there is no field "cuont" here: do you mean count?`,
		"{name: x, zzzzzz: 3}":              `x:1:11: there is no field "zzzzzz" here: known are name, wait, weight`,
		"{name: x, count: }":                "x:1:11: count has no value; leave it out, or say what it is",
		"{name: ''}":                        "x:1:8: name is empty",
		"{name: [x]}":                       "x:1:8: a text is wanted; here is a list",
		"{name: x, count: 10}":              `x:1:18: "10" is too much (at most 9)`,
		"{name: x, wait: 1}":                `x:1:17: "1" lacks a unit`,
		"{name: x, wait: 1ms}":              "x:1:17: this must be at least 1s",
		"{name: x, wait: 2h}":               "x:1:17: this must be at most 1h",
		"{name: x, weight: 2}":              "x:1:19: this must be at most 1",
		"{name: x, share: 2}":               `x:1:18: "2" is not a share`,
		"{name: x, 'on': 1}":                `x:1:17: "1" is neither true nor false`,
		"{name: x, list: 1}":                `x:1:17: list is a list, with - before each item; here is "1"`,
		"{name: x, list: []}":               "x:1:17: list is empty",
		"{name: x, list: [1, 2, 3]}":        "x:1:17: list has 3 items (at most 2)",
		"{name: x, a: 1, b: 2}":             "x:1:20: it is said by a already",
		"{name: x, count: 0, wait: -1s}":    `x:1:18: "0" is too little (at least 1)` + "\n" + `x:1:27: "-1s" is negative`,
		"{name: x, seed: -1, weight: half}": `x:1:17: "-1" is negative`,
	} {
		o, notes := read(t, text)
		if o != nil {
			fields.Get[string](o, "name")
			fields.Get[time.Duration](o, "wait")
			fields.Get[float64](o, "weight")
			fields.Get[float64](o, "share")
			fields.Get[int](o, "count")
			fields.Get[uint64](o, "seed")
			fields.Get[bool](o, "on")
			o.List("list")
			if o.Has("b") {
				o.One("it", "a", "b")
			}
		}
		got := notes.Problems().Error()
		for line := range strings.SplitSeq(want, "\n") {
			if !strings.Contains(got, line) {
				t.Errorf("%s:\n%s\nwant %s", text, got, line)
			}
		}
	}
}
