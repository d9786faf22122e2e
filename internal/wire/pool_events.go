package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// PoolEvents are events of a pool, in order.
type PoolEvents struct {
	Events    []PoolEvent `json:"events"`
	Last      uint64      `json:"last" doc:"the number of the last of them; of none, of the last event before the stream began"`
	Missed    uint64      `json:"missed,omitempty" doc:"how many before them, or up to last, are kept no more, since the server started"`
	NoLabels  bool        `json:"no_labels,omitempty" doc:"what the labels are is left out, since who follows may not see results"`
	Restarted bool        `json:"restarted,omitempty" doc:"the server has started anew since the last event that is known: how many came before that is not known. Left out for after=0, which knows no event"`
}

// PoolEvent is one of the five events by which a job runs.
type PoolEvent struct {
	N        uint64          `json:"n" doc:"its number"`
	Event    int             `json:"event" doc:"1 to 5"`
	Name     string          `json:"name" doc:"such as ready_to_work"`
	At       time.Time       `json:"at"`
	Consumer string          `json:"consumer,omitempty" doc:"the operation that consumed it; left out while it waits in its queue"`
	Worker   *crowd.WorkerID `json:"worker,omitempty" doc:"of events 1 and 2"`
	Task     *crowd.TaskID   `json:"task,omitempty" doc:"of events 2 to 5"`
	Number   int             `json:"number,omitempty" doc:"of event 4: answers wanted now"`
	Label    string          `json:"label,omitempty" doc:"of event 5: its first 250 characters"`
	Clipped  bool            `json:"label_clipped,omitempty" doc:"the label is longer: its end stands as an ellipsis here"`
}
