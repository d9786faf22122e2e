package wire

import (
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
)

// Test is a qualification test.
type Test struct {
	ID               int64          `json:"id"`
	Name             string         `json:"name"`
	Tenant           crowd.TenantID `json:"tenant,omitempty" doc:"left out: of the whole installation"`
	Grants           string         `json:"grants" doc:"the qualification, with the score: north/birds, if the test is of the tenant north, or birds, of the installation"`
	Questions        int            `json:"questions" doc:"in a try"`
	PassMark         int            `json:"pass_mark" minimum:"1" maximum:"100" doc:"the score from which on it is passed, 1 to 100"`
	Tries            int            `json:"tries"`
	WaitSeconds      int64          `json:"wait_seconds" doc:"between the end of a try and the next"`
	TimeLimitSeconds int64          `json:"time_limit_seconds,omitempty" doc:"of a try"`
	Open             bool           `json:"open" doc:"every worker may take it"`
	Retired          bool           `json:"retired"`
}

// GivenTest is a test as those who give it see it.
type GivenTest struct {
	Test
	File      int       `json:"file_questions" doc:"of which those of a try are drawn"`
	Template  Template  `json:"template,omitempty" doc:"how a task is shown and answered; left out of lists"`
	CreatedAt time.Time `json:"created_at"`
}

// NewTest asks for a test.
type NewTest struct {
	Name             string         `json:"name"`
	Tenant           crowd.TenantID `json:"tenant,omitempty" doc:"requesters of one tenant may leave it out; an admin's without is of the whole installation"`
	Template         Template       `json:"template" doc:"as for a batch, but not of kind html"`
	Questions        string         `json:"questions" doc:"a file as for a batch, as text, with the right answers in the column _gold"`
	Format           string         `json:"format,omitempty" enum:"csv,tsv,jsonl" doc:"of the file; default: from the content"`
	Delimiter        string         `json:"delimiter,omitempty" doc:"what stands between the cells of the file: , ; | or tab; default: found out"`
	Draw             int            `json:"draw,omitempty" minimum:"1" maximum:"100" doc:"how many questions make a try; default: all"`
	PassMark         int            `json:"pass_mark" minimum:"1" maximum:"100" doc:"the score from which on it is passed, 1 to 100"`
	Tries            int            `json:"tries,omitempty" minimum:"1" maximum:"100" doc:"at most; default: 1"`
	WaitSeconds      int64          `json:"wait_seconds,omitempty" minimum:"0" maximum:"31536000" doc:"between the end of a try and the next"`
	TimeLimitSeconds int64          `json:"time_limit_seconds,omitempty" minimum:"0" maximum:"86400" doc:"of a try; default: none"`
	Grants           string         `json:"grants,omitempty" doc:"the qualification, of the test's owner: north/birds, if the test is of the tenant north, or birds; default: the test's name"`
	Open             bool           `json:"open,omitempty" doc:"every worker may take it, not only those invited to it"`
}

// Retire retires a test, or lifts that.
type Retire struct {
	Retired bool `json:"retired"`
}

// Try is a try at a test as those who give the test see it.
type Try struct {
	ID          int64           `json:"id"`
	Worker      string          `json:"worker" doc:"the tenant's pseudonym of who tried" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID    crowd.WorkerID  `json:"worker_id,omitempty" doc:"if you may see who workers are"`
	Name        string          `json:"name,omitempty" doc:"likewise"`
	Try         int             `json:"try"`
	StartedAt   time.Time       `json:"started_at"`
	SubmittedAt time.Time       `json:"submitted_at,omitzero"`
	Right       int             `json:"right"`
	Score       int             `json:"score"`
	Late        bool            `json:"late" doc:"it came after its time, and cannot pass"`
	Passed      bool            `json:"passed"`
	Answers     json.RawMessage `json:"answers,omitempty" doc:"by number of the question in the file: the answer, its key, and whether it is right; left out after the first 4 MiB of a list"`
}

// MyTest is a test as those who take it see it.
type MyTest struct {
	Test
	Pool    string      `json:"pool,omitempty" doc:"the name of the pool in which you work once you have passed"`
	For     string      `json:"for,omitempty" doc:"the tenant for whose batches it counts; left out: for all"`
	Results []TryResult `json:"results"`
	Left    int         `json:"tries_left"`
	NextAt  time.Time   `json:"next_at,omitzero" doc:"when the next try is possible; left out: now"`
	Passed  bool        `json:"passed"`
	Holds   bool        `json:"holds" doc:"you have the qualification"`
	Current *RunningTry `json:"current,omitempty" doc:"the try that runs"`
}

// TryResult is how a try went. It does not tell which answers were right.
type TryResult struct {
	Try       int       `json:"try"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero" doc:"left out: it still runs"`
	Submitted bool      `json:"submitted"`
	Score     int       `json:"score"`
	Late      bool      `json:"late" doc:"it came after its time, and cannot pass"`
	Passed    bool      `json:"passed"`
}

// RunningTry is a try that runs.
type RunningTry struct {
	Try       int       `json:"try"`
	StartedAt time.Time `json:"started_at"`
	EndsAt    time.Time `json:"ends_at,omitzero" doc:"submit before"`
	Questions []Asked   `json:"questions,omitempty"`
}

// Asked is a question of a try.
type Asked struct {
	Name   string    `json:"name" doc:"by which it is answered"`
	Values Values    `json:"values" doc:"the question's data, by column"`
	View   task.View `json:"view" doc:"what to show and ask"`
}

// TryAnswers are the answers of a try.
type TryAnswers struct {
	Try        int                        `json:"try" doc:"which one"`
	Answers    map[string]json.RawMessage `json:"answers" doc:"by name of the question; each as for a task"`
	Unfinished bool                       `json:"unfinished,omitempty" doc:"what is missing counts as wrong"`
}
