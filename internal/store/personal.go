package store

import (
	"context"
	"iter"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// PersonalRow is a row of what is kept about a person.
type PersonalRow struct {
	Table string
	Row   map[string]any // by column, without what is secret: text, numbers, booleans, and times of columns that end in _at
}

// Writing is what kind of text somebody wrote.
type Writing string

// The kinds of text.
const (
	WrittenAnswer     Writing = "answer"     // to a task
	WrittenNote       Writing = "note"       // of an entry in the ledger
	WrittenInvitation Writing = "invitation" // the note to somebody whom they invited
	WrittenReply      Writing = "reply"      // to reports of a task, or the comment with which an answer to it was sent back
	// What is deleted with who wrote it, and is a WrittenText only where it names somebody else.
	WrittenReport     Writing = "report"     // of what is wrong with a task
	WrittenComment    Writing = "comment"    // with which a reviewer sent a label back
	WrittenCorrection Writing = "correction" // the note of one of a label
	WrittenRefusal    Writing = "refusal"    // of held pay
	WrittenAppeal     Writing = "appeal"     // against that
	WrittenDecision   Writing = "decision"   // of the appeal
)

// WrittenText is a text that a person wrote, or one that others wrote and that names them.
type WrittenText struct {
	Kind   Writing
	ID     int64          // of the assignment, the entry, the invitation, or of the task that a reply or a correction is of
	N      uint32         // of a correction, among those of its task; of a comment 1 while its grace goes on; else 0
	By     crowd.WorkerID // who wrote it; 0: nobody knows
	At     time.Time
	Tenant crowd.TenantID
	Text   string // of an answer all of it, as JSON
	Others bool   // somebody else wrote it, or nobody knows who
	Batch  crowd.BatchID
	// Revisions has, of an answer that was revised, what does not count: it goes with the answer.
	Revisions []Revision
}

// Given is all that was written in the course of time, the last one at the end: of an answer that was revised, more than one.
// Whether the first of an answer is the one that counts is not to be seen, as it would tell which tasks were checks.
func (x *WrittenText) Given() (all []string) {
	if len(x.Revisions) > 0 && x.Revisions[0].N > 0 {
		all = append(all, x.Text)
	}
	for _, r := range x.Revisions {
		all = append(all, string(r.Body))
	}
	if len(x.Revisions) == 0 || x.Revisions[0].N == 0 {
		all = append(all, x.Text)
	}
	return all
}

// NewText replaces a WrittenText.
type NewText struct {
	Kind   Writing
	ID     int64
	N      uint32
	Others bool // answers to requests that have it are withheld, which are kept for a day
	Text   string
	Key    string // of an answer
}

// NewLabel is what a label was replaced by with a text that it was.
type NewLabel struct {
	Task  crowd.TaskID
	Value string
}

// ErasureState is how far an erasure has come.
type ErasureState string

// The states of an erasure.
const (
	ErasureBegun ErasureState = "begun" // they can do nothing any more, and nothing else is lost yet
	ErasureRows  ErasureState = "rows"  // what the rows have of them is gone, but not yet from the files
	ErasureDone  ErasureState = "done"
)

// Erasure is that a person is erased.
type Erasure struct {
	Person  crowd.WorkerID
	AskedBy crowd.WorkerID
	AskedAt time.Time
	Keep    bool     // texts that they wrote stay
	But     []string // those of which the other holds
	State   ErasureState
	DoneAt  time.Time
}

// PersonalData keeps all that is kept about people, whatever it is.
type PersonalData interface {
	// Personal yields the rows about a person, table by table. It is one consistent
	// state of the database, of which it holds one row in memory.
	Personal(ctx context.Context, id crowd.WorkerID) iter.Seq2[PersonalRow, error]
	// WrittenTexts yields all answers of a person, the newest first, and then what else
	// they wrote and, if others is set, what others wrote that names them. They choose their
	// names: what has one may be about anything. What Erase deletes anyway is not among it.
	WrittenTexts(ctx context.Context, id crowd.WorkerID, others bool) iter.Seq2[WrittenText, error]
	// ReplaceTexts replaces texts: all of the call's, or none. A label of a task that is
	// the answer, and nobody else's that counted, is replaced by its new key; it returns
	// those labels.
	ReplaceTexts(ctx context.Context, list []NewText) ([]NewLabel, error)
	// BeginErasure keeps that a person is to be erased. If it was begun before and is not
	// done, what was asked for then holds.
	BeginErasure(ctx context.Context, e Erasure) (Erasure, error)
	// Erasures returns those that are not done, in order of person.
	Erasures(ctx context.Context) ([]Erasure, error)
	// Erase takes what is kept about a person away, but for their number and what is
	// counted and paid under it: all, or nothing. The erasure is in the state
	// ErasureRows then.
	Erase(ctx context.Context, id crowd.WorkerID, now time.Time) error
	// Scrub has no byte of what was deleted stay in the database's files. While it goes
	// on nothing else is written. The erasures in the state ErasureRows are done then.
	Scrub(ctx context.Context, now time.Time) error
}

// ErasedName is the name of a person who was erased. Nobody can choose it.
func ErasedName(id crowd.WorkerID) string { return "(erased " + id.String() + ")" }

// Erased is why the answer to a request is not kept: it named somebody who was erased.
const Erased Withheld = "erased"
