package scenario_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// files reads testdata.
func files(name string) ([]byte, error) { return os.ReadFile(filepath.Join("testdata", name)) }

// parts is a scenario that is right, by section.
var parts = [][2]string{
	{"scenario", "scenario: test\n"},
	{"kinds", "kinds: [{name: tag, service: 11s}]\n"},
	{"crowd", "crowd: [{arrive: {count: 5}}]\n"},
	{"batches", "batches: [{name: b, tasks: 10}]\n"},
}

// with returns a scenario that is right but for some sections, which take the
// place of others; the first of them comes first.
func with(text string) string {
	for _, p := range parts {
		if !strings.HasPrefix(text, p[0]+":") && !strings.Contains(text, "\n"+p[0]+":") {
			text += p[1]
		}
	}
	return text
}

func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("x.yaml", []byte(text), files)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return s
}

// TestWhatIsWrong: each error is at its place, says what would be right, and is
// the only one.
func TestWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Not a scenario.
		{"", "1:1: the file is empty"},
		{"# nothing\n", "1:1: the file is empty"},
		{"---\n", "1:1: the file is empty; a scenario begins like this: scenario: rush hour"},
		{"just text\n", `1:1: a mapping is wanted, like {scenario: …}; here is "just text"`},
		{"- a\n- b\n", "1:1: a mapping is wanted, like {scenario: …}; here is a list"},
		{"a: [1,\n", "2:1: this is not YAML: did not find expected node content"},
		{"scenario: x\n\tabout: y\n", "2:1: this is not YAML: found a tab character that violates indentation (YAML is indented with spaces)"},
		{"about:\n\t- x\n", "2:1: this is not YAML: found character that cannot start any token (YAML is indented with spaces)"},
		{"\x7fELF\x02\x00", "1:5: this is not YAML: control characters are not allowed"},
		{"PK\x03\x04", "1:3: this is not YAML: control characters are not allowed"},
		{"scenario: a\x00b", "1:12: this is not YAML: control characters are not allowed"},
		{strings.Repeat("[", 100_000), "this is not YAML: exceeded max depth"},
		{strings.Repeat("a", scenario.MaxFile+1), "1:1: a scenario has at most 4 MiB"},
		{with("") + "---\nscenario: second\n", "5:1: a second document begins here"},
		{with("about: &x a\nscenario: *x\n"), "2:11: *x: aliases are not known here"},
		{with("<<: {about: x}\n"), "1:1: merging (<<) is not known here"},
		{with("about: !!binary aGk=\n"), `1:8: the tag "!!binary" means nothing here`},
		{with("x: [*y, 1]\nabout: &y a\n"), "1:5: this is not YAML: unknown anchor 'y' referenced"},
		{with("about: &y a\nx: [*y, *y]\n"), `2:1: there is no field "x" here|2:5: *y: aliases are not known here|2:9: *y: aliases are not known here`},
		{with("about: caf\xe9\n"), "1:11: the file is not UTF-8 text"},
		{"\xff\xfes\x00", "1:1: the file is UTF-16 text: save it as UTF-8"},
		{"%YAML 1.2\n---\n" + with(""), "1:1: this is not YAML: found incompatible YAML document (leave the line %YAML out)"},
		{with("tenants: [{name: a, weight: 1e400}]\n"), `1:29: "1e400" is too large a number`},
		{with("kinds: [{name: tag, service: 1 1s}]\n"), `1:30: "1 1s" is not a duration`},
		{with("? [a]\n: b\n"), "1:3: the name of a field is a text, not a list"},
		{with("about: a\nabout: b\n"), `2:1: "about" stands here twice, first in line 1`},
		{with("about:\n"), "1:1: about has no value"},
		{with("about: [x]\n"), "1:8: a text is wanted; here is a list"},
		{with("sede: 3\n"), `1:1: there is no field "sede" here: did you mean seed?`},
		{with("workforce: 3\n"), `1:1: there is no field "workforce" here: known are scenario, about,`},
		// The head.
		{strings.Replace(with(""), "scenario: test\n", "", 1), "1:1: scenario is missing: a name"},
		{with("scenario: ' '\n"), "1:11: this text is empty"},
		{with("scenario: " + strings.Repeat("x", 300) + "\n"), "1:11: a name has 1 to 200 characters"},
		{with("horizon: 20\n"), `1:10: "20" lacks a unit: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m`},
		{with("horizon: 0\n"), `1:10: "0": this must be more than 0`},
		{with("horizon: -3h\n"), `1:10: "-3h" is negative`},
		{with("horizon: 1e300s\n"), `1:10: "1e300s" is not a duration`},
		{with("horizon: 99999999999999999999999d\n"), "1:10: \"99999999999999999999999d\" is too long (at most 3650d)"},
		{with("horizon: 30m1h\n"), `1:10: "30m1h" is not a duration`},
		{with("horizon: 3 weeks\n"), `1:10: "3 weeks" is not a duration`},
		{with("horizon: .inf\n"), `1:10: ".inf" is not a duration`},
		{with("horizon: [1h]\n"), "1:10: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m; here is a list"},
		{with("repetitions: 0\n"), `1:14: "0" is too little (at least 1)`},
		{with("repetitions: 2.5\n"), `1:14: "2.5" is not a count`},
		{with("repetitions: -1\n"), `1:14: "-1" is negative`},
		{with("repetitions: 99999999999999999999999999\n"), `1:14: "99999999999999999999999999" is too much (at most 100000)`},
		{with("repetitions: .nan\n"), `1:14: ".nan" is not a count`},
		{with("seed: 18446744073709551616\n"), `1:7: "18446744073709551616" is too much (at most 18446744073709551615)`},
		{with("policies: fs\n"), `1:11: a list is wanted, like [a, b]; here is "fs"`},
		{with("policies: []\n"), `1:11: this list is empty: leave it out, or say what is in it`},
		{with("policies: [" + strings.Repeat("fs, ", 50) + "fs]\n"), `1:11: this list has 51 items, at most 50 are possible`},
		{with("policies: [fs, fair]\n"), `1:16: there is no policy "fair" (known: fifo, sjf`},
		{with("policies: [market(stay=2)]\n"), `1:12: market takes stay=0 to 1, not stay=2`},
		{with("policies: [fs, fs]\n"), `1:16: the policy fs stands there twice`},
		{with("policies: [\"wcfs( fs , k=3 )\", \"wcfs(fs,k=3)\"]\n"), `1:32: the policy wcfs(fs,k=3) stands there twice`},
		// Tenants and kinds.
		{with("tenants: [{name: a}, {name: a}]\n"), `1:29: two have the name "a"; each tenant has its own|5:11: tenant is missing`},
		{with("tenants: [{weight: 2}]\n"), `1:11: name is missing`},
		{with("tenants: [{name: a, weight: 0}]\n"), `1:29: "0": this must be at least 0.000001`},
		{with("tenants: [{name: a, weight: .nan}]\n"), `1:29: ".nan" is not a number`},
		{with("tenants: [{name: \"a\\nb\"}]\n"), `1:18: "a\nb" is not a name`},
		{strings.Replace(with(""), parts[1][1], "", 1), "1:1: kinds is missing"},
		{with("kinds: []\n"), "1:8: this list is empty"},
		{with("kinds: [{name: a}]\n"), "1:9: service is missing"},
		{with("kinds: [{name: a, service: 11}]\n"), `1:28: "11" lacks a unit`},
		{with("kinds: [{name: a, service: 0s}]\n"), `1:28: "0s": this must be more than 0`},
		{with("kinds: [{name: a, service: 32d}]\n"), `1:28: an answer takes 32d on average (at most 31d)`},
		{with("kinds: [{name: a, service: {exponential: 0s}}]\n"), `1:42: "0s": this must be more than 0`},
		{with("kinds: [{name: a, service: {exponential: 3/s}}]\n"), `1:42: "3/s" is not a duration`},
		{with("kinds: [{name: a, service: {exponentail: 3s}}]\n"), `1:29: there is no field "exponentail" here: did you mean exponential?`},
		{with("kinds: [{name: a, service: {exponential: 3s, uniform: {min: 1s, max: 2s}}}]\n"), `1:46: the distribution is said by exponential already`},
		{with("kinds: [{name: a, service: {exponential: 3s, max: 2}}]\n"), `1:51: max belongs to zipf`},
		{with("kinds: [{name: a, service: {zipf: 2}}]\n"), `1:35: zipf is for sizes of batches`},
		{with("kinds: [{name: a, service: [3s, 4s]}]\n"), `1:28: observed figures are written {empirical: […]}`},
		{with("kinds: [{name: a, service: {uniform: {min: 9s, max: 3s}}}]\n"), `1:53: max must be more than min`},
		{with("kinds: [{name: a, service: {uniform: {min: 9s}}}]\n"), `1:38: max is missing`},
		{with("kinds: [{name: a, service: {lognormal: {mean: 9s}}}]\n"), `1:40: sd is missing`},
		{with("kinds: [{name: a, service: {lognormal: {mean: 9s, sigma: 2}}}]\n"), `1:58: sigma goes with a median; with a mean goes sd`},
		{with("kinds: [{name: a, service: {lognormal: {median: 9s, sd: 2s}}}]\n"), `1:57: with a median goes sigma`},
		{with("kinds: [{name: a, service: {lognormal: {median: 9s, sigma: 6}}}]\n"), `1:60: "6": this must be at most 5`},
		{with("kinds: [{name: a, service: {lognormal: {mode: 1s, sd: 1d}}}]\n"), `1:55: this is more than 1000 times the mode`},
		{with("kinds: [{name: a, service: {empirical: []}}]\n"), `1:40: empirical is empty`},
		{with("kinds: [{name: a, service: {empirical: [0s, 0s]}}]\n"), `1:40: all figures are 0`},
		{with("kinds: [{name: a, service: {empirical: 3s}}]\n"), `1:40: empirical is a list of figures or {file: …, column: …}`},
		{with("kinds: [{name: a, service: {empirical: {file: none.csv, column: s}}}]\n"), `1:47: "none.csv" cannot be read: no such file or directory`},
		{with("kinds: [{name: a, service: {empirical: {file: seconds.csv, column: seconds}}}]\n"), `1:68: there is no column "seconds"; the file has batch, s`},
		{with("kinds: [{name: a, service: {empirical: {file: seconds.csv, column: batch}}}]\n"), `seconds.csv:2: column "batch": "B1" is not a duration|seconds.csv:3:|seconds.csv:4:|seconds.csv:5:`},
		{with("kinds: [{name: a, service: {empirical: {file: seconds.csv, column: batch}}, switch: {time: {empirical: {file: seconds.csv, column: batch}}}}]\n"), `seconds.csv:2:|seconds.csv:3:|seconds.csv:4:|seconds.csv:5:`},
		{with("kinds: [{name: a, service: {empirical: {file: seconds.csv, column: s, where: {batch: B9}}}}]\n"), `1:40: the column "s" of the file has no value where it should; "batch" has B1, B2`},
		{with("kinds: [{name: a, service: {empirical: {file: seconds.csv, column: s, where: {run: B9}}}}]\n"), `1:79: there is no column "run"`},
		{with("kinds: [{name: a, service: 1s, switch: {}}]\n"), `1:40: a switch costs a factor or a time`},
		{with("kinds: [{name: a, service: 1s, switch: {factor: 0}}]\n"), `1:49: "0": this must be at least 0.001`},
		{with("kinds: [{name: a, service: 1s, skip: 20}]\n"), `1:38: "20" is not a share: a share is from 0 to 1`},
		{with("kinds: [{name: a, service: 1s, skip: -1%}]\n"), `1:38: "-1%" is not a share`},
		{with("kinds: [{name: a, service: 1s, skip: 60%, return: 40%}]\n"), `1:9: skip, return and vanish are 1 together`},
		{with("kinds: [{name: a, service: 1s, accuracy: 0.9}]\n"), `1:42: accuracy needs answers`},
		{with("kinds: [{name: a, service: 1s, answers: [x], accuracy: 0.9}]\n"), `1:56: accuracy needs two answers or more; where there is only one, none is wrong`},
		{with("kinds: [{name: a, service: 1s, answers: [x], confusion: [[1]]}]\n"), `1:57: confusion needs two answers or more`},
		{with("crowd: [{arrive: {count: 3}, accuracy: {tag: 0.5}}]\nkinds: [{name: tag, service: 1s, answers: [a]}]\n"), `1:41: the kind "tag" has only one answer: none is wrong`},
		{with("kinds: [{name: a, service: {empirical: {file: twice.csv, column: s}}}]\n"), `twice.csv:1: column "s": columns 1 and 2 have the same name`},
		{with("kinds: [{name: a, service: 1s, answers: [x, x]}]\n"), `1:45: the answer "x" stands there twice`},
		{with("kinds: [{name: a, service: 1s, answers: [x, y], accuracy: 1, confusion: [[1, 0], [0, 1]]}]\n"), `1:73: accuracy and confusion say the same thing`},
		{with("kinds: [{name: a, service: 1s, answers: [x, y], confusion: [[1, 0]]}]\n"), `1:60: confusion has 1 rows for 2 answers`},
		{with("kinds: [{name: a, service: 1s, answers: [x, y], confusion: [[1, 0], [1]]}]\n"), `1:69: a row of confusion is a list of 2 shares`},
		{with("kinds: [{name: a, service: 1s, answers: [x, y], confusion: [[1, 0], [0.3, 0.6]]}]\n"), `1:69: the row sums to 0.9`},
		{with("kinds: [{name: a, service: 1s, confusion: [[1]]}]\n"), `1:43: confusion needs answers`},
		// The crowd.
		{strings.Replace(with(""), parts[2][1], "", 1), "1:1: crowd is missing: there is nobody to work"},
		{with("crowd: [{}]\n"), "1:9: arrive is missing"},
		{with("crowd: [{arrive: {count: 0}}]\n"), `1:26: "0" is too little`},
		{with("crowd: [{arrive: {count: 10_000_001}}]\n"), `1:26: "10_000_001" is too much (at most 10000000)`},
		{with("crowd: [{arrive: {}}]\n"), `1:18: when they come is missing: one of count, rate, every, times, band`},
		{with("crowd: [{arrive: {rate: -3/h}}]\n"), `1:25: "-3/h": a rate is more than 0`},
		{with("crowd: [{arrive: {rate: 0/h}}]\n"), `1:25: "0/h": a rate is more than 0`},
		{with("crowd: [{arrive: {rate: 30}}]\n"), `1:25: "30" lacks a unit: a rate is a number for each s, m, h or d, like 2/s`},
		{with("crowd: [{arrive: {rate: 30/week}}]\n"), `1:25: "30/week" is not a rate`},
		{with("crowd: [{arrive: {rate: 1e9/s}}]\n"), `1:25: "1e9/s" is too fast`},
		{with("horizon: 9d\ncrowd: [{arrive: {rate: 1000/s}}]\n"), `2:25: this brings some 7.78e+08 until 9d (at most 10000000)`},
		{with("crowd: [{arrive: {rate: 3/h, at: 3m}}]\n"), `1:34: at does not go with rate (with it go only: rate, from, until, count)`},
		{with("crowd: [{arrive: {rate: 3/h, from: 3h, until: 2h}}]\n"), `1:47: until must be after from (3h)`},
		{with("crowd: [{arrive: {band: {min: 9, max: 3, rate: 1/m}}}]\n"), `1:39: max (3) is less than min (9)`},
		{with("crowd: [{arrive: {band: {min: 9, max: 13}}}]\n"), `1:25: rate is missing`},
		{with("crowd: [{arrive: {times: []}}]\n"), `1:26: times is empty`},
		{with("crowd: [{arrive: {times: [1m, 9]}}]\n"), `1:31: "9" lacks a unit`},
		{with("crowd: [{arrive: {times: 3}}]\n"), `1:26: times is a list`},
		{with("crowd: [{arrive: {count: 3}, speed: 0}]\n"), `1:37: "0": this must be more than 0`},
		{with("crowd: [{arrive: {count: 3}, speed: 2s}]\n"), `1:37: "2s" is not a number`},
		{with("crowd: [{arrive: {count: 3}, accuracy: {tags: 0.5}}]\nkinds: [{name: tag, service: 1s, answers: [a, b]}]\n"), `1:41: there is no kind "tags": did you mean tag?`},
		{with("crowd: [{arrive: {count: 3}, accuracy: {tag: 0.5}}]\n"), `1:41: the kind "tag" has no answers`},
		{with("crowd: [{arrive: {count: 3}, qualifications: {french: 101}}]\n"), `1:55: "101" is too much (at most 100)`},
		{with("horizon: 1h\ncrowd: [{arrive: {count: 3, at: 2h}}]\n"), `2:33: at is 2h, after the end of the run (horizon: 1h)`},
		// The load.
		{strings.Replace(with(""), parts[3][1], "", 1), "1:1: batches is missing: there is nothing to do"},
		{with("batches: [{}]\n"), "1:11: tasks is missing"},
		{with("batches: [{tasks: 0}]\n"), `1:19: "0" is too little`},
		{with("batches: [{tasks: 5000000000}]\n"), `1:19: "5000000000" is too much`},
		{with("batches: [{tasks: 200_000_000}]\n"), `1:11: 200000000 tasks is too much at 0.01 an answer (at most 100000000, for at most 1000000.00)`},
		{with("batches: [{tasks: 3, at: -1s}]\n"), `1:26: "-1s" is negative`},
		{with("batches: [{tasks: 3, deadline: 0s}]\n"), `1:32: "0s": a deadline counts from the launch of its batch, and is after it`},
		{with("batches: [{tasks: 3, deadline: -5m}]\n"), `1:32: "-5m" is negative`},
		{with("batches: [{tasks: 3, deadline: 2026-01-01}]\n"), `1:32: "2026-01-01" is not a duration`},
		{with("batches: [{tasks: 3, priority: 0}]\n"), `1:32: "0" is not a priority`},
		{with("batches: [{tasks: 3, production: yes}]\n"), `1:34: "yes" is neither true nor false`},
		{with("batches: [{tasks: 3, reward: 0}]\n"), `1:30: an answer costs more than 0`},
		{with("batches: [{tasks: 3, reward: 5 cents}]\n"), `1:30: "5 cents" is not an amount`},
		{with("batches: [{tasks: 3, lease: 500ms}]\n"), `1:29: "500ms" is not between 1s and 31d`},
		{with("batches: [{tasks: 3, estimate: 0s}]\n"), `1:32: "0s": this must be more than 0`},
		{with("batches: [{tasks: 3, redundancy: {count: 3, of: 5}}]\n"), `1:42: count goes alone`},
		{with("batches: [{tasks: 3, redundancy: {agree: 3}}]\n"), `1:34: of is missing`},
		{with("batches: [{tasks: 3, redundancy: {agree: 3, of: 2}}]\n"), `1:42: 3 of 2 can never agree`},
		{with("batches: [{tasks: 3, redundancy: many}]\n"), `1:34: "many" is not a redundancy`},
		{with("batches: [{tasks: 3, redundancy: 4of3}]\n"), `1:34: "4of3": agree: must not be more than of`},
		{with("batches: [{tasks: 3, redundancy: 6}]\n"), `1:11: a task of "batch-1" wants 6 answers from different people; only 5 may ever come`},
		{with("batches: [{tasks: 3, requires: {french: 50}}]\n"), `1:11: nobody in the crowd has what "batch-1" requires`},
		{with("batches: [{tasks: 3, tenant: north}]\n"), `1:30: there is no tenant "north": known are all`},
		{with("tenants: [{name: a}, {name: b}]\n"), `5:11: tenant is missing: one of the tenants, a, b`},
		{with("batches: [{name: a, tasks: 3}, {name: a, tasks: 3}]\n"), `1:39: two have the name "a"`},
		{with("batches: [{name: f-2, tasks: 3}]\nflows: [{name: f, arrive: {count: 3}, size: 4}]\n"), `2:9: its batches are called f-1, f-2, …, and there is a batch "f-2" already`},
		{with("horizon: 1h\nbatches: [{tasks: 3, at: 90m}]\n"), `2:26: at is 1h30m, after the end of the run`},
		{with("flows: [{size: 3}]\n"), `1:9: arrive is missing`},
		{with("flows: [{arrive: {count: 3}}]\n"), `1:9: size is missing`},
		{with("flows: [{arrive: {rate: 3/m}, size: 3}]\n"), `1:18: the batches never end: say until, count, or the scenario's horizon`},
		{with("flows: [{arrive: {band: {min: 1, max: 2, rate: 1/s}}, size: 3}]\n"), `1:25: a band is for people`},
		{with("flows: [{arrive: {count: 3}, size: 0}]\n"), `1:36: "0": this must be more than 0`},
		{with("flows: [{arrive: {count: 3}, size: 11s}]\n"), `1:36: "11s" is not a number`},
		{with("flows: [{arrive: {count: 3}, size: {zipf: 1}}]\n"), `1:43: "1": this must be at least 1.01`},
		{with("flows: [{arrive: {count: 3}, size: {zipf: 2, max: 0}}]\n"), `1:51: "0" is too little`},
		{with("flows: [{arrive: {count: 3}, size: 500000, reward: 50}]\n"), `1:36: 500000 tasks is too much at 50.00 an answer`},
		{with("flows: [{arrive: {count: 3}, size: 5, deadlines: {share: 0.1}}]\n"), `1:50: alpha is missing`},
		{with("flows: [{arrive: {count: 3}, size: 5, deadlines: {alpha: -1}}]\n"), `1:58: "-1": this must be at least 0`},
		{with("flows: [{arrive: {count: 3}, size: 5, deadlines: {alpha: 1, form: book}}]\n"), `1:67: the form is paper or code, not "book"`},
		{with("flows: [{arrive: {count: 3}, size: 5, deadline: 3m, deadlines: {alpha: 1}}]\n"), `1:49: deadlines give each of the largest batches its own`},
		{with("crowd: [{arrive: {rate: 3/h}}]\nflows: [{arrive: {count: 3}, size: 5, deadlines: {alpha: 1}}]\n"), `2:9: deadlines need workers`},
		{with("sweep: {alpha: [0.1]}\n"), `1:8: a sweep over α needs a flow with deadlines`},
		{with("flows: [{arrive: {count: 3}, size: 5, deadlines: {share: 1}}]\nsweep: {alpha: [0.1, 0.10]}\n"), `2:22: α = 0.1 stands there twice`},
		// A trace.
		{with("trace: {columns: {tasks: n}, kind: tag}\n"), `1:8: file is missing`},
		{with("trace: {file: trace.csv}\n"), `1:8: columns is missing`},
		{with("trace: {file: trace.csv, columns: {at: at}}\n"), `1:35: tasks is missing`},
		{with("trace: {file: trace.csv, columns: {tasks: size}}\n"), `1:43: there is no column "size"; the file has at, n, name, type, team`},
		{with("trace: {file: trace.csv, columns: {tasks: n, kind: type}}\n"), `trace.csv:2: column "type": "B1" is no kind of the scenario; say in kinds: which it is|trace.csv:3: column "type": "B2" is|trace.csv:4: column "type": "B1"|trace.csv:5: column "type": "B3"`},
		{with("trace: {file: trace.csv, columns: {tasks: n, kind: type}, kinds: {B1: tag, B2: tap, B3: tag}}\n"), `1:80: there is no kind "tap": did you mean tag?|trace.csv:3:`},
		{with("trace: {file: trace.csv, columns: {tasks: name}}\n"), `trace.csv:2: column "name": "a" is not a count|trace.csv:3:|trace.csv:4: column "name": "" is not a count|trace.csv:5:`},
		{with("trace: {file: trace.csv, columns: {tasks: n}, where: {type: B7}}\n"), `1:8: no row is left of the file where it should; "type" has B1, B2, B3`},
		// Faults.
		{with("faults: [{vanish: 0.5}]\n"), `1:10: at is missing`},
		{with("faults: [{at: 3m}]\n"), `1:10: what happens is missing`},
		{with("faults: [{at: 3m, vanish: 0}]\n"), `1:27: nobody vanishes`},
		{with("faults: [{at: 3m, vanish: 130%}]\n"), `1:27: "130%" is not a share`},
		{with("faults: [{at: 3m, policy: lifo}]\n"), `1:27: there is no policy "lifo"`},
		{with("faults: [{at: 3m, stop: 0s}]\n"), `1:25: "0s": this must be at least 1ms`},
		{with("faults: [{at: 3m, burst: {size: 3}}]\n"), `1:26: batches is missing`},
		{with("faults: [{at: 3m, burst: {batches: 3}}]\n"), `1:26: size is missing`},
		{with("faults: [{at: 3m, workers: {session: 3h}}]\n"), `1:28: count is missing`},
		{with("horizon: 1h\nfaults: [{at: 2h, vanish: 3%}]\n"), `2:15: at is 2h, after the end of the run`},
		{with("classes: [{name: a}, {name: b}]\n"), `1:11: most is missing`},
		{with("classes: [{name: a, most: 9}, {name: b, most: 9}]\n"), `1:47: classes go from small to large: 9 is not more than 9`},
		// Expectations.
		{with("expect: [{that: cost}]\n"), `1:10: is is missing`},
		{with("expect: [{is: above 3}]\n"), `1:10: that is missing`},
		{with("expect: [{that: deadline_succes_ratio, is: above 0.3}]\n"), `1:17: there is no figure "deadline_succes_ratio": did you mean deadline_success_ratio?`},
		{with("expect: [{that: cost, of: edf, is: above 0.3}]\n"), `1:27: the policy edf is not run: policies has tenant-fair(penalty(wfs))`},
		{with("expect: [{that: cost, is: about 0.3}]\n"), `1:27: "about 0.3" is not understood: it is "above 0.5"`},
		{with("expect: [{that: cost, is: above edff}]\n"), `1:27: there is no policy "edff"`},
		{with("expect: [{that: cost, is: above tenant-fair(penalty(wfs))}]\n"), `1:27: tenant-fair(penalty(wfs)) is compared with itself`},
		{with("expect: [{that: cost, is: exactly tenant-fair(penalty(wfs)) by 3}]\n"), `1:27: "exactly" does not go with by`},
		{with("expect: [{that: makespan_s, is: below 30}]\n"), `1:33: "30" lacks a unit: a duration has a unit`},
		{with("expect: [{that: unfinished, is: below 30}]\n"), `1:33: "30" is not a share`},
		{with("expect: [{that: waiting, is: below 30}]\n"), `1:30: "30" is not a share`},
		{with("expect: [{that: throughput_per_s, is: above 2}]\n"), `1:39: "2" lacks a unit: a rate is`},
		{with("expect: [{that: cost, is: between 3 and 2}]\n"), `1:27: 2 is less than 3`},
		{with("expect: [{that: cost, batch: b, is: above 2}]\n"), `1:30: cost is about the whole run; batch goes with running, share, completed_at`},
		{with("expect: [{that: completed_at, is: above 2s}]\n"), `1:10: completed_at is about batches: say batch, flow`},
		{with("expect: [{that: completed_at, batch: bee, is: above 2s}]\n"), `1:38: there is no batch "bee"`},
		{with("expect: [{that: cost, from: 3m, is: above 2}]\n"), `1:17: cost is about the whole run; from and to go with workers, working`},
		{with("batches: [{tasks: 10, at: 200d}]\n"), `1:27: at is 200d, after the end of the run: without a horizon it ends at 90d at the latest, so say a later one, like horizon: 201d`},
		{with("batches: [{tasks: 10, priority: 0}]\n"), `1:33: "0" is not a priority (from 0.000001 to 1000000)`},
		{with("policies: [FS]\n"), `1:12: there is no policy "FS"; did you mean "fs"? (known: `},
		{with("policies: [fss]\n"), `1:12: there is no policy "fss"; did you mean "fs"? (known: `},
		{with("policies: [best]\n"), `dafs-code, market)`},
		{with("policies: [wcfs(market)]\n"), `1:12: market cannot be within another policy`},
		{with("expect: [{that: queue, from: 120s, to: 120s, is: above 2}]\n"), `1:40: the window from 2m to 2m is empty`},
		{with("expect: [{that: queue, from: 3m, to: 2m, is: above 2}]\n"), `1:38: the window ends (2m) before it begins (3m)`},
		{with("horizon: 1h\nexpect: [{that: queue, from: 3m, to: 61m, is: above 2}]\n"), `2:38: to is 1h1m, after the end of the run (horizon: 1h)`},
		{with("expect: [{that: cost, alpha: 0.2, is: above 2}]\n"), `1:30: there is no sweep; leave alpha out, or say sweep: {alpha: […]}`},
		{with("flows: [{arrive: {count: 3}, size: 5, deadlines: {share: 1}}]\nsweep: {alpha: [0.1, 0.3]}\nexpect: [{that: cost, alpha: 0.2, is: above 2}]\n"), `3:30: α = 0.2 is not in the sweep [0.1 0.3]`},
	} {
		_, err := scenario.Parse("x.yaml", []byte(c.text), files)
		var list scenario.Errors
		if !errors.As(err, &list) {
			t.Errorf("%.80q: %v", c.text, err)
			continue
		}
		if crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%.80q: the code is %s", c.text, crowd.CodeOf(err))
		}
		wants := strings.Split(c.want, "|")
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(wants) || len(lines) != len(list) {
			t.Errorf("%.80q:\n%v\nwant %s", c.text, err, c.want)
			continue
		}
		for i, want := range wants {
			if !strings.HasPrefix(want, "trace.csv") && !strings.HasPrefix(want, "seconds.csv") && want[0] <= '9' {
				want = "x.yaml:" + want
			}
			if !strings.Contains(lines[i], want) || !strings.HasPrefix(lines[i], "x.yaml:") && !strings.Contains(lines[i], ".csv:") {
				t.Errorf("%.80q:\n%s\nwant %s", c.text, lines[i], want)
			}
		}
	}
}

