package crowd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Code is the class of an Error: a closed set, mapped to HTTP in one place.
type Code string

// The codes.
const (
	Invalid         Code = "invalid"          // the input is wrong; Field and Message say what would be right
	NotFound        Code = "not_found"        // no such thing, or not yours to see
	Unauthenticated Code = "unauthenticated"  // who are you?
	Forbidden       Code = "forbidden"        // your role does not allow it
	OffDuty         Code = "off_duty"         // the worker is not on duty in a pool that calls its people
	Conflict        Code = "conflict"         // the thing is in a state that does not allow it
	TooLarge        Code = "too_large"        // the body or the file passes a limit
	TooMany         Code = "too_many"         // asked too often; try again later
	BudgetTooSmall  Code = "budget_too_small" // the money does not suffice
	StorageFull     Code = "storage_full"     // the disk, or a tenant's part of it, is full; nothing was lost, and of a disk that is full nothing is handed out
	QuotaExceeded   Code = "quota_exceeded"   // it would be more than the tenant may have
	Unavailable     Code = "unavailable"      // the pool is reloading or the server is closing; try again
	Internal        Code = "internal"         // our fault; details are in the log only
)

// Codes lists every code.
func Codes() []Code {
	return []Code{Invalid, NotFound, Unauthenticated, Forbidden, OffDuty, Conflict, TooLarge, TooMany, BudgetTooSmall, StorageFull, QuotaExceeded, Unavailable, Internal}
}

// Error is an error that is safe to show to the user: its text says what is
// wrong and what would be right. What only the log should see is wrapped in
// Cause and never printed by Error.
type Error struct {
	Code    Code
	Field   string // the field, column or flag that is wrong, or ""
	Row     int    // the line of an uploaded file, from 1, or 0
	Message string
	Cause   error

	// RetryAfter is how long it takes until the same can succeed; 0: that is not known.
	RetryAfter time.Duration
}

// After returns the error with the time that it takes until the same can succeed.
func (e *Error) After(d time.Duration) *Error {
	out := *e
	out.RetryAfter = d
	return &out
}

func (e *Error) Error() string {
	switch {
	case e.Row > 0 && e.Field != "":
		return fmt.Sprintf("line %d, %s: %s", e.Row, e.Field, e.Message)
	case e.Row > 0:
		return fmt.Sprintf("line %d: %s", e.Row, e.Message)
	case e.Field != "":
		return e.Field + ": " + e.Message
	}
	return e.Message
}

// Unwrap returns the cause, for errors.Is and for the log.
func (e *Error) Unwrap() error { return e.Cause }

// Errors is several things that are wrong, in order.
type Errors []*Error

// Error returns one line for each.
func (list Errors) Error() string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.As find the first.
func (list Errors) Unwrap() []error {
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return errs
}

// Err returns nil, the only error, or the list.
func (list Errors) Err() error {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return list
}

// Refuse adds that a field is wrong, if it is and the list does not say so yet.
func (list *Errors) Refuse(wrong bool, field, format string, args ...any) {
	if wrong && !list.has(field) {
		*list = append(*list, Fieldf(field, format, args...))
	}
}

func (list Errors) has(field string) bool {
	return field != "" && slices.ContainsFunc(list, func(e *Error) bool { return e.Field == field })
}

// Gather joins what several checks found wrong, in their order. Of a field that several of
// them refuse it keeps what the first of these says. An error that is no Error comes alone.
func Gather(checks ...error) error {
	var list Errors
	for _, err := range checks {
		wrong := ErrorsOf(err)
		if err != nil && len(wrong) == 0 {
			return err
		}
		before := list
		for _, e := range wrong {
			if !before.has(e.Field) {
				list = append(list, e)
			}
		}
	}
	return list.Err()
}

// ErrorsOf returns the single things that err says are wrong, or nil if it is of
// another kind.
func ErrorsOf(err error) Errors {
	var list Errors
	var one *Error
	switch {
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return Errors{one}
	}
	return nil
}

// Errorf makes an Error without a field.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Fieldf makes an Invalid error about one field.
func Fieldf(field, format string, args ...any) *Error {
	return &Error{Code: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of err: that of the first Error in its chain, or
// Internal. It returns "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}
