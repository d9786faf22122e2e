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
		fields.Text(1, 9).As("name").Needed("like name: x"), fields.Duration(time.Second, time.Hour).As("wait"), fields.Number(0, 1).As("weight"),
		fields.Share.As("share"), fields.Count(1, 9).As("count"), fields.Bool.As("on"), fields.List(1, 2, fields.Any).As("list"),
		fields.Choice("red", "green").As("colour"), fields.Map(2, fields.Text(1, 3), fields.Count(0, 9)).As("map"),
		fields.Either(fields.Text(0, 9), fields.List(1, 2, fields.Text(1, 9))).As("either"),
		fields.Fields{fields.May("object", fields.Object("", fields.Must("must", fields.Bool), fields.May("p", fields.Any), fields.May("q", fields.Any)).ExactlyOne("it", "p", "q"))},
		fields.Any.As("a", "b"),
	)
)

func read(t *testing.T, text string) (*fields.Part, *yamlfile.Notes) {
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
	o, notes := read(t, "{name: ' x ', wait: 1m, weight: 0.5, share: 30%, count: 3, 'on': true, list: [1, 2], a: 1}")
	var name string
	wait, weight, share, count, on, other := time.Duration(0), 0.0, 0.0, 0, false, 7
	ok := fields.Set(o, "name", &name) && fields.Set(o, "wait", &wait) && fields.Set(o, "weight", &weight) && fields.Set(o, "share", &share) &&
		fields.Set(o, "count", &count) && fields.Set(o, "on", &on)
	if !ok || name != " x " || wait != time.Minute || weight != 0.5 || share != 0.3 || count != 3 || !on {
		t.Errorf("%v: %q %v %g %g %d %v", ok, name, wait, weight, share, count, on)
	}
	if len(o.List("list")) != 2 || !o.Has("a") || o.Has("b") || o.Place("b") != o.Node || o.One("it", "a", "b") != "a" || !o.Complete || o.Len() != 8 {
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
		"[1]":                             "x:1:1: a mapping is wanted, like {name: …}; here is a list",
		"{count: 3}":                      "x:1:1: name is missing: like name: x",
		"{name: x, cuont: 3}":             `x:1:11: there is no field "cuont" here: did you mean count?`,
		"{name: x, zzzzzz: 3}":            `x:1:11: there is no field "zzzzzz" here: known are name, wait, weight`,
		"{name: x, count: }":              "x:1:11: count has no value: a whole number from 1 to 9 is wanted",
		"{name: x, a: }":                  "x:1:11: a has no value: leave it out, or say what it is",
		"{name: ''}":                      "x:1:8: this text is empty",
		"{name: 'x234567890'}":            "x:1:8: this text has 10 characters, at most 9 are possible",
		"{name: [x]}":                     "x:1:8: a text is wanted; here is a list",
		"{name: x, count: 10}":            `x:1:18: "10" is too much (at most 9)`,
		"{name: x, wait: 1}":              `x:1:17: "1" lacks a unit`,
		"{name: x, wait: 1ms}":            `x:1:17: "1ms": this must be at least 1s`,
		"{name: x, wait: 2h}":             `x:1:17: "2h": this must be at most 1h`,
		"{name: x, weight: 2}":            `x:1:19: "2": this must be at most 1`,
		"{name: x, share: 2}":             `x:1:18: "2" is not a share`,
		"{name: x, 'on': 1}":              `x:1:17: "1" is neither true nor false`,
		"{name: x, list: 1}":              `x:1:17: a list is wanted, like [a, b]; here is "1"`,
		"{name: x, list: []}":             "x:1:17: this list is empty: leave it out, or say what is in it",
		"{name: x, list: [1, 2, 3]}":      "x:1:17: this list has 3 items, at most 2 are possible",
		"{name: x, colour: gren}":         `x:1:19: "gren" is not known here: did you mean green? (red, green)`,
		"{name: x, colour: blue}":         `x:1:19: "blue" is not known here: it is one of red, green`,
		"{name: x, map: {}}":              "x:1:11: a mapping of names is wanted, like {name: …}, and here is nothing",
		"{name: x, map: {a: 1, b: x}}":    `x:1:26: "x" is not a count`,
		"{name: x, map: {a: 1, '': 2}}":   "x:1:23: this text is empty",
		"{name: x, either: {}}":           "x:1:19: a text is wanted, or a list is wanted, like [a, b]; here is a mapping",
		"{name: x, either: [a, '']}":      "x:1:23: this text is empty",
		"{name: x, object: {p: 1}}":       "x:1:11: must is missing: true or false is wanted",
		"{name: x, object: {p: 1, q: 1}}": "x:1:26: it is said by p already; leave one of them out",
		"{name: x, object: {must: true}}": "x:1:11: it is missing: one of p, q",
		"{name: x, a: 1, b: 2}":           "x:1:17: it is said by a already",
		"{name: x, count: 0, wait: -1s}":  `x:1:18: "0" is too little (at least 1)` + "\n" + `x:1:27: "-1s" is negative`,
	} {
		o, notes := read(t, text)
		if o != nil {
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