// TestAllErrorsAtOnce: one error does not hide another.
func TestAllErrorsAtOnce(t *testing.T) {
	_, err := scenario.Parse("x.yaml", []byte(`scenario: x
horizon: 20
policies: [fs, fair]
kinds: [{name: a, service: 3, acuracy: 1}]
crowd: [{arrive: {rate: 3}}]
batches: [{tasks: 0, kind: b, deadline: -3s}]
faults: [{at: 3m}]
expect: [{that: cots, is: above 3}]
`), nil)
	var list scenario.Errors
	if !errors.As(err, &list) || len(list) != 10 {
		t.Errorf("want 10 errors:\n%v", err)
	}
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1], list[i]; a.Line > b.Line || a.Line == b.Line && a.Column > b.Column {
			t.Errorf("%v comes before %v", a, b)
		}
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "x%d: 1\n", i)
	}
	_, err = scenario.Parse("x.yaml", []byte(many.String()), nil)
	if !errors.As(err, &list) || len(list) != 101 || !strings.HasSuffix(err.Error(), "and 4904 more errors") {
		t.Errorf("%d errors, and the end is %.60q", len(list), err.Error()[max(0, len(err.Error())-60):])
	}
}

// TestEveryField: a file with all fields is read, and nonsense in any of them is
// an error at its line. A field that the schema knows and nobody reads would
// pass.
func TestEveryField(t *testing.T) {
	text, err := files("everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse("x.yaml", text, files)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Setup.Flows) != 4 || len(s.Setup.Groups) != 7 || len(s.Setup.Batches) != 5 || len(s.Setup.Faults) != 3 || len(s.Expect) != 1+4+8+8 {
		t.Errorf("%d flows, %d groups, %d batches, %d faults, %d expectations", len(s.Setup.Flows), len(s.Setup.Groups), len(s.Setup.Batches), len(s.Setup.Faults), len(s.Expect))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, list := range scenario.Sections() {
		for _, f := range list {
			known[f] = true
		}
	}
	seen := map[string]bool{}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		for i, child := range n.Content {
			if n.Kind != yaml.MappingNode {
				walk(child, path)
				continue
			}
			if i%2 == 0 {
				continue
			}
			key := n.Content[i-1]
			here := path + "/" + key.Value
			if known[key.Value] {
				seen[here] = true
				spoiled(t, &doc, n, i, here)
			}
			walk(child, here)
		}
	}
	walk(doc.Content[0], "")
	for section, list := range scenario.Sections() {
		for _, f := range list {
			if !found(seen, section, f) {
				t.Errorf("everything.yaml has no %s in %s", f, section)
			}
		}
	}
}

