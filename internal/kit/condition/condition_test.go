package condition

import (
	"errors"
	"math"
	"strings"
	"testing"
)

var testNames = []Name{
	{Name: "queue", Type: Number, Doc: "what waits"},
	{Name: "workers", Type: Number},
	{Name: "c_star", Type: Number},
	{Name: "open", Type: Bool},
	{Name: "shut", Type: Bool},
	{Name: "label", Type: Text},
}

func values() map[string]any {
	return map[string]any{"queue": 14, "workers": int64(9), "c_star": 12.0, "open": true, "shut": false, "label": "cat"}
}

func TestConditionsHold(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		"queue > 10 || c_star - workers > 5":   true,
		"queue > 20 || c_star - workers > 5":   false,
		"queue > 20 or c_star - workers >= 3":  true,
		"queue>10 and not (workers < 5)":       true,
		"not (queue > 10)":                     false,
		"!open || label == \"cat\"":            true,
		"label != 'cat'":                       false,
		"not (label == 'dog')":                 true,
		"label in ['cat', 'dog']":              true,
		"label not in ['cat', 'dog']":          false,
		"queue in [1, 14.0, 20]":               true,
		"queue not in [1, 14]":                 false,
		"label startsWith 'c'":                 true,
		"label endsWith 'c'":                   false,
		"label contains 'a'":                   true,
		"not (label contains 'a')":             false,
		"1 < queue < 20":                       true,
		"1 < queue < 14":                       false,
		"queue / 4 == 3.5":                     true,
		"1 / 2 == 0.5":                         true,
		"-queue + 15 * 2 >= 16":                true,
		"-queue + 15 * 2 > 16":                 false,
		"queue / 0 > 1000000":                  true,
		"9223372036854775807 + 1 > 0":          true,
		"open":                                 true,
		"open == shut":                         false,
		"open != shut":                         true,
		"open == true":                         true,
		"true":                                 true,
		"not true":                             false,
		"not not open":                         true,
		"queue != 14":                          false,
		"not (queue == 14)":                    false,
		"not (queue != 14)":                    true,
		"not (queue <= 14 and workers >= 9)":   false,
		"not (queue < 14 or workers > 9)":      true,
		"not (queue < 15)":                     false,
		"not (queue > 13)":                     false,
		"not (queue >= 15)":                    true,
		"\n queue > 1 // more than one\n":      true,
		"shut or queue > 13 and workers > 100": false,
	}
	for text, want := range cases {
		c, err := Compile(text, testNames)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := c.Eval(values()); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestNothingHoldsOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"c_star > 1", "c_star <= 1", "c_star == 1", "c_star != 1",
		"not (c_star > 1)", "not (c_star <= 1)", "not (c_star == 1)", "not (c_star != 1)", "not (c_star < 1)", "not (c_star >= 1)",
		"c_star in [1]", "c_star not in [1]", "c_star - workers > 5 and queue > 1", "not (c_star > 5 and c_star < 7)", "not not (c_star > 1)",
		"1 < c_star < 3", "not (1 < c_star < 3)", "c_star == c_star",
	} {
		c, err := Compile(text, testNames)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		v := values()
		v["c_star"] = NotKnown()
		if got, err := c.Eval(v); got || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	c, err := Compile("queue > 10 || c_star - workers > 5", testNames)
	if err != nil {
		t.Fatal(err)
	}
	v := values()
	v["c_star"] = NotKnown()
	if got, _ := c.Eval(v); !got {
		t.Error("what is known does not count any more")
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text         string
		line, column int
		message      string
	}{
		{"", 1, 1, "empty"},
		{"  \n", 1, 1, "empty"},
		{"queue > 10 || cstar > 5", 1, 15, `did you mean "c_star"?`},
		{"queue > 10 ||\n  wokers > 5", 2, 3, `did you mean "workers"?`},
		{"Queue > 1", 1, 1, `did you mean "queue"?`},
		{"zebra > 1", 1, 1, "the names are queue, workers"},
		{"queue", 1, 1, "true or false, but this is a number; compare it"},
		{"queue + 1", 1, 7, "true or false"},
		{"label", 1, 1, "this is a text"},
		{"queue > 'a'", 1, 9, "> is for a number on both sides, but this is a text"},
		{"open > 1", 1, 1, "> is for a number"},
		{"queue && open", 1, 1, "&& is for a bool"},
		{"queue == 'a'", 1, 7, "never equal"},
		{"label + 'a' == 'b'", 1, 1, "+ is for a number"},
		{"label contains 3", 1, 16, "contains is for a text"},
		{"queue = 3", 1, 7, "write =="},
		{"queue > 3 & open", 1, 11, "write &&"},
		{"queue > 3 | open", 1, 11, "no meaning"},
		{"queue > 3 AND open", 1, 11, "written small"},
		{"queue >", 1, 8, "more is expected"},
		{"(queue > 3", 1, 11, "more is expected"},
		{"queue > 3)", 1, 10, "not expected here"},
		{"queue > 3 open", 1, 11, "not expected here"},
		{"len(label) > 1", 1, 1, "no functions"},
		{"now() > 1", 1, 1, "no functions"},
		{"date('2020-01-01') == date('2020-01-01')", 1, 1, "no functions"},
		{"all([1,2], {# > 1})", 1, 1, "no functions"},
		{"queue in 1..100", 1, 11, "comes a list"},
		{"queue in []", 1, 10, "empty"},
		{"queue in [1, 'a']", 1, 14, "never equal"},
		{"open in [true]", 1, 6, "not for a bool"},
		{"label in label", 1, 10, "comes a list"},
		{"[1] == [1]", 1, 1, `only after "in"`},
		{"label matches 'a+'", 1, 7, "not part of a condition"},
		{"queue % 2 == 0", 1, 7, "not part of a condition"},
		{"queue ** 2 > 0", 1, 7, "not part of a condition"},
		{"open ?? shut", 1, 6, ""},
		{"queue > 1 ? open : shut", 1, 0, `no "? :"`},
		{"label.size > 1", 1, 0, "no parts"},
		{"label[0] == 'a'", 1, 0, "no parts"},
		{"let x = 1; x > 0", 1, 5, "not part"},
		{"if open { true } else { false }", 1, 4, `"open" is not expected here`},
		{"open; shut", 1, 0, "not part"},
		{"not queue > 1", 1, 1, "parentheses"},
		{"-open", 1, 1, "- is for numbers"},
		{"(queue > 1) == open", 1, 13, "use and, or, not"},
		{"nil == nil", 1, 1, "no nil"},
		{"queue > 1e999", 1, 0, "a number is too great"},
		{"queue > 99999999999999999999", 1, 0, "a number is too great"},
		{"'ä' == 'ä' && quue > 1", 1, 15, `"queue"`},
		{"open &&\n\"a\nb\" == label", 2, 0, ""},
		{"\xff", 1, 1, "UTF-8"},
		{strings.Repeat("(", 200) + "open", 1, 61, "deep"},
		{strings.Repeat("!", 200) + "open", 1, 61, "deep"},
		{"open && " + strings.Repeat("x", MaxText), 1, 1, "at most 1000 characters"},
		{strings.Repeat("1+", 490) + "1 > 0", 1, 0, "parts"},
	}
	for _, c := range cases {
		_, err := Compile(c.text, testNames)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.60q: %v, want an *Error", c.text, err)
			continue
		}
		if e.Line != c.line || c.column != 0 && e.Column != c.column || !strings.Contains(e.Message, c.message) || e.Text != c.text {
			t.Errorf("%.60q: line %d column %d %q, want line %d column %d %q", c.text, e.Line, e.Column, e.Message, c.line, c.column, c.message)
		}
		if strings.Contains(e.Message, "Operator(") || strings.Contains(e.Message, "*ast.") {
			t.Errorf("%.60q: the message is the parser's own: %s", c.text, e.Message)
		}
	}
}

