package label

import "errors"

// ErrStopped is what FitUntil returns where it was stopped.
var ErrStopped = errors.New("the fit was stopped")

// stopped is what poll panics with, for FitUntil to recover.
type stopped struct{}

// FitUntil is m.Fit(d, gold), given up with ErrStopped soon after stop returns true. It
// calls stop every few milliseconds of work, from the goroutine of the caller, so stop may
// also make room for others.
func FitUntil(m Method, d *Dataset, gold Truth, stop func() bool) (r *Result, err error) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case stopped:
			r, err = nil, ErrStopped
		default:
			panic(p)
		}
	}()
	watched := *d
	watched.stop = stop
	if r, err = m.Fit(&watched, gold); err != nil {
		return nil, err
	}
	watched.stop = nil
	r.Data = d
	return r, nil
}

// pollEvery is how many steps of a loop, each of a few microseconds at most, pass between
// two calls of stop: a power of 2.
const pollEvery = 256

// poll is called in step n of every loop of a fit that may be long, and ends the fit if it
// is to stop.
func (d *Dataset) poll(n int) {
	if d.stop != nil && n&(pollEvery-1) == 0 && d.stop() {
		panic(stopped{})
	}
}
