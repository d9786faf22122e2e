package results_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/results"
)

func TestParseFilter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]results.Filter{
		"":                                {},
		"  agree:no  ":                    {Terms: []results.Term{{Key: "agree", Values: []string{"no"}}}},
		"-tie:yes confidence:<=.9":        {Terms: []results.Term{{Not: true, Key: "tie", Values: []string{"yes"}}, {Key: "confidence", Op: "<=", Values: []string{".9"}}}},
		`label:a,"b, c" word "two words"`: {Terms: []results.Term{{Key: "label", Values: []string{"a", "b, c"}}, {Values: []string{"word"}}, {Values: []string{"two words"}}}},
		"input.Full-name:x answer.a.b:y":  {Terms: []results.Term{{Key: "input.", Name: "Full-name", Values: []string{"x"}}, {Key: "answer.", Name: "a.b", Values: []string{"y"}}}},
		"sort:-confidence":                {Sort: "confidence", Descend: true},
	} {
		got, err := results.ParseFilter(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q (%v) (-want +got):\n%s", text, err, diff)
		}
	}
	for text, says := range map[string]string{
		"agre:no": `did you mean "agree"`, "agree:maybe": "neither yes nor no", "confidence:<high": "no number", `"open`: "not closed", "sort:size": "not known",
		"worker:": "no value", strings.Repeat("a ", 30): "more than 20", strings.Repeat("a", 3000): "3000 bytes", "http://x": "quotes around",
	} {
		if _, err := results.ParseFilter(text); crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v, want that it says %q", text, err, says)
		}
	}
}

// FuzzParseFilter: what is read is written so that it is read as the same.
func FuzzParseFilter(f *testing.F) {
	for _, seed := range []string{"agree:no", `label:a,"b c",,d -word`, "sort:-answers input.x:", "confidence:>=0.5,1", `""`, "-", "a:b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := results.ParseFilter(text)
		if err != nil {
			if crowd.CodeOf(err) != crowd.Invalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := results.ParseFilter(got.String())
		if diff := cmp.Diff(got, again); diff != "" || err != nil {
			t.Fatalf("%q is written as %q (%v) (-read +read again):\n%s", text, got.String(), err, diff)
		}
	})
}