// found says whether a field of a section was seen. A section stands under its
// own name, but for distributions.
func found(seen map[string]bool, section, field string) bool {
	for path := range seen {
		parts := strings.Split(path, "/")
		if parts[len(parts)-1] != field {
			continue
		}
		if section == "distribution" || section == "scenario" && len(parts) == 2 || parts[len(parts)-2] == section {
			return true
		}
	}
	return false
}

// spoiled puts nonsense in the place of a value, looks for the error, and puts
// the value back.
func spoiled(t *testing.T, doc, n *yaml.Node, i int, path string) {
	t.Helper()
	good := n.Content[i]
	nonsense := func() *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Value: "nonsense\x01", Style: yaml.DoubleQuotedStyle}
	}
	n.Content[i] = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{nonsense(), nonsense()}}
	defer func() { n.Content[i] = good }()
	text, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	line := 0
	for number, l := range strings.Split(string(text), "\n") {
		if strings.Contains(l, "nonsense") {
			line = number + 1
		}
	}
	_, err = scenario.Parse("x.yaml", text, files)
	var list scenario.Errors
	if !errors.As(err, &list) {
		t.Errorf("%s: nonsense is taken: %v", path, err)
		return
	}
	for _, e := range list {
		if (e.Line == line || e.Line == line-1) && !strings.Contains(e.Message, "there is no field \""+filepath.Base(path)) {
			return
		}
	}
	t.Errorf("%s: no error at line %d:\n%v", path, line, err)
}

