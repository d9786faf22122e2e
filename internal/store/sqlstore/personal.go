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
	{name: "reports", about: ofWorker, erase: []string{
		`update usage set used = used - (select coalesce(sum(octet_length(x.body)), 0) from reports x join batches b on b.id = x.assignment >> 32 where x.worker = $1 and b.tenant = usage.tenant) where quota = 'stored-bytes'`,
		`update reports set body = '' where worker = $1`}},
	stays("annotations", ofWorker, `id, task, state, assigned_at, expires_at, ended_at, answered, late, counted, paid, answer_key, body, disregarded_at`).named(assignmentID),
	stays("provisional_answers", `exists (select 1 from assignments a where a.id = provisional_answers.id and a.worker = $1)`, `id, answered_at, answer_key, body`).named(assignmentID),
	{name: "corrections", about: `corrected_by = $1`, columns: `task, number, corrected_at, value, withdrawn, body, review`, erase: []string{
		`update usage set used = used - (select coalesce(sum(octet_length(x.body)), 0) from corrections x join batches b on b.id = x.task >> 32 where x.corrected_by = $1 and b.tenant = usage.tenant) where quota = 'stored-bytes'`,
		`update corrections set body = '' where corrected_by = $1`}},
	{name: "pay_texts", about: payTexts, columns: `assignment, kind, said_at, body`, erase: []string{
		`update usage set used = used - (select coalesce(sum(octet_length(x.body)), 0) from pay_texts x join batches b on b.id = x.assignment >> 32
			where (x.author = $1 or x.assignment in (select id from held_pay where worker = $1)) and b.tenant = usage.tenant) where quota = 'stored-bytes'`,
		`update pay_texts set body = '' where ` + payTexts}},
	stays("held_pay", ofWorker, `id, tenant, amount, state, held_at, due_at, closed_at`).named(assignmentID),
	stays("reviews", `decided_by = $1`, `task, review, asked_at, why, verdict, decided_at`),
	stays("quality_actions", `(worker = $1 or undone_by = $1)`, `batch, number, acted_at, rule, holds, kind, body, lessons, figures, seen_at, undone_at`),
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
	nobody("pool_states"), nobody("pools"), nobody("progress"), nobody("provisioned_groups"), nobody("daily_usage"), nobody("quotas"), nobody("usage"), nobody("spent_challenges"), nobody("removals"), nobody("replies"), nobody("retention"), nobody("roles"), nobody("run_faults"), nobody("run_feeds"), nobody("run_nodes"), nobody("run_rows"),
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
		err := s.consistent(ctx, "read what is kept about a person", func(tx *sql.Tx) error {
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
	"task":     func(n int64) string { return crowd.TaskID(n).String() }, "assignment": assignmentID,
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

// WrittenTexts implements store.PersonalData.
func (s *Store) WrittenTexts(ctx context.Context, id crowd.WorkerID, others bool) iter.Seq2[store.WrittenText, error] {
	return func(yield func(store.WrittenText, error) bool) {
		err := s.consistent(ctx, "read what a person wrote", func(tx *sql.Tx) error {
			who, err := tracesOf(ctx, tx, id)
			if err != nil {
				return err
			}
			give := func(r row) error {
				var x store.WrittenText
				var author crowd.WorkerID
				if err := r.Scan(&x.Kind, &x.ID, instant{&x.At}, &x.Tenant, &x.Text, &author); err != nil {
					return err
				}
				if x.Others = author != id; x.Kind == store.WrittenAnswer {
					x.Batch = crowd.AssignmentID(x.ID).Batch()
				}
				if x.Others && !(others && who.in(x.Text)) {
					return nil
				}
				if !yield(x, nil) {
					return errEnough
				}
				return nil
			}
			if err := each(ctx, tx, give, `with recursive chain (id) as (
					select last_answer from accounts where account = 10 * cast($1 as bigint) + 3 and last_answer <> 0
					union all
					select n.prev_answer from chain c join answers n on n.id = c.id where n.prev_answer <> 0
				)
				select 'answer', n.id, n.answered_at, 0, n.body, cast($1 as bigint) from chain c join answers n on n.id = c.id where n.body <> '' order by n.id desc`, id); err != nil {
				return err
			}
			if err := each(ctx, tx, give, `select 'note', id, entered_at, case when source % 10 = 1 then source / 10 when target % 10 = 1 then target / 10 else 0 end, note, author
				from ledger where note <> '' order by id`); err != nil {
				return err
			}
			return each(ctx, tx, give, `select 'invitation', id, created_at, tenant, note, invited_by from invitations
				where note <> '' and not `+inviteToThem+` order by id`, id, who.addressesAsText())
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(store.WrittenText{}, err)
		}
	}
}

// notes reads the texts that the audit log says, too, as notes of their authors.
var notes = map[store.Writing]string{
	store.WrittenNote:       `select author, note from ledger where id = $1`,
	store.WrittenInvitation: `select invited_by, note from invitations where id = $1`,
}

// eraseNote takes a text that is replaced out of the audit log.
func eraseNote(ctx context.Context, tx transaction, none error, x store.NewText) error {
	type note struct {
		author crowd.WorkerID
		text   string
	}
	text := notes[x.Kind]
	if text == "" {
		return nil
	}
	was, err := first(ctx, tx, none, func(r row, n *note) error { return r.Scan(&n.author, &n.text) }, text, x.ID)
	if err != nil || was.text == "" || was.text == x.Text {
		return err
	}
	return eraseAuditNote(ctx, tx, was.author, was.text)
}

var replaceText = map[store.Writing]string{
	store.WrittenAnswer:     `update answers set body = $2, answer_key = $3 where id = $1`,
	store.WrittenNote:       `update ledger set note = $2 where id = $1`,
	store.WrittenInvitation: `update invitations set note = $2 where id = $1`,
}

// ReplaceTexts implements store.PersonalData.
func (s *Store) ReplaceTexts(ctx context.Context, list []store.NewText) (labels []store.NewLabel, err error) {
	err = s.change(ctx, "replace texts", func(ctx context.Context, tx transaction) error {
		labels = nil // of a try that failed
		for _, x := range list {
			text, none := replaceText[x.Kind], crowd.Errorf(crowd.NotFound, "there is no %s %d", x.Kind, x.ID)
			if text == "" {
				return none
			}
			if x.Kind == store.WrittenAnswer {
				l, replaced, err := replaceLabel(ctx, tx, x)
				if err != nil {
					return err
				}
				if replaced {
					labels = append(labels, l)
				}
				if err := chargeReplaced(ctx, tx, none, x); err != nil {
					return err
				}
			}
			if err := eraseNote(ctx, tx, none, x); err != nil {
				return err
			}
			if err := tx.must(ctx, none, text, arguments(text, x.ID, x.Text, x.Key)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return labels, nil
}

// replaceLabel replaces the label of a task that is nobody's answer but the one that is
// replaced, if there is one.
func replaceLabel(ctx context.Context, tx transaction, x store.NewText) (_ store.NewLabel, replaced bool, err error) {
	type made struct {
		task, answers int64
		label         string
		tenant        crowd.TenantID
		disregarded   bool // the answer: the label may be made of those of others who gave the same
	}
	l, there, err := one(ctx, tx, func(r row, l *made) error { return r.Scan(&l.task, &l.answers, &l.label, &l.tenant, &l.disregarded) },
		`select l.task, l.answers, l.value, b.tenant, n.disregarded_at <> 0 from answers n join assignments a on a.id = n.id join labels l on l.task = a.task
			join batches b on b.id = a.task >> 32 where n.id = $1 and n.answer_key = l.value and l.value <> $2`, x.ID, x.Key)
	if err != nil || !there {
		return store.NewLabel{}, false, err
	}
	if l.answers > 1 || l.disregarded {
		begin, end := span(crowd.AssignmentID(x.ID).Batch())
		_, others, err := one(ctx, tx, number[int64], `select a.id from assignments a join answers n on n.id = a.id
			where a.id >= $1 and a.id <= $2 and a.id <> $3 and a.task = $4 and n.counted and n.disregarded_at = 0 and n.answer_key = $5 limit 1`, begin, end, x.ID, l.task, l.label)
		if err != nil || others {
			return store.NewLabel{}, false, err
		}
	}
	if _, err := tx.exec(ctx, `update labels set value = $2 where task = $1`, l.task, x.Key); err != nil {
		return store.NewLabel{}, false, err
	}
	corrections, err := tx.exec(ctx, `update corrections set value = $2 where review = $1 and value = $3`, l.task, x.Key, l.label) // if the task is a review
	if err != nil {
		return store.NewLabel{}, false, err
	}
	_, err = grow(ctx, tx, l.tenant, store.StoredBytes, (1+corrections)*int64(len(x.Key)-len(l.label)))
	return store.NewLabel{Task: crowd.TaskID(l.task), Value: x.Key}, true, err
}

// chargeReplaced counts what an answer is longer or shorter by than the text that takes its
// place. No quota refuses it: it is a person's right.
func chargeReplaced(ctx context.Context, tx transaction, none error, x store.NewText) error {
	tenant, err := first(ctx, tx, none, number[crowd.TenantID], `select tenant from batches where id = cast($1 as bigint) >> 32`, x.ID)
	if err != nil {
		return err
	}
	before, err := first(ctx, tx, none, number[int64], `select octet_length(body) from answers where id = $1`, x.ID)
	if err != nil {
		return err
	}
	_, err = grow(ctx, tx, tenant, store.StoredBytes, int64(len(x.Text))-before)
	return err
}
