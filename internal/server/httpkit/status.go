package httpkit

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// status is the only table from codes to HTTP statuses.
var status = map[crowd.Code]int{
	crowd.Invalid:         http.StatusUnprocessableEntity,
	crowd.NotFound:        http.StatusNotFound,
	crowd.Unauthenticated: http.StatusUnauthorized,
	crowd.Forbidden:       http.StatusForbidden,
	crowd.OffDuty:         http.StatusConflict,
	crowd.Conflict:        http.StatusConflict,
	crowd.TooLarge:        http.StatusRequestEntityTooLarge,
	crowd.TooMany:         http.StatusTooManyRequests,
	crowd.BudgetTooSmall:  http.StatusPaymentRequired,
	crowd.StorageFull:     http.StatusInsufficientStorage,
	crowd.QuotaExceeded:   http.StatusForbidden,
	crowd.Unavailable:     http.StatusServiceUnavailable,
	crowd.Internal:        http.StatusInternalServerError,
}

// Status returns the HTTP status of a code; an unknown code is an internal
// error.
func Status(code crowd.Code) int {
	if s, ok := status[code]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// RetryAfter is the header of that name for an answer with the error: whole seconds, after
// which the same can succeed; "" if that is not known.
func RetryAfter(err error) string {
	var known *crowd.Error
	if !errors.As(err, &known) || known.RetryAfter <= 0 {
		return ""
	}
	return strconv.FormatInt(int64((known.RetryAfter+time.Second-1)/time.Second), 10)
}

// SetRetryAfter sets the header, if the time is known.
func SetRetryAfter(h http.Header, err error) {
	if after := RetryAfter(err); after != "" {
		h.Set("Retry-After", after)
	}
}

// retryAfter is the seconds after which a client may try again, by status, where the error
// does not know.
var retryAfter = map[int]string{http.StatusTooManyRequests: "10", http.StatusServiceUnavailable: "2"}

// Public returns the error that a client may see in place of err: the
// *crowd.Error in its chain, or one that says nothing of what happened. A body
// that passed its limit (http.MaxBytesReader) is TooLarge.
func Public(err error) *crowd.Error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return crowd.Errorf(crowd.TooLarge, "that is more than the %s allowed here", format.Bytes(big.Limit))
	}
	var known *crowd.Error
	if errors.As(err, &known) {
		return known
	}
	return crowd.Errorf(crowd.Internal, "something went wrong on our side; it has been logged")
}

// LogError logs what a client is not told: errors that are our fault, and the
// causes of others. A client that went away, or does not take its answer, is not an
// error of the server's.
func LogError(ctx context.Context, log *slog.Logger, r *http.Request, err error) {
	if err == nil || r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	if errors.Is(err, errNotTaken) {
		level := slog.LevelDebug
		if errors.Is(err, os.ErrDeadlineExceeded) {
			level = slog.LevelInfo
		}
		log.Log(ctx, level, "a client has not taken all of an answer", "method", r.Method, "path", r.URL.Path, "err", err)
		return
	}
	public := Public(err)
	if Status(public.Code) < 500 && public.Cause == nil {
		return
	}
	level := slog.LevelWarn
	if public.Code == crowd.Internal {
		level = slog.LevelError
	}
	attrs := []any{"method", r.Method, "path", r.URL.Path, "code", string(public.Code), "err", err}
	if public.Cause != nil {
		attrs = append(attrs, "cause", public.Cause)
	}
	log.Log(ctx, level, "request failed", attrs...)
}