func TestEvalRefusesWrongValues(t *testing.T) {
	t.Parallel()
	c, err := Compile("queue > 1 && open && label == 'x'", testNames)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(c.Uses()); got != 3 {
		t.Errorf("it uses %d names", got)
	}
	for name, wrong := range map[string]any{"queue": "14", "open": 1, "label": nil} {
		v := values()
		v[name] = wrong
		if _, err := c.Eval(v); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %v: %v", name, wrong, err)
		}
		delete(v, name)
		if _, err := c.Eval(v); err == nil || !strings.Contains(err.Error(), "no value of "+name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for _, n := range []any{int(14), int8(14), int16(14), int32(14), int64(14), uint(14), uint8(14), uint16(14), uint32(14), uint64(14), float32(14), 14.0} {
		c, _ := Compile("queue == 14", testNames)
		if ok, err := c.Eval(map[string]any{"queue": n}); !ok || err != nil {
			t.Errorf("%T: %v, %v", n, ok, err)
		}
	}
}

func TestNamesOfBuiltinsAreFree(t *testing.T) {
	t.Parallel()
	names := []Name{{Name: "count", Type: Number}, {Name: "max", Type: Number}, {Name: "if", Type: Bool}}
	if _, err := Compile("if and count == 1", names); err != nil {
		t.Error(err)
	}
	c, err := Compile("max - 1 > 0", names)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := c.Eval(map[string]any{"max": 3}); !ok || err != nil {
		t.Error(ok, err)
	}
}

// FuzzCompile: whatever is compiled can be evaluated, gives the same twice, and
// if it holds while numbers are not known, it holds for any numbers.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"queue > 10 || c_star - workers > 5", "not (queue in [1, 2]) and label startsWith 'a'", "1 < queue < c_star", "open == shut or !open",
		"queue =", "all(queue, {#})", "((((", "let x = 1; x > 1", "'\\u00e4' == label", "queue | len", "0x1f > queue", "1_000 > queue", "`a` == label", "b'a' == label",
	} {
		f.Add(seed, 1.5, 3.0)
	}
	f.Fuzz(func(t *testing.T, text string, x, y float64) {
		c, err := Compile(text, testNames)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Message == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		v := values()
		v["queue"], v["c_star"] = x, y
		got, err := c.Eval(v)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again, _ := c.Eval(v); again != got {
			t.Fatalf("%q: %v, then %v", text, got, again)
		}
		v["queue"] = math.NaN()
		if guess, err := c.Eval(v); err != nil || guess && !got {
			t.Fatalf("%q holds when queue is not known, and not for %g (%v)", text, x, err)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	c, err := Compile("queue > 10 || c_star - workers > 5", testNames)
	if err != nil {
		b.Fatal(err)
	}
	v := map[string]any{"queue": 3.0, "workers": 9.0, "c_star": 12.0}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Eval(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile("queue > 10 || c_star - workers > 5", testNames); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhatHasNoValueIsSaid(t *testing.T) {
	t.Parallel()
	names := []Name{{Name: "queue", Type: Number}, {Name: "idle", Type: Number}}
	for text, want := range map[string]string{
		"1/0 > 2":               "column 3: nothing is divided by 0",
		"queue / 0 > 2":         "column 9: nothing is divided by 0",
		"queue / (1 - 1) > 2":   "column 12: nothing is divided by 0",
		"0/-0.0 == 0":           "column 3: nothing is divided by 0",
		"queue in [1, 2/0]":     "column 16: nothing is divided by 0",
		"queue > 1e300 * 1e300": "column 15: this number is too large",
		"queue / idle > 2":      "",

		"queue / (queue - queue) > 2":         "column 16: nothing is divided by 0",
		"1 / (0 * queue) > 2":                 "column 8: nothing is divided by 0",
		"1 / (2*queue - queue*2 + 1 - 1) > 2": "column 28: nothing is divided by 0",
		"1 / (queue*idle - queue*idle) > 2":   "column 17: nothing is divided by 0",
		"queue/(queue*idle-idle*queue) > 2":   "column 18: nothing is divided by 0",
		"1 / ((queue+idle)*(queue+idle) - (queue*queue + 2*queue*idle + idle*idle)) > 2": "column 32: nothing is divided by 0",
		"1 / (queue/2 - (idle + queue - idle)*0.5) > 2":                                  "column 14: nothing is divided by 0",
		"1 / (queue - idle) > 2 and 1 / -(queue - idle) < 2":                             "",
		"1 / (queue*idle - idle*queue + 1) > 2":                                          "",
		"1/(0/queue) > 2":                                                                "column 5: nothing is divided by 0",
		"1/(0/queue*idle + idle - idle) > 2":                                             "column 24: nothing is divided by 0",
		"1/((queue-queue)/idle) > 2":                                                     "column 17: nothing is divided by 0",
		"1/(0/queue + 1) > 2":                                                            "",
		"1/(queue/queue - 1) > 2":                                                        "column 16: nothing is divided by 0",
		"1/(queue/queue/2 - 0.5) > 2":                                                    "column 18: nothing is divided by 0",
		"1/(queue/idle*idle/queue - 1) > 2":                                              "column 26: nothing is divided by 0",
		"1/((queue+idle)/(idle+queue) - 1) > 2":                                          "column 30: nothing is divided by 0",
		"1/(1/queue + 1/idle - (idle+queue)/(queue*idle)) > 2":                           "column 21: nothing is divided by 0",
		"1/(1/(1/queue) - queue) > 2":                                                    "column 16: nothing is divided by 0",
		"1/(queue/3*3 - queue) > 2":                                                      "column 14: nothing is divided by 0",
		"1/(queue/queue - 2) > 2":                                                        "",
		"1/(queue/idle - idle/queue) > 2":                                                "",
		"1/(queue/idle - 1) > 2":                                                         "",
		"1/(1/queue + 1/idle - 2/(queue*idle)) > 2":                                      "",
		"1/(1e-200*queue*1e-200) > 2":                                                    "",
		"1/(queue/1e-200/1e-200 + idle/1e-200/1e-200) > 2":                               "",
		"0/queue < 1 or queue / queue > 2":                                               "",
		"queue / queue > 2":                                                              "",
		"queue / 2 > 1 / 3":                                                              "",
	} {
		c, err := Compile(text, names)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Defined(); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// What is wrong with the characters themselves is told where it begins, with what to write.
func TestErrorsOfCharactersSayWhatToWrite(t *testing.T) {
	t.Parallel()
	const escape = `the backslash before this is not understood: write \\ for a backslash, \n for a new line, \u and 4 hexadecimal digits for a character, and a quote by a backslash only in a text that stands in such quotes`
	for text, want := range map[string]string{
		`label == "yes`: `column 10: the text that begins here is not closed: write " after it, on the same line`,
		"queue > 1 and\nlabel == 'yes and queue > 2": "line 2, column 10: the text that begins here is not closed: write ' after it, on the same line",
		"label == \"a\nb\"":                          `line 1, column 10: the text that begins here is not closed: write " after it, on the same line`,
		"label == `yes\n":                            "line 1, column 10: the text that begins here is not closed: write ` after it",
		`label == "a\"`:                              `column 10: the text that begins here is not closed: write " after it, on the same line`,
		"queue > 1 // it's\n and label == 'q":        "line 2, column 15: the text that begins here is not closed: write ' after it, on the same line",
		"queue > 1 /* it's */ and label == 'q":       "column 35: the text that begins here is not closed: write ' after it, on the same line",
		`queue > 2 /* why`:                           "column 11: the comment that begins here is not closed: write */ after it",
		`label == "a\qb"`:                            "column 13: " + escape,
		`label == "it\'s"`:                           "column 14: " + escape,
		`label == "\400"`:                            "column 15: " + escape,
		"queue > 12ab":                               "column 11: this is no number: write one such as 12, 0.5 or 1e6",
		"queue > 0x":                                 "column 10: this is no number: write one such as 12, 0.5 or 1e6",
		"queue > 1e":                                 "column 10: this is no number: write one such as 12, 0.5 or 1e6",
		"queue @ 2":                                  "column 7: '@' has no meaning outside a text in quotes: leave it out",
		"queue > 2 \x00":                             `column 11: '\x00' has no meaning outside a text in quotes: leave it out`,
		"label == “yes”":                             `column 10: “ is no quote that conditions know: write "`,
	} {
		_, err := Compile(text, []Name{{Name: "queue", Type: Number}, {Name: "label", Type: Text}})
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n%v, want\n%s", text, err, want)
		}
	}
}

// BenchmarkCompileNested is what the slowest conditions cost: deep divisions, and products of
// sums as divisors.
func BenchmarkCompileNested(b *testing.B) {
	names := []Name{{Name: "a", Type: Number}, {Name: "b", Type: Number}}
	for _, x := range []struct{ name, text string }{
		{"plain", "a > 10 or b - a > 5"},
		{"divisions", strings.Repeat("1/(a+", 60) + "1" + strings.Repeat(")", 60) + " > 2"},
		{"products", strings.Repeat("1/((a+1)*(b+1)*(a+2)*(b+2)*(a+3)*(b+3)*(a+4))+", 12) + "1 > 2"},
		{"quotients", strings.Repeat("1/(a/(b+1)+b/(a+1)+1/(a+b+3)+1/(a-b)+1/(a+2))+", 12) + "1 > 2"},
		{"constants", strings.Repeat("1+", 240) + "1 > 2"},
	} {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Compile(x.text, names); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
