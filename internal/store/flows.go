package store

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// RunState is the state of a run of a workflow.
type RunState string

// The states of a run.
const (
	RunLoading   RunState = "loading" // it waits for its inputs and its start
	RunRunning   RunState = "running"
	RunPaused    RunState = "paused"
	RunDone      RunState = "done"
	RunCancelled RunState = "cancelled"
)

// Ended reports whether nothing happens in the run any more.
func (s RunState) Ended() bool { return s == RunDone || s == RunCancelled }

// Run is one execution of a workflow. See ADR 16.
type Run struct {
	ID        crowd.RunID
	Tenant    crowd.TenantID
	Name      string
	Text      string // the workflow's file
	State     RunState
	Budget    crowd.Money // over all its crowd steps; 0: what the tenant has
	Deadline  time.Time   // of the whole run; zero: none
	Parent    crowd.RunID // whose rows it took over, or 0
	From      string      // the step from which it repeats, if it has a parent
	AskAgain  bool        // it takes over no labels of the steps that it repeats
	RenewAges bool        // items that it takes over are born when it was made
	// RedoLabels is how many labels of Parent had been corrected when the run was made, because of
	// them; 0: it was made for another reason.
	RedoLabels int64
	// RedoDue says that the run has ended, and that it is not settled yet whether a run is made
	// of its corrected labels.
	RedoDue bool
	// RedoError says why none could be begun; "": nothing is known against it.
	RedoError string
	CreatedBy crowd.WorkerID
	CreatedAt time.Time
	StartedAt time.Time // when its inputs were there
	EndedAt   time.Time
	Penalty   crowd.Money  // paid so far: of the run if its SLA is per run, else over all items that have ended
	Ended     int64        // items that have come to the end of their way, if the SLA is per item
	Late      int64        // of those, the ones with a penalty
	Classes   []ClassCount // those three by class of the items, as far as some have ended; nil: there are no classes

	// ServiceOrigins are where the declared services of its steps stood when it began, by name:
	// scheme, host and port. To others, no secret goes that is bound to no host.
	ServiceOrigins map[string]string

	AnswersDeletedAt time.Time `audit:"-"` // since when what was answered is not there any more; zero: it is
	FilesDeletedAt   time.Time `audit:"-"` // likewise its rows
}

// ClassCount is how a promise was kept to items that have ended.
type ClassCount struct {
	Ended   int64
	Late    int64
	Penalty crowd.Money
	Failed  int64 `json:",omitempty"` // of Ended, those that failed and were not late
}

// Add counts an item that has ended.
func (k *ClassCount) Add(penalty crowd.Money) {
	k.Ended++
	if penalty > 0 {
		k.Late++
		k.Penalty = k.Penalty.Plus(penalty)
	}
}

// NodeState is the state of a node of a run.
type NodeState string

// The states of a node.
const (
	NodeWaiting NodeState = "waiting" // nothing has come yet
	NodeRunning NodeState = "running"
	NodeFailed  NodeState = "failed" // it cannot go on, see Error; until somebody says retry
	NodeDone    NodeState = "done"   // no more rows come
)

// Node is an input or a step of a run.
type Node struct {
	Run   crowd.RunID
	Node  int // from 0: inputs first, then steps in topological order
	Name  string
	State NodeState
	Error string // why it has failed, or waits (no money, say)

	Columns []string // of an input: those of its file
	Open    bool     // of an input: rows are added to it while the run goes, until it is done

	Batch crowd.BatchID // of a crowd step, once it has one
	// Cursors are, by source, the last row taken from it; and one more: the last
	// row of the node's own log whose item's end was counted (see Run.Ended).
	Cursors   []int64
	Sealed    bool // all of its sources have ended, and everything was taken
	StartedAt time.Time
	EndedAt   time.Time
	Served    int64         // calls or queries that were answered
	Busy      time.Duration // that those took, in sum
	Text      int64         // bytes that queries have given, row by row

	// What its log holds. Only the store changes these.
	Last    int64 // rows in all
	OK      int64
	Skipped int64
	Failed  int64
	Faults  int64 // items that it holds with an error: in no log yet
}

