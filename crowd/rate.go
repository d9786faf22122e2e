package crowd

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is how much may be begun in a time: Calls in each Per. The zero value is no
// limit.
type Rate struct {
	Calls int
	Per   time.Duration // a second, a minute, an hour or a day; 0: no limit
}

// MaxRate is the most Calls of a Rate.
const MaxRate = 1_000_000

const day = 24 * time.Hour

// rateUnits are the units of time that a rate is written with.
var rateUnits = []struct {
	name string
	per  time.Duration
}{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", day}}

// ParseRate reads a rate such as "10/s", "100/m", "5000/h" or "20000/d". "" is no limit.
func ParseRate(text string) (Rate, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Rate{}, nil
	}
	calls, unit, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(strings.TrimSpace(calls))
	for _, u := range rateUnits {
		if err == nil && strings.TrimSpace(unit) == u.name && n >= 1 && n <= MaxRate {
			return Rate{n, u.per}, nil
		}
	}
	return Rate{}, Fieldf("rate", "%q is not a rate: a number from 1 to %d and a unit, s, m, h or d, like 10/s or 5000/h", text, MaxRate)
}

// String writes the rate as ParseRate reads it.
func (r Rate) String() string {
	for _, u := range rateUnits {
		if r.Per == u.per {
			return fmt.Sprintf("%d/%s", r.Calls, u.name)
		}
	}
	return ""
}

// Gap is the time from one beginning to the next: with it, no interval of length Per,
// wherever it begins, has more than Calls beginnings. It is 0 without a limit.
func (r Rate) Gap() time.Duration {
	if r.Calls < 1 {
		return 0
	}
	return (r.Per + time.Duration(r.Calls) - 1) / time.Duration(r.Calls)
}
