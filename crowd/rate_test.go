package crowd_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

func TestRate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		rate crowd.Rate
		gap  time.Duration
	}{
		"":          {crowd.Rate{}, 0},
		"1/s":       {crowd.Rate{Calls: 1, Per: time.Second}, time.Second},
		"10/s":      {crowd.Rate{Calls: 10, Per: time.Second}, 100 * time.Millisecond},
		"3/s":       {crowd.Rate{Calls: 3, Per: time.Second}, 333_333_334},
		"100/m":     {crowd.Rate{Calls: 100, Per: time.Minute}, 600 * time.Millisecond},
		"5000/h":    {crowd.Rate{Calls: 5000, Per: time.Hour}, 720 * time.Millisecond},
		"1000000/d": {crowd.Rate{Calls: 1_000_000, Per: 24 * time.Hour}, 86400 * time.Microsecond},
	} {
		got, err := crowd.ParseRate(text)
		if err != nil || got != want.rate || got.Gap() != want.gap || got.String() != text {
			t.Errorf("%q: %+v, gap %s, written %q, %v", text, got, got.Gap(), got.String(), err)
		}
		if n := time.Duration(got.Calls); n > 0 && n*got.Gap() < got.Per {
			t.Errorf("%q: %d gaps of %s are less than %s", text, n, got.Gap(), got.Per)
		}
	}
	if got, err := crowd.ParseRate(" 7 / m "); err != nil || got.String() != "7/m" {
		t.Errorf("with spaces: %v, %v", got, err)
	}
	for _, text := range []string{"10", "0/s", "-1/s", "1000001/s", "10/w", "x/s", "10/", "/s", "1.5/s", "10/s/s"} {
		if got, err := crowd.ParseRate(text); err == nil || got != (crowd.Rate{}) || crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