// TakesRows reports whether rows may be added to it as an input of a run that has started.
func (n *Node) TakesRows() bool { return n.Open && n.State == NodeRunning }

// Count counts a row of its log.
func (n *Node) Count(state RowState) {
	switch n.Last++; state {
	case RowOK:
		n.OK++
	case RowSkipped:
		n.Skipped++
	default:
		n.Failed++
	}
}

// RowState says what has become of an item at a node.
type RowState string

// The states of a row.
const (
	RowOK      RowState = "ok"
	RowSkipped RowState = "skipped" // its condition did not hold, or the query gave nothing
	RowFailed  RowState = "failed"
)

// Row is a row in the log of a node.
type Row struct {
	Node   int
	N      int64 // in the log, from 1; given by the store
	Item   int64 // within the run, from 1; 0: the store gives it a new one
	Origin int64 // the item that a new one was made from, or 0
	Born   time.Time
	Class  int // of the item, of those of the run's SLA
	At     time.Time
	State  RowState
	Cells  []string // of the node's own columns; nil unless ok
	Error  string   // why it failed or was skipped

	Source     crowd.TaskID // of an earlier run, whose label was taken over; 0: of none
	Correction uint32       // of Source, by number, that is the label; 0: it is what was answered

	// By lists who answered, of a row that people made; nil: that is not known. It is read by
	// Flows.Answerers and Answered alone.
	By []crowd.WorkerID
}

// LogPart is a part of the log of a node: the rows with numbers above After and up to Last.
type LogPart struct {
	Run         crowd.RunID
	Node        int
	After, Last int64
}

// JoinedRow is a row with what other nodes have of the same item.
type JoinedRow struct {
	Row
	With map[int]Row // by node; absent: the item has not come there; one that is not ok has no Cells
}

// Fault is an item that a step could not deal with and holds.
type Fault struct {
	Node  int
	Item  int64
	N     int64 // of the row of the first source, or of the last that arrived
	At    time.Time
	Tries int
	Error string // for the requester
}

// Feed is what an open input gets rows from, such as a file that grows.
type Feed struct {
	Node int
	Name string
	Rows int64 // of it, the first ones, that were added
}

// Advance is a move of a run: all of it becomes durable, or nothing. Rows,
// tasks and faults name items that were there before the move. It does not
// change what it is given: the numbers of new rows and items are to be read.
type Advance struct {
	Run     crowd.RunID
	State   *Run   // if not nil, replaces what is kept of the run, but for its tenant, name, file, parent and making
	Nodes   []Node // replace what is kept of these nodes, but for the counts
	Rows    []Row  // appended to the logs of their nodes, in order
	Create  *Batch // a draft for the node Create.Node, which has it from then on, whatever Nodes says; one that it had must have ended
	Batch   crowd.BatchID
	Tasks   []Task  // added to Batch (0: what Create makes), numbered on, whatever its state but ended
	Release []Fault // faults that are over: their items were dealt with, or are to be
	Hold    []Fault // new faults, or the same ones again; after those of Release have gone
	Feed    *Feed   // if not nil, replaces what is kept of this feed
}

// PageBytes is how much text is read or written at a time: a page of rows ends with the
// row that makes it as much, however few rows it has.
const PageBytes = 4 << 20

// TextBytes is how much text the cells of a row have.
func TextBytes(cells []string) int {
	n := 0
	for _, c := range cells {
		n += len(c)
	}
	return n
}

// ChunkRows is how many rows are read or written at a time, at most. They are fewer if
// they have more than PageBytes of text.
const ChunkRows = 1000

