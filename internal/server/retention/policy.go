// Package retention deletes what tenants have kept for as long as they wish: what was
// answered and uploaded, so many days after a batch or run has ended, and details of the
// audit log. What goes and what stays is said by the table of store.AllRetained.
package retention

import (
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// MostDays is the most that something can be kept for by days: a hundred years.
const MostDays = 36500

// Bounds are what the operator says of how long tenants keep something, in days. The zero
// Bounds keep it for ever, and let tenants choose.
type Bounds struct {
	Default int // of who has set nothing; 0: for ever
	Least   int // 0: a day
	Most    int // 0: for ever
}

// Policy has the bounds of what tenants keep. What is not in it has none.
type Policy map[store.Retained]Bounds

// ParsePolicy reads a policy: of each kind a default and bounds, as in answers=365. The
// names are those of the flags, for errors.
func ParsePolicy(defaults, least, most []string) (Policy, error) {
	p := make(Policy)
	for _, x := range []struct {
		field string
		texts []string
		set   func(*Bounds, int)
	}{
		{"retention", defaults, func(b *Bounds, n int) { b.Default = n }},
		{"retention-least", least, func(b *Bounds, n int) { b.Least = n }},
		{"retention-most", most, func(b *Bounds, n int) { b.Most = n }},
	} {
		for _, text := range x.texts {
			kind, days, err := ParseDays(x.field, text)
			if err != nil {
				return nil, err
			}
			b := p[kind]
			x.set(&b, days)
			p[kind] = b
		}
	}
	for kind, b := range p {
		if b.Most > 0 && b.Least > b.Most {
			return nil, crowd.Fieldf("retention-least", "%s are kept for at least %d days, and for at most %d", kind, b.Least, b.Most)
		}
		if b.Days(nil) != b.Default && (b.Default != 0 || b.Most == 0) {
			return nil, crowd.Fieldf("retention", "%s=%d is not within the bounds: %s", kind, b.Default, b.text())
		}
	}
	return p, nil
}

// ParseDays reads KIND=DAYS, as in answers=365; DAYS may end with d, and 0 is for ever.
func ParseDays(field, text string) (store.Retained, int, error) {
	name, number, found := strings.Cut(text, "=")
	if !found {
		return "", 0, crowd.Fieldf(field, "%q is not KIND=DAYS, such as answers=365", text)
	}
	kind, err := store.ParseRetained(field, name)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(number, "d"))
	if err != nil || n < 0 || n > MostDays {
		return "", 0, crowd.Fieldf(field, "%q is not a number of days from 1 to %d, or 0: for ever", number, MostDays)
	}
	return kind, n, nil
}

// ParseChanges reads changes of a retention: KIND=DAYS, or KIND=default, as the operator
// says.
func ParseChanges(field string, texts []string) (map[store.Retained]*int, error) {
	changes := make(map[store.Retained]*int, len(texts))
	for _, text := range texts {
		if name, isDefault := strings.CutSuffix(text, "=default"); isDefault {
			kind, err := store.ParseRetained(field, name)
			if err != nil {
				return nil, err
			}
			changes[kind] = nil
			continue
		}
		kind, n, err := ParseDays(field, text)
		if err != nil {
			return nil, err
		}
		changes[kind] = &n
	}
	return changes, nil
}

// Days returns for how many days something is kept; 0: for ever. What a tenant has set (nil:
// nothing) holds within the bounds, which may have come later.
func (b Bounds) Days(set *int) int {
	days := b.Default
	if set != nil {
		days = *set
	}
	if b.Most > 0 && (days == 0 || days > b.Most) {
		return b.Most
	}
	if days > 0 {
		days = max(days, b.Least)
	}
	return days
}

// check returns what is wrong with days that a tenant wants to set.
func (b Bounds) check(kind store.Retained, days int) error {
	if days < 0 || days > MostDays || b.Days(&days) != days {
		return crowd.Fieldf(string(kind), "%d days are not possible: %s", days, b.text())
	}
	return nil
}

// text says what is possible.
func (b Bounds) text() string {
	least := max(1, b.Least)
	if b.Most > 0 {
		return "from " + strconv.Itoa(least) + " to " + strconv.Itoa(b.Most)
	}
	return "from " + strconv.Itoa(least) + " to " + strconv.Itoa(MostDays) + ", or 0: for ever"
}

// ParseTimeOfDay reads a time of the day, in UTC, such as 03:00.
func ParseTimeOfDay(field, text string) (time.Duration, error) {
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0, crowd.Fieldf(field, "%q is not a time of the day, such as 03:00", text)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}
