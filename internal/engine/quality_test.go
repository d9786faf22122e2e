package engine_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/engine"
)

func TestQualityRulesAreChecked(t *testing.T) {
	t.Parallel()
	const pause = "pause"
	for _, tc := range []struct {
		when, do string
		checks   bool
		want     string // "": it is taken
	}{
		{"accuracy_high < 0.7", pause, true, ""},
		{"answers > 20 and agreement < 0.5 || seconds < 2", ` warn "Please look twice." `, false, ""},
		{"drift > 3", `warn 'say "yes" only if you see it'`, true, ""},
		{"accuracy < 0.7", pause, false, `rule 1, "when", accuracy is known by checks, and the batch has none: it has answers, seconds and agreement`},
		{"seconds < 2 or drift > 1", pause, false, "drift is known by checks"},
		{"acuracy < 0.7", pause, true, `column 1: there is no "acuracy"; did you mean "accuracy"?`},
		{"karma < 0.7", pause, true, `there is no "karma"`},
		{"answers", pause, true, "a condition is true or false"},
		{"1/0 > answers", pause, true, `rule 1, "when", column 3`},
		{"", pause, true, "the condition is empty"},
		{"answers > 1", "pause now", true, `rule 1, "do", "now" is left over after "pause"`},
		{"answers > 1", "warm \"x\"", true, `there is no "warm"; did you mean "warn"?`},
		{"answers > 1", "take them back", true, `write warn "TEXT", pause, train N or weight W`},
		{"answers > 1", "", true, `write warn "TEXT", pause, train N or weight W`},
		{"answers > 1", "weight 0.3", false, ""},
		{"answers > 1", "weight  0.25 ", false, ""},
		{"answers > 1", "weight", true, `weight is followed by what an answer of theirs counts, from 0.01 to 0.99 with at most two decimals, not by ""`},
		{"answers > 1", "weight 1", true, `not by "1"`},
		{"answers > 1", "weight 0.305", true, `not by "0.305"`},
		{"answers > 1", "wieght 0.3", true, `there is no "wieght"; did you mean "weight"?`},
		{"answers > 1", "train 3", true, ""},
		{"answers > 1", "train 3", false, `rule 1, "do", training tasks are known tasks with an explanation, which go with checks`},
		{"answers > 1", "train", true, `train is followed by the number of training tasks, from 1 to 20, not by ""`},
		{"answers > 1", "train 21", true, `from 1 to 20, not by "21"`},
		{"answers > 1", "trian 2", true, `there is no "trian"; did you mean "train"?`},
		{"answers > 1", "warn look twice", true, `the text of a warning stands in quotes`},
		{"answers > 1", `warn "look twice'`, true, `the text of a warning stands in quotes`},
		{"answers > 1", `warn " "`, true, `1 to 500 characters, not 0`},
		{"answers > 1", `warn "` + strings.Repeat("ä", 501) + `"`, true, `1 to 500 characters, not 501`},
		{"answers > 1", "warn \"\xff\"", true, `the text of a warning is not UTF-8 text: its byte 1 is 0xFF`},
		{"answers > 1", "warn \"ä\x00\"", true, `the text of a warning has a NUL character (U+0000) as its character 2: leave it out`},
		{"answers > 1", "warn \"ää\u0085b\"", true, `leave out U+0085, its character 3`},
	} {
		err := engine.CheckQuality([]engine.QualityRule{{When: tc.when, Do: tc.do}}, tc.checks)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q, %q: %v, want %q", tc.when, tc.do, err, tc.want)
		}
	}
	if err := engine.CheckQuality(make([]engine.QualityRule, 21), true); err == nil || !strings.Contains(err.Error(), "at most 20 rules, not 21") {
		t.Errorf("21 rules: %v", err)
	}
	err := engine.CheckQuality([]engine.QualityRule{{When: "x > 1", Do: "no"}, {When: "answers > 1", Do: "nothing"}}, true)
	if n := strings.Count(err.Error(), "rule "); n != 3 {
		t.Errorf("of three errors %d are told: %v", n, err)
	}
}
