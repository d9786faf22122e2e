package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// personalTable says what a table, or a view, keeps about people.
type personalTable struct {
	name    string
	id      func(int64) string // how its column id is shown; nil: as a number
	about   string             // the rows about person $1, with the addresses $2 that are known to be theirs where these are asked for
	columns string             // that are handed out; "": all but the secret ones
	secret  []string           // columns that are not handed out
	erase   []string           // what erasure does, by $1 and $2, and, once for each of their names, $3, each cast where no column tells its type, as far as they are asked for; none: the rows stay
}

// gone deletes the rows about a person.
func gone(table, about string, secret ...string) personalTable {
	return personalTable{name: table, about: about, secret: secret, erase: []string{`delete from ` + table + ` where ` + about}}
}

// stays hands out rows about a person and leaves them as they are: they have no more of
// the person than their number.
func stays(table, about, columns string) personalTable {
	return personalTable{name: table, about: about, columns: columns}
}

// named says how the column id of the table is shown.
func (t personalTable) named(id func(int64) string) personalTable {
	t.id = id
	return t
}

// withoutTexts deletes what the rows of a worker say, each of the batch that a column begins with.
func withoutTexts(table, of string) []string {
	return []string{
		`update usage set used = used - (select coalesce(sum(octet_length(x.body)), 0) from ` + table + ` x join batches b on b.id = x.` + of + ` >> 32 where x.worker = $1 and b.tenant = usage.tenant) where quota = 'stored-bytes'`,
		`update ` + table + ` set body = '' where worker = $1`}
}

// lastGiven is a column of annotations as it is of the answer that was given last.
func lastGiven(column string) string {
	return `coalesce((select v.` + column + ` from revisions v where v.id = annotations.id and v.number = annotations.revised), ` + column + `) as ` + column
}

// nobody is a table without anything about a person, or nothing but numbers of people
// that another table hands out.
func nobody(table string) personalTable { return personalTable{name: table} }

const (
	ofUser   = `user_id = $1`
	ofWorker = `worker = $1`
	payTexts = `(author = $1 or assignment in (select id from held_pay where worker = $1))`
	// inviteToThem asks for $2 as traces.addresses has them.
	inviteToThem = "(worker = $1 or (address_key <> '' and replace($2, '\n' || address_key || '\n', '') <> $2))"
)

