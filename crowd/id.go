package crowd

import (
	"fmt"
	"strconv"
	"strings"
)

// Identifiers are positive integers that the project makes itself; zero means
// "none". In text they carry a letter, so that one kind is never taken for
// another: tenant "n3", pool "p1", user (and so worker) "u42", batch "b17", run "r4",
// task "t17.5" (fifth task of batch 17) and assignment "a17.9" (ninth
// assignment of batch 17).
type (
	// TenantID names a tenant.
	TenantID int64
	// PoolID names a pool.
	PoolID int64
	// WorkerID names a person who works; it is the person's user number.
	WorkerID int64
	// BatchID names a batch, 1 to MaxBatchID.
	BatchID int64
	// TaskID names a task: its batch in the upper 32 bits, its number within
	// the batch (from 1, in order of import) in the lower 32.
	TaskID int64
	// RunID names a run of a workflow.
	RunID int64
	// AssignmentID names an assignment, packed like TaskID; the number counts
	// the assignments of the batch in the order in which they were handed out.
	AssignmentID int64
)

// MaxBatchID and MaxInBatch bound the two halves of a packed identifier.
const (
	MaxBatchID = 1<<31 - 1
	MaxInBatch = 1<<32 - 1
)

// Task returns the identifier of the n-th task (from 1) of batch b.
func (b BatchID) Task(n uint32) TaskID { return TaskID(int64(b)<<32 | int64(n)) }

// Assignment returns the identifier of the n-th assignment (from 1) of batch b.
func (b BatchID) Assignment(n uint32) AssignmentID { return AssignmentID(int64(b)<<32 | int64(n)) }

// Batch returns the batch that the task belongs to.
func (t TaskID) Batch() BatchID { return BatchID(t >> 32) }

// N returns the task's number within its batch, from 1.
func (t TaskID) N() uint32 { return uint32(t) }

// Batch returns the batch that the assignment belongs to.
func (a AssignmentID) Batch() BatchID { return BatchID(a >> 32) }

// N returns the assignment's number within its batch, from 1.
func (a AssignmentID) N() uint32 { return uint32(a) }

func (t TenantID) String() string { return "n" + strconv.FormatInt(int64(t), 10) }
func (p PoolID) String() string   { return "p" + strconv.FormatInt(int64(p), 10) }
func (w WorkerID) String() string { return "u" + strconv.FormatInt(int64(w), 10) }
func (b BatchID) String() string  { return "b" + strconv.FormatInt(int64(b), 10) }
func (r RunID) String() string    { return "r" + strconv.FormatInt(int64(r), 10) }
func (t TaskID) String() string   { return packedString('t', int64(t)) }

func (a AssignmentID) String() string { return packedString('a', int64(a)) }

func packedString(letter byte, id int64) string {
	buf := make([]byte, 0, 24)
	buf = append(buf, letter)
	buf = strconv.AppendInt(buf, id>>32, 10)
	buf = append(buf, '.')
	buf = strconv.AppendUint(buf, uint64(uint32(id)), 10)
	return string(buf)
}

// ParseTenantID reads the text form of a TenantID.
func ParseTenantID(s string) (TenantID, error) {
	n, err := parseID(s, "n", "tenant")
	return TenantID(n), err
}

// ParseRunID reads the text form of a RunID.
func ParseRunID(s string) (RunID, error) { n, err := parseID(s, "r", "run"); return RunID(n), err }

// ParsePoolID reads the text form of a PoolID.
func ParsePoolID(s string) (PoolID, error) { n, err := parseID(s, "p", "pool"); return PoolID(n), err }

// ParseWorkerID reads the text form of a WorkerID.
func ParseWorkerID(s string) (WorkerID, error) {
	n, err := parseID(s, "u", "worker")
	return WorkerID(n), err
}

// ParseBatchID reads the text form of a BatchID.
func ParseBatchID(s string) (BatchID, error) {
	n, err := parseID(s, "b", "batch")
	if err == nil && n > MaxBatchID {
		return 0, badID(s, "b", "batch")
	}
	return BatchID(n), err
}

// ParseTaskID reads the text form of a TaskID.
func ParseTaskID(s string) (TaskID, error) {
	n, err := parsePacked(s, "t", "task")
	return TaskID(n), err
}

// ParseAssignmentID reads the text form of an AssignmentID.
func ParseAssignmentID(s string) (AssignmentID, error) {
	n, err := parsePacked(s, "a", "assignment")
	return AssignmentID(n), err
}

func parseID(s, letter, noun string) (int64, error) {
	digits, found := strings.CutPrefix(s, letter)
	n, ok := parseDigits(digits, 1<<62)
	if !found || !ok {
		return 0, badID(s, letter, noun)
	}
	return n, nil
}

func parsePacked(s, letter, noun string) (int64, error) {
	rest, found := strings.CutPrefix(s, letter)
	batch, number, dotted := strings.Cut(rest, ".")
	b, okB := parseDigits(batch, MaxBatchID)
	n, okN := parseDigits(number, MaxInBatch)
	if !found || !dotted || !okB || !okN {
		return 0, badID(s, letter, noun)
	}
	return b<<32 | n, nil
}

// parseDigits accepts only the form that String writes: no sign, no leading
// zero, 1 to limit.
func parseDigits(s string, limit int64) (int64, bool) {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n <= limit
}

func badID(s, letter, noun string) error {
	example := letter + "17"
	if letter == "t" || letter == "a" {
		example += ".5"
	}
	article := "a"
	if noun == "assignment" {
		article = "an"
	}
	return &Error{Code: NotFound, Field: noun, Message: fmt.Sprintf("%q is not the id of %s %s (they look like %s)", s, article, noun, example)}
}

// MarshalText and UnmarshalText make the text forms the JSON forms.

func (t TenantID) MarshalText() ([]byte, error)     { return []byte(t.String()), nil }
func (p PoolID) MarshalText() ([]byte, error)       { return []byte(p.String()), nil }
func (w WorkerID) MarshalText() ([]byte, error)     { return []byte(w.String()), nil }
func (r RunID) MarshalText() ([]byte, error)        { return []byte(r.String()), nil }
func (b BatchID) MarshalText() ([]byte, error)      { return []byte(b.String()), nil }
func (t TaskID) MarshalText() ([]byte, error)       { return []byte(t.String()), nil }
func (a AssignmentID) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

func (t *TenantID) UnmarshalText(s []byte) (err error) {
	*t, err = ParseTenantID(string(s))
	return err
}
func (p *PoolID) UnmarshalText(s []byte) (err error) { *p, err = ParsePoolID(string(s)); return err }
func (w *WorkerID) UnmarshalText(s []byte) (err error) {
	*w, err = ParseWorkerID(string(s))
	return err
}
func (r *RunID) UnmarshalText(s []byte) (err error)   { *r, err = ParseRunID(string(s)); return err }
func (b *BatchID) UnmarshalText(s []byte) (err error) { *b, err = ParseBatchID(string(s)); return err }
func (t *TaskID) UnmarshalText(s []byte) (err error)  { *t, err = ParseTaskID(string(s)); return err }

func (a *AssignmentID) UnmarshalText(s []byte) (err error) {
	*a, err = ParseAssignmentID(string(s))
	return err
}