// Chunks keeps what is added to it a chunk at a time.
type Chunks[T any] struct {
	Keep  func([]T) error // must not hold on to the list
	list  []T
	bytes int
}

// Add adds x, whose text is cells, and keeps the chunk if it is full.
func (c *Chunks[T]) Add(x T, cells []string) error {
	c.list = append(c.list, x)
	if c.bytes += TextBytes(cells); len(c.list) < ChunkRows && c.bytes < PageBytes {
		return nil
	}
	return c.Flush()
}

// Flush keeps what has been added since the last chunk was full.
func (c *Chunks[T]) Flush() error {
	if len(c.list) == 0 {
		return nil
	}
	err := c.Keep(c.list)
	clear(c.list)
	c.list, c.bytes = c.list[:0], 0
	return err
}

// Log is the rows of a node of a run.
type Log struct {
	Store Flows
	Run   crowd.RunID
	Node  int
	With  []int // nodes whose rows of the same items are read along
}

// After yields the rows after number n, in order.
func (l *Log) After(ctx context.Context, n int64) iter.Seq2[JoinedRow, error] {
	return func(yield func(JoinedRow, error) bool) {
		for {
			page, err := l.Store.Rows(ctx, l.Run, l.Node, n, ChunkRows, l.With)
			if err != nil {
				yield(JoinedRow{}, err)
				return
			}
			for i := range page {
				n = page[i].N
				if !yield(page[i], nil) {
					return
				}
			}
			if len(page) == 0 { // a page with fewer rows may be full of text
				return
			}
		}
	}
}

// LabelCells are the cells of the row that a label becomes: value, confidence in
// its shortest decimal, answers, undecided, tie.
func LabelCells(l *engine.Label) []string {
	return []string{l.Value, strconv.FormatFloat(l.Confidence, 'g', -1, 64), strconv.Itoa(l.Answers), strconv.FormatBool(l.Undecided), strconv.FormatBool(l.Tie)}
}

// ConfidenceOf reads the confidence of a label from its LabelCells.
func ConfidenceOf(cells []string) (float64, error) {
	if len(cells) < 2 {
		return 0, fmt.Errorf("a label's row has %d cells", len(cells))
	}
	return strconv.ParseFloat(cells[1], 64)
}

// TenantSecret is a secret for the calls of a tenant's workflows.
type TenantSecret struct {
	Name  string
	Value string   `audit:"-"`
	Hosts []string // to which it may be sent, as a list of patterns; none: to any
}