// personal has every table of the schema; a test compares it. What has a foreign key comes
// before what it refers to.
var personal = []personalTable{
	{name: "provisioned_members", about: `member in (select id from provisioned_users where user_id = $1)`, columns: `group_id`,
		erase: []string{`delete from provisioned_members where member in (select id from provisioned_users where user_id = $1)`}},
	{name: "provisioned_users", about: ofUser, erase: []string{
		onceProvisioned + `provisioned_users where user_id = $1 group by provider` + orLater,
		`delete from provisioned_users where user_id = $1`}},
	gone("tokens", ofUser+` and kind <> 'provider'`, "hash"), // a provider's is nobody's: their number says who made it
	gone("identities", ofUser),
	gone("factors", ofUser, "secret", "sealed_with", "counter"),
	gone("recovery_codes", ofUser, "hash"),
	gone("push_subscriptions", ofWorker, "auth", "p256dh"),
	gone("asked_addresses", ofUser, "hash"),
	gone("messages", `(`+ofWorker+` or (invitation <> 0 and invitation in (select id from invitations where `+inviteToThem+`)))`, "link"), // who has it would be taken for the one to whom it was sent
	gone("invitations", inviteToThem),
	gone("call_notices", ofWorker),
	gone("duties", ofWorker),
	gone("test_tries", ofWorker),
	gone("requests", `person = $1`, "digest", "body"),
	gone("user_tenants", ofUser),
	gone("user_blocks", ofUser),
	gone("user_roles", ofUser),
	{name: "pool_actions", about: `(worker = $1 or acted_by = $1)`, columns: `pool, acted_at, kind, why`,
		erase: []string{`update pool_actions set why = replace(why, $3, 'somebody who was erased') where worker = $1 and cast($2 as text) is not null`}},
	{name: "users", id: personID, about: `id = $1`, secret: []string{"password_hash", "name_key"}, erase: []string{
		`update users set name = '(erased u' || cast($1 as bigint) || ')', name_key = '(erased u' || cast($1 as bigint) || ')', full_name = '', email = '', email_verified = false, email_by = '', password_hash = '', admin = false, pool = 0,
			suspended = true, suspended_by = '', qualifications = '', prefers = '', away = false, no_mail = false, moves_to = 0, granted = '', home = 0, moved_at = 0, serves = '' where id = $1`}},
	{name: "reports", about: ofWorker, erase: withoutTexts("reports", "assignment")},
	{name: "sent_back", about: ofWorker, erase: withoutTexts("sent_back", "task")},
	// What was answered last is handed out, and in order what was before: whether the first answer counts would tell which tasks were checks.
	stays("annotations", ofWorker, `id, task, state, assigned_at, expires_at, ended_at, answered, late, counted, paid, disregarded_at, revised_at, revised, `+lastGiven("answer_key")+`, `+lastGiven("body")).named(assignmentID),
	stays("revised_answers", `exists (select 1 from assignments a where a.id = revised_answers.id and a.worker = $1) order by id, number`, `id, number, given_at, answer_key, body`).named(assignmentID),
	stays("provisional_answers", `exists (select 1 from assignments a where a.id = provisional_answers.id and a.worker = $1)`, `id, answered_at, answer_key, body, send_back`).named(assignmentID),
	{name: "corrections", about: `corrected_by = $1`, columns: `task, number, corrected_at, value, withdrawn, body, review`, erase: []string{
		`update usage set used = used - (select coalesce(sum(octet_length(x.body)), 0) from corrections x join batches b on b.id = x.task >> 32 where x.corrected_by = $1 and b.tenant = usage.tenant) where quota = 'stored-bytes'`,
		`update corrections set body = '' where corrected_by = $1`}},
	{name: "pay_texts", about: payTexts, columns: `assignment, kind, said_at, body`, erase: []string{
		`update usage set used = used - (select coalesce(sum(octet_length(x.body)), 0) from pay_texts x join batches b on b.id = x.assignment >> 32
			where (x.author = $1 or x.assignment in (select id from held_pay where worker = $1)) and b.tenant = usage.tenant) where quota = 'stored-bytes'`,
		`update pay_texts set body = '' where ` + payTexts}},
	{name: "replies", about: `author = $1`, columns: `task, replied_at, body`, erase: []string{ // staff's stay, or go as is decided
		`update usage set used = used - (select coalesce(sum(octet_length(x.body)), 0) from replies x join batches b on b.id = x.task >> 32 where x.author = $1 and x.by_reviewer and b.tenant = usage.tenant) where quota = 'stored-bytes'`,
		`update replies set body = '' where author = $1 and by_reviewer`}},
	stays("held_pay", ofWorker, `id, tenant, amount, state, held_at, due_at, closed_at`).named(assignmentID),
	stays("reviews", `decided_by = $1`, `task, review, asked_at, why, verdict, decided_at`),
	stays("quality_actions", `(worker = $1 or undone_by = $1)`, `batch, number, acted_at, rule, holds, kind, body, lessons, weight, figures, seen_at, undone_at`),
	stays("task_workers", ofWorker, `task`),
	stays("accounts", `account = 10 * cast($1 as bigint) + 3`, `balance`),
	stays("ledger", `(author = $1 or source = 10 * $1 + 3 or target = 10 * $1 + 3)`, `id, entered_at, kind, source, target, amount, assignment, note`),
	stays("batches", `created_by = $1`, `id, tenant, name, created_at`).named(func(n int64) string { return crowd.BatchID(n).String() }),
	stays("runs", `created_by = $1`, `id, tenant, name, created_at`).named(func(n int64) string { return crowd.RunID(n).String() }),
	stays("tests", `created_by = $1`, `id, tenant, name, created_at`),
	stays("erasures", `person = $1`, ``),
	{name: "audit", about: `(actor = $1 or (kind in ('user', 'worker') and object = 'u' || cast($1 as bigint)))`,
		columns: `number, at, tenant, actor, operation, kind, object, case when actor = $1 then address else '' end as address, before, after`},
	nobody("answers"), nobody("assignments"), nobody("calls"), nobody("counters"), nobody("deletions"), nobody("goose_db_version"), nobody("labels"), nobody("past_rewards"), nobody("pool_samples"),
	nobody("pool_states"), nobody("pools"), nobody("progress"), nobody("provisioned_groups"), nobody("daily_usage"), nobody("quotas"), nobody("usage"), nobody("spent_challenges"), nobody("removals"), nobody("retention"), nobody("revisions"), nobody("roles"), nobody("run_faults"), nobody("run_feeds"), nobody("run_nodes"), nobody("run_rows"),
	nobody("removed_services"), nobody("run_texts"), nobody("secrets"), nobody("services"), nobody("tasks"), nobody("tenant_secrets"), nobody("tenants"), nobody("test_questions"),
}

