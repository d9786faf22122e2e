package killtest_test

import (
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/throng-dev/throng/internal/killtest"
	"github.com/throng-dev/throng/internal/process/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m) }

// TestKill kills a server THRONG_KILL_ROUNDS times (default 3; CI takes 20).
func TestKill(t *testing.T) {
	rounds := 3
	if text := os.Getenv("THRONG_KILL_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("THRONG_KILL_ROUNDS: %v", err)
		}
	}
	report, err := killtest.Run(t.Context(), killtest.Options{Rounds: rounds, Seed: 1, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *report)
	for _, p := range report.Problems {
		t.Error(p)
	}
	if report.Rounds != rounds || report.Acknowledged < rounds || report.Stored < report.Acknowledged ||
		report.Batches == 0 || report.Deposits == 0 || report.Moves == 0 || report.States == 0 || report.KillsCaught == 0 {
		t.Errorf("too little was looked at: %+v", *report)
	}
}

// TestFindsWhatIsWrong does to the database what a faulty server might, and
// wants it found.
func TestFindsWhatIsWrong(t *testing.T) {
	const anAnswer = "(select max(id) from answers where counted)"
	for name, text := range map[string]string{
		"an answer is lost":              "delete from answers where id = " + anAnswer,
		"an answer is another":           `update answers set body = '{"label":"yes","note":"x"}' where id = ` + anAnswer,
		"an answer no longer counts":     "update answers set counted = false where id = " + anAnswer,
		"an answer is of another worker": "update assignments set worker = worker % 3 + 100 where id = " + anAnswer,
		"a task was given twice": `insert into assignments (id, task, worker, state, assigned_at, expires_at)
			select id + 1000000, task, worker, 'returned', assigned_at, expires_at from assignments where id = ` + anAnswer,
		"a payment is lost":     "delete from ledger where id = (select max(id) from ledger where kind = 'reward')",
		"a balance is wrong":    "update accounts set balance = balance + 1 where account = (select max(account) from accounts)",
		"a deposit was doubled": "update ledger set note = 'deposit 1' where kind = 'deposit'",
		"a count is wrong":      "update progress set completed = completed + 1 where state = 'running'",
		"a label is another":    "update labels set value = 'maybe' where task = (select max(task) from labels)",
	} {
		t.Run(name, func(t *testing.T) {
			o := killtest.Tampered(killtest.Options{Rounds: 1, Seed: 1, Dir: t.TempDir()}, func(path string) error {
				db, err := sql.Open("sqlite", "file:"+path)
				if err != nil {
					return err
				}
				defer db.Close()
				result, err := db.ExecContext(t.Context(), text)
				if err != nil {
					return err
				}
				if n, err := result.RowsAffected(); err != nil || n == 0 {
					return fmt.Errorf("nothing to tamper with: %d rows, %w", n, err)
				}
				return nil
			})
			report, err := killtest.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if report.OK() {
				t.Error("it was not found")
			} else {
				t.Log(report.Problems[0])
			}
		})
	}
}