// TestWhatIsRead compares what stands in a file with the setup.
func TestWhatIsRead(t *testing.T) {
	text, _ := files("everything.yaml")
	s := parse(t, string(text))
	x := s.Setup
	if s.Name != "everything" || s.Seed != 1<<64-1 || s.Reps != 3 || x.Horizon != 2*time.Hour {
		t.Errorf("the head is %+v", s)
	}
	if want := []string{"fs", "edf", "wcfs(dafs,k=3)", "market"}; !reflect.DeepEqual(s.Policies, want) {
		t.Errorf("the policies are %q", s.Policies)
	}
	if want := []sim.Tenant{{Name: "north", Weight: 2}, {Name: "south", Weight: 1}}; !reflect.DeepEqual(x.Tenants, want) {
		t.Errorf("the tenants are %+v", x.Tenants)
	}
	k := x.Kinds[0]
	if k.Service != sim.LogNormalByMean(20, 10) || k.SwitchFactor != 1.3 || k.SwitchTime != sim.Exponential(2) || k.Learning != 0.17 ||
		k.Skip != 0.01 || k.Return != 0.01 || k.Vanish != 0.002 || (k.GiveUpAfter != sim.Uniform{Min: 1, Max: 5}) || k.Accuracy != 0.9 || len(k.Answers) != 3 {
		t.Errorf("the first kind is %+v", k)
	}
	if k := x.Kinds[1]; !reflect.DeepEqual(k.Confusion, [][]float64{{0.9, 0.1}, {0.2, 0.8}}) || k.Service.String() != "lognormal, median 9, sigma 0.6" {
		t.Errorf("the second kind is %+v", k)
	}
	if got := x.Kinds[2].Service; got != sim.LogNormalByMode(9, 5) {
		t.Errorf("the third kind takes %v", got)
	}
	if got := x.Kinds[3].Service.(*sim.Empirical).Values(); !reflect.DeepEqual(got, []float64{9, 12.5}) {
		t.Errorf("the fourth kind takes %v", got)
	}
	g := x.Groups[0]
	if g.Arrive.Count != 10 || g.Arrive.From != time.Minute || g.Session != sim.Exponential(3600) || g.Patience != sim.Constant(300) || (g.Speed != sim.Uniform{Min: 0.8, Max: 1.2}) ||
		g.Accuracy["tag"] != 0.95 || g.Qualifications["french"] != 100 {
		t.Errorf("the first group is %+v", g)
	}
	for i, want := range []sim.Arrivals{
		1: {Rate: 30, From: 5 * time.Minute, Until: time.Hour, Count: 40},
		2: {Gap: sim.Exponential(300), Until: time.Hour}, 3: {Times: []time.Duration{0, time.Minute}},
		4: {Times: []time.Duration{9 * time.Second, 12500 * time.Millisecond, 30 * time.Second}},
		5: {Min: 2, Max: 5, Rate: 60},
		6: {Count: 20, From: 70 * time.Minute},
	} {
		if i > 0 && !reflect.DeepEqual(x.Groups[i].Arrive, want) {
			t.Errorf("group %s arrives %+v", x.Groups[i].Name, x.Groups[i].Arrive)
		}
	}
	first := sim.Batch{Name: "first", At: time.Minute, Tasks: 100, Rule: label.Agree(2, 3), Priority: 2, Deadline: 30 * time.Minute, Production: true, PerWorker: 50, Reward: 50_000, Lease: 5 * time.Minute, Grace: 30 * time.Second,
		TaskTime: 20 * time.Second, Lifetime: time.Hour, Requires: map[string]int{"english": 60}, Enough: &engine.Enough{Labels: 30, Spent: 2 * crowd.Unit}, Known: 20, Checks: &engine.Checks{First: 0.2, Least: 0.05}}
	if !reflect.DeepEqual(x.Batches[0], first) {
		t.Errorf("the first batch is %+v", x.Batches[0])
	}
	needs, most, checks := map[string]int{"english": 10}, &engine.Enough{Share: 0.9}, &engine.Checks{First: 0.1, Least: 0.01}
	rows := []sim.Batch{
		{Name: "a", Tasks: 10, Rule: label.Count(3), Priority: 2, Deadline: 10 * time.Minute, Production: true, Reward: 40_000, Lease: time.Minute, Grace: 15 * time.Second, TaskTime: 10 * time.Second, Lifetime: 30 * time.Minute, Requires: needs, PerWorker: 20, Enough: &engine.Enough{Labels: 9}, Known: 3, Checks: &engine.Checks{First: 0.2, Least: 0.02}},
		{Name: "b", At: 90 * time.Second, Tenant: 1, Kind: 1, Tasks: 20, Rule: label.Agree(2, 3), Priority: 1, Deadline: 15 * time.Minute, Reward: 10_000, Lease: 2 * time.Minute, Grace: 20 * time.Second, TaskTime: 30 * time.Second, Lifetime: time.Hour, Requires: needs, PerWorker: 60, Enough: most, Known: 30, Checks: checks},
		{Name: "row-3", At: 30 * time.Second, Tenant: 1, Tasks: 5, Rule: label.Agree(2, 3), Priority: 1, Deadline: 20 * time.Minute, Reward: 10_000, Lease: 10 * time.Minute, Grace: 20 * time.Second, TaskTime: 30 * time.Second, Lifetime: 90 * time.Minute, Requires: needs, PerWorker: 60, Enough: most, Known: 30, Checks: checks},
	}
	for i, want := range rows {
		if got := x.Batches[2+i]; !reflect.DeepEqual(got, want) {
			t.Errorf("row %d is\n%+v, want\n%+v", i+1, got, want)
		}
	}
	f := x.Flows[0]
	if f.Name != "small" || f.Arrive.Rate != 120 || f.Size != (sim.Zipf{A: 2, Max: 100}) || *f.Alpha != (sim.AlphaRule{Share: 0.1, Alpha: 0.2, Workers: 50, Service: 20, Form: sim.AlphaCode}) {
		t.Errorf("the first flow is %+v, %+v", f, f.Alpha)
	}
	if f := x.Flows[2]; f.Alpha.Form != sim.AlphaPaper || f.Alpha.Service != x.Kinds[1].Service.Mean() {
		t.Errorf("the third flow is %+v", f.Alpha)
	}
	if f := x.Flows[3]; f.Name != "flood" || f.Arrive.Count != 5 || f.Arrive.From != time.Hour || f.Priority != 3 || f.Deadline != 10*time.Minute {
		t.Errorf("the burst is %+v", f)
	}
	if want := []sim.Fault{{At: 20 * time.Minute, Vanish: 0.3}, {At: 30 * time.Minute, Policy: "edf"}, {At: 40 * time.Minute, Stop: 5 * time.Minute}}; !reflect.DeepEqual(x.Faults, want) {
		t.Errorf("the faults are %+v", x.Faults)
	}
	if want := []sim.Class{{Name: "small", Most: 99}, {Name: "large"}}; !reflect.DeepEqual(x.Classes, want) {
		t.Errorf("the classes are %+v", x.Classes)
	}
	if at := s.At(0.4); at.Flows[0].Alpha.Alpha != 0.4 || x.Flows[0].Alpha.Alpha != 0.2 {
		t.Errorf("At changes %v, and the setup to %v", at.Flows[0].Alpha, x.Flows[0].Alpha)
	}
}