// arguments are the first of all that a text asks for.
func arguments(text string, all ...any) []any {
	n := 0
	for i := range all {
		if strings.Contains(text, fmt.Sprintf("$%d", i+1)) {
			n = i + 1
		}
	}
	return all[:n]
}

// Personal implements store.PersonalData.
func (s *Store) Personal(ctx context.Context, id crowd.WorkerID) iter.Seq2[store.PersonalRow, error] {
	return func(yield func(store.PersonalRow, error) bool) {
		err := s.consistentLong(ctx, "read what is kept about a person", func(ctx context.Context, tx *sql.Tx) error {
			who, err := tracesOf(ctx, tx, id)
			if err != nil {
				return err
			}
			for _, t := range personal {
				if t.about == "" {
					continue
				}
				columns := t.columns
				if columns == "" {
					columns = "*"
				}
				text := `select ` + columns + ` from ` + t.name + ` where ` + t.about
				rows, err := tx.QueryContext(ctx, text, arguments(text, int64(id), who.addressesAsText())...)
				if err != nil {
					return err
				}
				if err := handOut(rows, &t, yield); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(store.PersonalRow{}, err)
		}
	}
}

func noUser(id crowd.WorkerID) error { return crowd.Errorf(crowd.NotFound, "there is no user %s", id) }

func handOut(rows *sql.Rows, t *personalTable, yield func(store.PersonalRow, error) bool) error {
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	cells, into := make([]any, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		out := store.PersonalRow{Table: t.name, Row: make(map[string]any, len(names))}
		for i, name := range names {
			if slices.Contains(t.secret, name) {
				continue
			}
			if n, isID := cells[i].(int64); isID && name == "id" && t.id != nil {
				out.Row[name] = t.id(n)
			} else if v := shown(name, cells[i]); v != nil {
				out.Row[name] = v
			}
		}
		if !yield(out, nil) {
			return errEnough
		}
	}
	return rows.Err()
}

// idColumns are how columns with ids are shown, as people see them elsewhere.
var idColumns = map[string]func(int64) string{
	"actor": personID, "person": personID, "worker": personID, "user_id": personID, "asked_by": personID, "invited_by": personID, "made_by": personID,
	"tenant": func(n int64) string { return crowd.TenantID(n).String() },
	"pool":   func(n int64) string { return crowd.PoolID(n).String() }, "home": func(n int64) string { return crowd.PoolID(n).String() },
	"moves_to": func(n int64) string { return crowd.PoolID(n).String() },
	"task":     func(n int64) string { return crowd.TaskID(n).String() }, "review": func(n int64) string { return crowd.TaskID(n).String() }, "assignment": assignmentID,
	"source": accountName, "target": accountName,
}

func accountName(key int64) string { return accountOf(key).String() }

func assignmentID(n int64) string { return crowd.AssignmentID(n).String() }

func personID(n int64) string { return crowd.WorkerID(n).String() }

// shown is a cell as it is handed out; nil: there is nothing in it.
func shown(column string, cell any) any {
	if text, ok := cell.([]byte); ok {
		cell = string(text)
	}
	switch v := cell.(type) {
	case int64:
		if column == "at" || strings.HasSuffix(column, "_at") {
			if v == 0 {
				return nil
			}
			return moment(v)
		}
		if name := idColumns[column]; name != nil {
			if v == 0 {
				return nil
			}
			return name(v)
		}
	case string:
		switch {
		case v == "":
			return nil
		case (v[0] == '{' || v[0] == '[') && json.Valid([]byte(v)):
			return json.RawMessage(v)
		}
	}
	return cell
}
