package jsonform_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/jsonform"
)

func TestLoneSurrogate(t *testing.T) {
	for text, want := range map[string]string{
		`"plain"`:              "",
		`"\ud83d\ude00"`:       "",
		`"\ud83d\ude00\ud83d"`: `\ud83d`,
		`"\ude00\ud83d"`:       `\ude00`,
		`"\uD83D \uDE00"`:      `\uD83D`,
		`"\ud800\ud800"`:       `\ud800`,
		`"\\ud800"`:            "",
		`"\\\ud800"`:           `\ud800`,
		`"\u00e4\ufffd\""`:     "",
		`{"a":["\n\udfff"]}`:   `\udfff`,
	} {
		got, at := jsonform.LoneSurrogate([]byte(text))
		if got != want || got != "" && !strings.HasPrefix(text[at:], got) {
			t.Errorf("%s: %q at %d, want %q", text, got, at, want)
		}
	}
}

// FuzzLoneSurrogate: there is one if and only if Go's decoder has to put U+FFFD in its place.
func FuzzLoneSurrogate(f *testing.F) {
	f.Add(`\ud83d\ude00`)
	f.Add(`\\ud83d\ude00`)
	f.Add(`\uD83D\uDBFF\uDFFF`)
	f.Fuzz(func(t *testing.T, inner string) {
		text := []byte(`"` + inner + `"`)
		var s string
		if strings.Contains(inner, "\ufffd") || strings.Contains(strings.ToLower(inner), `\ufffd`) || json.Unmarshal(text, &s) != nil {
			return
		}
		if strings.ToValidUTF8(inner, "") != inner {
			return
		}
		if got, _ := jsonform.LoneSurrogate(text); (got != "") != strings.Contains(s, "\ufffd") {
			t.Errorf("%s: %q, decoded as %q", text, got, s)
		}
	})
}