// TestDefaults: what is not said.
func TestDefaults(t *testing.T) {
	s := parse(t, with("flows: [{arrive: {count: 1}, size: 3, deadlines: {alpha: 0.5}}]\n"))
	if !reflect.DeepEqual(s.Policies, []string{sched.Default}) || s.Reps != 1 || s.Seed != 1 || s.Setup.Horizon != 0 || s.Alphas != nil {
		t.Errorf("%+v", s)
	}
	if want := (sim.AlphaRule{Share: 0.1, Alpha: 0.5, Workers: 5, Service: 11, Form: sim.AlphaPaper}); *s.Setup.Flows[0].Alpha != want {
		t.Errorf("the deadlines are %+v", s.Setup.Flows[0].Alpha)
	}
	if s.Setup.Tenants[0].Name != "all" || s.Setup.Groups[0].Name != "crowd-1" || s.Setup.Flows[0].Name != "flow-1" {
		t.Errorf("%+v", s.Setup)
	}
	// An accuracy of 0 is not the one that is not said.
	s = parse(t, with("kinds: [{name: tag, service: 1s, answers: [a, b], accuracy: 0}]\n"))
	if a := s.Setup.Kinds[0].Accuracy; a == 0 || a > 1e-9 {
		t.Errorf("the accuracy is %g", a)
	}
	// Long tails end where the money does.
	s = parse(t, with("flows: [{arrive: {count: 1}, size: {zipf: 1.5}, reward: 10}, {arrive: {count: 1}, size: {lognormal: {mean: 100, sd: 9000}}, reward: 100}]\n"))
	if got := s.Setup.Flows[0].Size; got != (sim.Zipf{A: 1.5, Max: 100_000}) {
		t.Errorf("the size is %+v", got)
	}
	for n := range uint64(10_000) {
		r := sim.NewStream(1, 0, "test").At(n)
		if v := s.Setup.Flows[1].Size.Draw(&r); v > 10_000 {
			t.Fatalf("a batch of %g tasks", v)
		}
	}
}

