package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// PersonalRow is a line of what is kept about a person.
type PersonalRow struct {
	Table string         `json:"table"`
	Row   map[string]any `json:"row"`
}

// BeforeErasure is what is found of a person who is to be erased.
type BeforeErasure struct {
	ID           crowd.WorkerID `json:"id"`
	Name         string         `json:"name"`
	EarnedMicros crowd.Money    `json:"earned_micros" doc:"afterwards nobody knows to whom it is owed"`
	Count        int            `json:"count" doc:"how many texts there are"`
	Texts        []FreeText     `json:"texts" doc:"the first thousand of them"`
}

// FreeText is a text that somebody wrote, or that names them.
type FreeText struct {
	ID     string         `json:"id" doc:"by which it is named in an erasure"`
	Kind   string         `json:"kind" enum:"answer,note,invitation,reply,report,correction,refusal,appeal,decision" doc:"an answer to a task, the note of an entry of an account, the note to somebody whom they invited, the reply to reports of a task or the comment of an answer that was sent back; and of others alone, since what they wrote of these is deleted anyway: a report, the note of a correction, the reason of refused pay, an appeal, and how that was decided"`
	At     time.Time      `json:"at"`
	Tenant crowd.TenantID `json:"tenant,omitempty" doc:"whose it is"`
	Texts  []string       `json:"texts"`
	Others bool           `json:"others,omitempty" doc:"somebody else wrote it, or nobody knows who: it names the person"`
}

// ErasePerson says how a person is erased.
type ErasePerson struct {
	Confirm  string   `json:"confirm" doc:"the name of the person, since it cannot be undone"`
	FreeText string   `json:"free_text,omitempty" enum:"keep,delete" doc:"what becomes of the texts; needed if there are some"`
	But      []string `json:"but,omitempty" doc:"ids of texts for which the other choice holds"`
	Settled  bool     `json:"settled,omitempty" doc:"what they have earned was paid to them, or they give it up"`
}
