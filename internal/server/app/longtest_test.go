package app_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
)

// TestALongTest: the questions of a test have a bound as a whole, and the error names the
// line behind which nothing is read.
func TestALongTest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	endless := io.MultiReader(strings.NewReader("thing,_gold\n"), &repeated{text: strings.Repeat("x", 900_000) + ",yes\n"})
	_, err := w.Tests.Create(w.ctx, w.ann, accounts.NewTest{Tenant: w.a, Name: "long", Template: json.RawMessage(yesOrNo), Questions: endless, PassMark: 50})
	refused(t, err, crowd.TooLarge)
	if want := "line 11, questions: "; err != nil && !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %q, want one of %s", err, want)
	}
}

// repeated reads as a text again and again.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}
