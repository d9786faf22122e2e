package retention_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/server/retention"
	"github.com/throng-dev/throng/internal/store"
)

// TestPolicies: what a policy says of days that a tenant has set; -1 stands for nothing set.
func TestPolicies(t *testing.T) {
	t.Parallel()
	type asked struct{ set, want int }
	for name, c := range map[string]struct {
		defaults, least, most []string
		of                    store.Retained
		asked                 []asked
	}{
		"nothing":          {nil, nil, nil, store.RetainedAnswers, []asked{{-1, 0}, {0, 0}, {1, 1}, {9, 9}}},
		"a default":        {[]string{"answers=30d"}, nil, nil, store.RetainedAnswers, []asked{{-1, 30}, {0, 0}, {90, 90}}},
		"of another":       {[]string{"answers=30"}, nil, nil, store.RetainedFiles, []asked{{-1, 0}}},
		"least":            {nil, []string{"logs=90"}, nil, store.RetainedLogs, []asked{{-1, 0}, {0, 0}, {30, 90}, {91, 91}}},
		"most":             {nil, nil, []string{"files=365"}, store.RetainedFiles, []asked{{-1, 365}, {0, 365}, {400, 365}, {7, 7}}},
		"all":              {[]string{"files=100"}, []string{"files=30"}, []string{"files=365"}, store.RetainedFiles, []asked{{-1, 100}, {0, 365}, {29, 30}}},
		"the last of many": {[]string{"files=100", "files=50"}, nil, nil, store.RetainedFiles, []asked{{-1, 50}}},
	} {
		p, err := retention.ParsePolicy(c.defaults, c.least, c.most)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, x := range c.asked {
			set := &x.set
			if x.set < 0 {
				set = nil
			}
			if got := p[c.of].Days(set); got != x.want {
				t.Errorf("%s: %d set is %d days, want %d", name, x.set, got, x.want)
			}
		}
	}
	for _, bad := range [][3]string{
		{"answers"}, {"answers=x"}, {"answers=-1"}, {"answers=36501"}, {"money=3"}, {"=3"}, {"answers=1.5"}, {"answers=10", "answers=20"},
		{"answers=30", "", "answers=20"}, {"", "answers=30", "answers=20"},
	} {
		var lists [3][]string
		for i, text := range bad {
			if text != "" {
				lists[i] = []string{text}
			}
		}
		if p, err := retention.ParsePolicy(lists[0], lists[1], lists[2]); err == nil {
			t.Errorf("%q is taken as %+v", bad, p)
		}
	}
}

// TestDaysAreWithinBounds: whatever was set, and whatever bounds came later.
func TestDaysAreWithinBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.IntRange(0, retention.MostDays)
		b := retention.Bounds{Default: day.Draw(t, "default"), Least: day.Draw(t, "least"), Most: day.Draw(t, "most")}
		if b.Most > 0 && b.Least > b.Most {
			b.Least = b.Most
		}
		set := day.Draw(t, "set")
		for _, x := range []*int{nil, &set} {
			got := b.Days(x)
			if b.Most > 0 && (got == 0 || got > b.Most) || got > 0 && got < b.Least {
				t.Fatalf("%+v of %v is %d", b, x, got)
			}
			if again := b.Days(&got); again != got {
				t.Fatalf("%d becomes %d", got, again)
			}
		}
	})
}

func TestTimesOfDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"00:00": 0, "03:00": 3 * time.Hour, "23:59": 24*time.Hour - time.Minute} {
		if got, err := retention.ParseTimeOfDay("scrub-at", text); err != nil || got != want {
			t.Errorf("%s is %s (%v)", text, got, err)
		}
	}
	for _, bad := range []string{"", "3", "24:00", "03:60", "x"} {
		if got, err := retention.ParseTimeOfDay("scrub-at", bad); err == nil {
			t.Errorf("%q is taken as %s", bad, got)
		}
	}
}
