package engine_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/engine"
)

// FuzzEnough: what is read says something, and no more than there can be.
func FuzzEnough(f *testing.F) {
	for _, s := range []string{"labels=500", "share=0.9,confidence=0.8", "spent=20.00", "share=NaN", "share=inf", "labels=1,labels=2", "spent=1e3", ",", "labels"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := engine.ParseEnough(s)
		if err != nil {
			return
		}
		if x == (engine.Enough{}) || !(x.Share >= 0) || !(x.Confidence >= 0) || x.Labels < 0 || x.Spent < 0 {
			t.Errorf("%q reads as %+v", s, x)
		}
	})
}

// TestEnoughIsSaidOnce: of two figures of a kind none would be the one that counts.
func TestEnoughIsSaidOnce(t *testing.T) {
	if _, err := engine.ParseEnough("labels=1,share=0.5,labels=2"); err == nil || !strings.Contains(err.Error(), `"labels=2": labels stands there twice`) {
		t.Errorf("two figures of labels: %v", err)
	}
}