// Flows keeps the runs of workflows.
//
// Labels of a batch that has a Run and a Node go to the node's log by
// Journal.Commit, in the same transaction: a row of the task's item with the
// cells LabelCells and the label's By. A task of no item makes none, nor does
// one that people are checked with: when it goes on must not tell that it is one.
//
// An item has one row in a log at most: a second one is a Conflict, and of a
// label's item that has a row there already the label alone is kept.
type Flows interface {
	// CreateRun keeps a run with its nodes, which are numbered as they come,
	// under a new id, which it returns.
	CreateRun(ctx context.Context, r Run, nodes []Node) (crowd.RunID, error)
	// Run returns a run; tenant 0 means any.
	Run(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (Run, error)
	// ListRuns returns up to limit runs with ids below before (0: all), newest
	// first, without their files; tenant 0 means any.
	ListRuns(ctx context.Context, tenant crowd.TenantID, before crowd.RunID, limit int) ([]Run, error)
	// OpenRuns returns the runs that have not ended, in order of id, without their files.
	OpenRuns(ctx context.Context) ([]Run, error)
	// Nodes returns the nodes of a run in order.
	Nodes(ctx context.Context, id crowd.RunID) ([]Node, error)
	// RunBatches returns the batches that the nodes of a run have, in order of id,
	// as ListBatches does.
	RunBatches(ctx context.Context, id crowd.RunID) ([]Batch, error)
	// Advance makes a move durable. It returns the id of Create, or 0.
	Advance(ctx context.Context, a *Advance) (crowd.BatchID, error)
	// Rows returns up to limit rows of a node's log after number n, each with the
	// rows of the nodes in with that are of the same item. They are fewer if they, or
	// those of one of the nodes in with, have more than PageBytes of text, but at
	// least one if there is one.
	Rows(ctx context.Context, id crowd.RunID, node int, after int64, limit int, with []int) ([]JoinedRow, error)
	// ItemRows returns all rows of an item and of the items that it comes from,
	// in order of node.
	ItemRows(ctx context.Context, id crowd.RunID, item int64) ([]Row, error)
	// Answerers lists who answered an item, or one that it comes from, at these nodes, in
	// order of id: the By of the rows, and of labels that tell it.
	Answerers(ctx context.Context, id crowd.RunID, nodes []int, item int64) ([]crowd.WorkerID, error)
	// Answered yields the ok rows of a node in order of item, without more than the item and
	// By, which is nil where nobody knows who answered.
	Answered(ctx context.Context, id crowd.RunID, node int) iter.Seq2[Row, error]
	// TakenOver sums up the ok rows of a crowd step's node whose items have no task in its
	// batch: labels that it has from earlier runs.
	TakenOver(ctx context.Context, id crowd.RunID, node int) (engine.TakenOver, error)
	// Faults returns up to limit faults of a node (-1: of all) with items above
	// after, in order of item. The faults of one item at several nodes are not
	// torn apart, for which there may be some more.
	Faults(ctx context.Context, id crowd.RunID, node int, after int64, limit int) ([]Fault, error)
	// FeedRows returns how many rows of a feed were added to a node; 0 if there is no such
	// feed.
	FeedRows(ctx context.Context, id crowd.RunID, node int, feed string) (int64, error)
	// Staying returns up to limit tasks of a batch after task number n that have no
	// row of their item in the log of the batch's node, in order, without values: those
	// without a label, and those that people are checked with.
	Staying(ctx context.Context, batch crowd.BatchID, after uint32, limit int) ([]Task, error)
	// Pending returns up to limit rows of a part of a log whose items have no row in
	// the log of the node to, in order of number, without cells and errors.
	Pending(ctx context.Context, part LogPart, to, limit int) ([]Row, error)
	// Split counts the rows of a part of a log whose items have no row in the log of
	// the node from, and the items that these come from.
	Split(ctx context.Context, part LogPart, from int) (made, items int64, err error)
	// TakeOver copies the logs of nodes of one run to nodes of another of the same
	// tenant: nodes maps those of from to those of to. Items stay, and births unless
	// Run.RenewAges; feeds of a node go on in the other from where they had come to. Many rows go in steps, in order; if it fails between two, calling it again goes
	// on. A node that has rows of its own is a Conflict. Of which class an item is says
	// classes, by the node of to where it begins, which sees its row there; the rows of
	// other nodes are of the class of their item. nil: all are of class 0.
	TakeOver(ctx context.Context, from, to crowd.RunID, nodes map[int]int, classes map[int]func(*Row) int) error
	// ClearLog takes the rows of a node's log away, and with them, in a run without a
	// parent, the numbers of the last items that are in no other log. Many rows go in
	// steps, the last ones first; if it fails between two, calling it again goes on.
	ClearLog(ctx context.Context, id crowd.RunID, node int) error

	// PutTenantSecret keeps a secret of a tenant under its name, and TenantSecret
	// returns it. A list is in order of name and without values.
	PutTenantSecret(ctx context.Context, tenant crowd.TenantID, t TenantSecret) error
	TenantSecret(ctx context.Context, tenant crowd.TenantID, name string) (TenantSecret, error)
	TenantSecrets(ctx context.Context, tenant crowd.TenantID) ([]TenantSecret, error)
	DeleteTenantSecret(ctx context.Context, tenant crowd.TenantID, name string) error
}