// TestCalendar: times of the calendar count from the earliest.
func TestCalendar(t *testing.T) {
	read := func(string) ([]byte, error) {
		return []byte("t,n\n2026-11-21T10:00:05Z,1\n2026-11-21 10:00:00,2\n2026-11-21T11:00:00+01:00,3\n"), nil
	}
	s, err := scenario.Parse("x.yaml", []byte(with("trace: {file: f.csv, columns: {at: t, tasks: n}}\n")), read)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{5 * time.Second, 0, 0} {
		if got := s.Setup.Batches[1+i].At; got != want {
			t.Errorf("row %d is at %s, want %s", i+1, got, want)
		}
	}
}

// TestAlphaZeroIsAnAlpha: the sweep's first value is for flows that say none.
func TestAlphaZeroIsAnAlpha(t *testing.T) {
	s := parse(t, with(`horizon: 5m
flows:
  - {name: zero, arrive: {rate: 6/m}, size: 20, deadlines: {alpha: 0}}
  - {name: own, arrive: {rate: 6/m}, size: 20, deadlines: {alpha: 0.3}}
  - {name: none, arrive: {rate: 6/m}, size: 20}
  - {name: left, arrive: {rate: 6/m}, size: 20, deadlines: {share: 0.5}}
sweep: {alpha: [0.2, 0.4]}
`))
	flows := s.Setup.Flows
	if flows[0].Alpha.Alpha != 0 || flows[1].Alpha.Alpha != 0.3 || flows[2].Alpha != nil || flows[3].Alpha.Alpha != 0.2 {
		t.Errorf("α is %g, %g and %g", flows[0].Alpha.Alpha, flows[1].Alpha.Alpha, flows[3].Alpha.Alpha)
	}
	if at := s.At(0.4); at.Flows[0].Alpha.Alpha != 0.4 || flows[0].Alpha.Alpha != 0 {
		t.Error("the sweep is not of all flows, or changes the scenario")
	}
}

