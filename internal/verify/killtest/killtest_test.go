package killtest_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
	"github.com/throng-dev/throng/internal/verify/killtest"
	"github.com/throng-dev/throng/internal/verify/process/processtest"
)

func TestMain(m *testing.M) { processtest.Main(pgtest.Tests{M: m}) }

// TestKill kills a server THRONG_KILL_ROUNDS times (default 3; CI takes 20).
func TestKill(t *testing.T) {
	kill(t, killtest.Options{Rounds: rounds(t)})
}

// TestKillOnPostgreSQL is TestKill, a quarter as long, with the database in PostgreSQL, which
// is killed, too, every second time.
func TestKillOnPostgreSQL(t *testing.T) {
	kills := 0
	kill(t, killtest.Options{Rounds: max(2, rounds(t)/4), Address: pgtest.New(t), Killed: func() error {
		if kills++; kills%2 == 0 {
			pgtest.Restart(t)
		}
		return nil
	}})
	if kills < 2 {
		t.Errorf("PostgreSQL was not killed: %d kills", kills)
	}
}

// TestKillNodes kills, freezes or cuts off one of three nodes in each round, of which there
// are as many as in TestKill.
func TestKillNodes(t *testing.T) {
	o := killtest.Options{Rounds: rounds(t), Nodes: 3, Address: pgtest.New(t), Frozen: 5 * time.Second, Seed: 1, Log: t.Output()}
	report, err := killtest.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *report)
	for _, p := range report.Problems {
		t.Error(p)
	}
	if report.Rounds != o.Rounds || report.Acknowledged < o.Rounds || report.Stored < report.Acknowledged || len(report.Takeovers) == 0 || report.TakeoverP99 <= 0 ||
		report.Batches == 0 || report.Deposits == 0 || report.Moves == 0 || report.States == 0 || report.Runs == 0 || report.RunsCompared == 0 || report.Rows == 0 || report.Calls == 0 {
		t.Errorf("too little was looked at: %+v", *report)
	}
}

func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("THRONG_KILL_ROUNDS")
	if text == "" {
		return 3
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("THRONG_KILL_ROUNDS: %v", err)
	}
	return n
}

func kill(t *testing.T, o killtest.Options) {
	t.Helper()
	o.Seed, o.Log = 1, t.Output()
	report, err := killtest.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *report)
	for _, p := range report.Problems {
		t.Error(p)
	}
	if report.Rounds != o.Rounds || report.Acknowledged < o.Rounds || report.Stored < report.Acknowledged ||
		report.Batches == 0 || report.Deposits == 0 || report.PaidAgain == 0 || report.Moves == 0 || report.States == 0 || report.KillsCaught == 0 ||
		report.Runs == 0 || report.RunsKilled == 0 || report.RunsCompared == 0 || report.RunMoves == 0 || report.Rows == 0 || report.Calls == 0 {
		t.Errorf("too little was looked at: %+v", *report)
	}
}

// TestFindsWhatIsWrong does to copies of the database what a faulty server might,
// and wants it found: and nothing where nothing was done.
func TestFindsWhatIsWrong(t *testing.T) {
	const anAnswer = "(select max(id) from answers where counted)"
	faults := map[string]string{
		"":                               "", // nothing
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

		"a run is lost":                     "update runs set state = 'cancelled' where state = 'done'",
		"a row of a run is lost":            "delete from run_rows where id = (select max(id) from run_rows where state = 'skipped')",
		"a row of a run is another":         "update run_rows set body = replace(body, 'yes', 'no') where id = (select max(id) from run_rows where body like '%yes%')",
		"a row of a run is of another":      "update run_rows set item = item + 1000000 where id = (select min(id) from run_rows)",
		"a row of a run is now skipped":     "update run_rows set state = 'skipped' where id = (select min(id) from run_rows where body like '%0.9%')",
		"a service's row is another":        "update run_rows set body = replace(body, '0.9', '0.8') where id = (select min(id) from run_rows where body like '%0.9%')",
		"a sum is another":                  "update run_rows set origin = 0, body = replace(body, '\"yes\"', '\"yes \"') where log = (select max(log) from run_rows) and body like '%yes%'",
		"a node miscounts":                  "update run_nodes set ok = ok + 1 where name = 'half' and state = 'done'",
		"a node holds what it has done":     "update run_nodes set faults = 1 where name = 'score' and state = 'done'",
		"an item has ended twice":           "update runs set ended = ended + 1 where state = 'done'",
		"an answer counts as another":       "update answers set answer_key = case answer_key when 'yes' then 'no' else 'yes' end where id = (select min(id) from answers where counted)",
		"a task is of another item":         "update tasks set item = item + 1 where id = (select min(id) from tasks where item > 0)",
		"a penalty was reckoned twice":      "update runs set penalty = penalty + 250000 where state = 'done'",
		"a run that nobody started is done": "update runs set id = id + 1000 where state = 'done'",
	}
	names := slices.Sorted(maps.Keys(faults))
	var with []func(string) error
	for _, name := range names {
		with = append(with, func(path string) error { return tamper(t.Context(), path, name, faults[name]) })
	}
	reports, err := killtest.Tampered(t.Context(), killtest.Options{Rounds: 1, Seed: 1, Dir: t.TempDir()}, t.TempDir(), with)
	if err != nil {
		t.Fatal(err)
	}
	if len(reports) != len(faults) {
		t.Fatalf("%d reports of %d faults", len(reports), len(faults))
	}
	for i, name := range names {
		switch problems := reports[i].Problems; {
		case name == "" && len(problems) > 0:
			t.Errorf("nothing was done, and it found %q", problems)
		case name != "" && len(problems) == 0:
			t.Errorf("%s: it was not found", name)
		case name != "":
			t.Logf("%s: %s", name, problems[0])
		}
	}
}

func tamper(ctx context.Context, path, name, text string) error {
	if text == "" {
		return nil
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	result, err := db.ExecContext(ctx, text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return fmt.Errorf("%s: nothing to tamper with: %d rows, %w", name, n, err)
	}
	return nil
}
