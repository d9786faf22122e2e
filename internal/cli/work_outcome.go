package cli

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// finished is what was done when a worker ends.
type finished struct {
	Answers int         `json:"answers"`
	Later   int         `json:"later,omitempty"` // of them, provisional when they were given
	Paid    crowd.Money `json:"paid_micros"`
	Awaits  crowd.Money `json:"held_micros,omitempty"` // approval
}

func outcomeText(o wire.Outcome) string {
	switch {
	case !o.CountsAt.IsZero():
		return "kept: it counts at " + o.CountsAt.Local().Format(time.TimeOnly) + ", until then u takes it back"
	case o.Duplicate:
		return "you have answered this task already; your first answer is kept"
	case !o.Counted && o.BatchEnded:
		return "too late: the batch has ended; kept, but it does not count and is not paid"
	case !o.Counted && o.Late:
		return "too late: the time was up; kept, but it does not count and is not paid"
	case !o.Counted:
		return "kept, but no longer wanted"
	}
	if o.HeldMicros > 0 {
		return "thank you: " + o.HeldMicros.String() + ", which awaits approval"
	}
	return "thank you: " + o.PaidMicros.String()
}

// feedbackText says whether an answer to a task for training was right, and why; "" of others.
func feedbackText(f *wire.Feedback) string {
	switch {
	case f == nil:
		return ""
	case f.Right:
		return "right: " + f.Explanation + "\n"
	}
	return "not right: the answer is " + f.Answer + "\n" + f.Explanation + "\n"
}