// TestLoad reads files next to the scenario, and nothing too large.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("s.csv", "s\n3\n")
	whole := with("kinds: [{name: tag, service: {empirical: {file: s.csv, column: s}}}]\n")
	path := write("x.yaml", whole)
	s, text, err := scenario.Load(path)
	if err != nil || s.Setup.Kinds[0].Service.Mean() != 3 || string(text) != whole {
		t.Errorf("%v, of the text %q", err, text)
	}
	if _, _, err := scenario.Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, _, err := scenario.Load(write("big.yaml", strings.Repeat("#\n", scenario.MaxFile))); crowd.CodeOf(err) != crowd.TooLarge {
		t.Errorf("a large file: %v", err)
	}
	bad := write("bad.yaml", "scenario: x\nhorizon: 3\n")
	if _, _, err := scenario.Load(bad); err == nil || !strings.HasPrefix(err.Error(), bad+":") {
		t.Errorf("the error does not begin with the file: %v", err)
	}
}

// TestDocs: the reference names every field, and what it shows is right.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := string(text)
	for section, list := range scenario.Sections() {
		for _, f := range list {
			if !strings.Contains(docs, "`"+f+"`") && !strings.Contains(docs, "{"+f+":") && !strings.Contains(docs, ", "+f+":") {
				t.Errorf("docs/scenarios.md does not mention %s of %s", f, section)
			}
		}
	}
	for _, m := range sim.AllMetrics {
		if !strings.Contains(docs, "`"+m.Name+"`") {
			t.Errorf("docs/scenarios.md does not mention the metric %s", m.Name)
		}
	}
	for _, f := range scenario.Figures {
		if !strings.Contains(docs, "`"+f.Name+"`") {
			t.Errorf("docs/scenarios.md does not mention the figure %s", f.Name)
		}
	}
	read := func(string) ([]byte, error) {
		return []byte("offset_s,numtask,type,repetition\n0,3,tag,2\n9,4,classify,3\n"), nil
	}
	examples := 0
	for _, block := range strings.Split(docs, "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		examples++
		// What the fragments name, where they do not bring it.
		world := block
		for _, p := range []string{
			"policies: [fs, fifo, edf, dafs, wfs, tenant-fair(fs)]\n",
			"tenants: [{name: north}, {name: south}]\n",
			"kinds: [{name: sentiment, service: 9s}, {name: butterflies, service: 9s}, {name: images, service: 9s}]\n",
			"batches: [{name: reviews, tasks: 3, tenant: north, kind: sentiment}]\n",
		} {
			section, _, _ := strings.Cut(p, ":")
			if strings.HasPrefix(block, "# Two") || strings.HasPrefix(world, section+":") || strings.Contains(world, "\n"+section+":") {
				continue
			}
			world += p
		}
		world = strings.Replace(world, "reward: 0.02\n", "reward: 0.02\n  tenant: north\n", 1)
		world = strings.Replace(world, "kind: sentiment}}", "kind: sentiment, tenant: south}}", 1)
		if _, err := scenario.Parse("docs.yaml", []byte(with(world)), read); err != nil {
			t.Errorf("an example of docs/scenarios.md is wrong: %v\n%s", err, with(world))
		}
	}
	if examples < 5 {
		t.Errorf("only %d examples", examples)
	}
}

