package forecast

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/instant"
)

// Words is what a forecast of a batch rests on, for people.
func (r *Result) Words(b *Batch) string {
	x := &r.Basis
	parts := []string{fmt.Sprintf("%s there", people(x.Present))}
	if x.Gone >= 0.5 {
		parts = append(parts, people(x.Gone)+" away with a task in hand")
	}
	if counted := r.At.Sub(x.ArrivalsSince(r.At)); counted > 0 {
		parts = append(parts, fmt.Sprintf("%s came in the last %s", people(x.Arrivals), span(counted)))
	}
	parts = append(parts, fmt.Sprintf("they stay %s on average", span(instant.Seconds(x.SessionSeconds))))
	answer := fmt.Sprintf("an answer takes %s, ", span(instant.Seconds(b.Answer)))
	switch b.Answers {
	case 0:
		answer += "as its requester estimates"
	case 1:
		answer += "from 1 answer and its requester's estimate"
	default:
		answer += "from " + strconv.Itoa(b.Answers) + " answers and its requester's estimate"
	}
	return strings.Join(append(parts, answer), "; ")
}

// people says a number of people that may be a fraction.
func people(n float64) string {
	switch {
	case n < 0.05:
		return "nobody"
	case n < 0.95:
		return "perhaps 1 person"
	case n < 1.5:
		return "1 person"
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " people"
}

// span writes a duration with two figures or so.
func span(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 9.95:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	case s < 90:
		return strconv.FormatFloat(s, 'f', 0, 64) + " s"
	case s < 90*60:
		return strconv.FormatFloat(s/60, 'f', 0, 64) + " min"
	case s < 48*3600:
		return strings.TrimSuffix(strconv.FormatFloat(s/3600, 'f', 1, 64), ".0") + " h"
	default:
		return strconv.FormatFloat(s/86400, 'f', 0, 64) + " days"
	}
}