// FuzzParse: nothing makes it panic or hang, and an error is always Errors.
func FuzzParse(f *testing.F) {
	for _, p := range []string{"everything.yaml"} {
		text, err := files(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte("batch,s\nB1,3\n"))
	}
	list, _ := filepath.Glob("../../../scenarios/*.yaml")
	for _, p := range list {
		if text, err := os.ReadFile(p); err == nil {
			f.Add(text, []byte("start_s,type,size,answers\n0,images,3,1\n"))
		}
	}
	f.Add([]byte("a: &a [*a]\nb: *a\n"), []byte{})
	f.Fuzz(func(t *testing.T, text, table []byte) {
		s, err := scenario.Parse("x.yaml", text, func(string) ([]byte, error) { return table, nil })
		var list scenario.Errors
		switch {
		case err == nil && s == nil:
			t.Fatal("nothing")
		case err == nil:
			_ = s.Record()
			_ = s.Verdicts(nil)
		case !errors.As(err, &list) || len(list) == 0:
			t.Fatalf("%T %v", err, err)
		default:
			for _, e := range list {
				if e.Line < 1 || e.Message == "" || strings.ContainsAny(e.Message, "\n\r") {
					t.Fatalf("%+v", e)
				}
			}
		}
	})
}

// TestShortRowsAreOneError: rows that are wrong are rows all the same.
func TestShortRowsAreOneError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"at,tasks\n5\n", "at,tasks\n\"5,3\n"} {
		_, err := scenario.Parse("x.yaml", []byte(`scenario: x
kinds: [{name: look, service: 20s}]
crowd: [{arrive: {count: 2}}]
trace: {file: t.csv, columns: {at: at, tasks: tasks}}
`), func(string) ([]byte, error) { return []byte(text), nil })
		var list scenario.Errors
		if !errors.As(err, &list) || len(list) != 1 || strings.Contains(list[0].Message, "no row below") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
