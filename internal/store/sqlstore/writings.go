package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"html"
	"iter"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// writing is where texts of a kind are.
type writing struct {
	kind store.Writing
	// columns have the texts, and those of no other kind: the test of personal knows it by that.
	columns string
	// all selects id, number, time, tenant, text and author, of person $1 with the addresses $2.
	all string
	// others is whether it has what others wrote alone: what the person wrote is deleted anyway.
	others bool
	// text and replace read author and text, and replace it by $3 and its key by $4: of id $1 and number $2.
	text, replace string
	// notes is whether the audit log says it, too, as a note; stored, whether its bytes are counted.
	notes, stored bool
}

// ofTasks are texts in the column body of a table whose key is a task or an assignment.
func ofTasks(kind store.Writing, table, key, number, at, author, where, deleted string) writing {
	w := writing{kind: kind, columns: table + ".body", others: deleted != "", stored: true}
	one := ` where ` + key + ` = $1 and ` + number + ` = $2` + where
	w.text = `select ` + author + `, body from ` + table + one
	w.replace = `update ` + table + ` set body = $3` + one
	w.all = `select x.` + key + `, ` + number + `, ` + at + `, b.tenant, x.body, ` + author + ` from ` + table + ` x join batches b on b.id = x.` + key + ` >> 32
		where x.body <> ''` + where
	if deleted != "" {
		w.all += ` and not ` + deleted
	}
	w.all += ` order by 1, 2`
	return w
}

func ofPay(kind store.Writing) writing {
	return ofTasks(kind, "pay_texts", "assignment", "0", "said_at", "author", ` and kind = '`+string(kind)+`'`, payTexts)
}

// commentsOfReviews are those with which labels were sent back, those within their grace among them, which count
// before any is deleted.
func commentsOfReviews() writing {
	w := ofTasks(store.WrittenComment, "sent_back", "review", "0", "sent_at", "worker", "", "("+ofWorker+")")
	w.all = `select x.review, 0, x.sent_at, b.tenant, x.body, x.worker from sent_back x join batches b on b.id = x.review >> 32 where x.body <> '' and not x.` + ofWorker + `
		union all select a.task, 1, p.answered_at, b.tenant, p.send_back, a.worker from provisional_answers p join assignments a on a.id = p.id join batches b on b.id = p.id >> 32
			where p.send_back <> '' and not a.` + ofWorker + ` order by 1, 2`
	return w
}

// answersOf is the chain of somebody's answers from the last one back.
const answersOf = `with recursive chain (id) as (
		select last_answer from accounts where account = 10 * cast($1 as bigint) + 3 and last_answer <> 0
		union all
		select n.prev_answer from chain c join answers n on n.id = c.id where n.prev_answer <> 0
	) `

// writings are all texts of which it is decided, when somebody is erased, whether they stay.
var writings = []writing{
	{kind: store.WrittenAnswer, columns: "answers.body revisions.body", all: answersOf + `select n.id, 0, n.answered_at, 0, n.body, cast($1 as bigint) from chain c join answers n on n.id = c.id where n.body <> '' order by n.id desc`,
		text: `select 0, body from answers where id = $1`, replace: `update answers set body = $3, answer_key = $4 where id = $1 and $2 = 0`, stored: true},
	{kind: store.WrittenNote, columns: "ledger.note", all: `select id, 0, entered_at, case when source % 10 = 1 then source / 10 when target % 10 = 1 then target / 10 else 0 end, note, author
			from ledger where note <> '' order by id`,
		text: `select author, note from ledger where id = $1`, replace: `update ledger set note = $3 where id = $1 and $2 = 0`, notes: true},
	{kind: store.WrittenInvitation, columns: "invitations.note", all: `select id, 0, created_at, tenant, note, invited_by from invitations
			where note <> '' and not ` + inviteToThem + ` order by id`,
		text: `select invited_by, note from invitations where id = $1`, replace: `update invitations set note = $3 where id = $1 and $2 = 0`, notes: true},
	ofTasks(store.WrittenReply, "replies", "task", "0", "replied_at", "author", "", ""),
	commentsOfReviews(),
	ofTasks(store.WrittenReport, "reports", "assignment", "0", "reported_at", "worker", "", "("+ofWorker+")"),
	ofTasks(store.WrittenCorrection, "corrections", "task", "number", "corrected_at", "corrected_by", "", "(corrected_by = $1)"),
	ofPay(store.WrittenRefusal), ofPay(store.WrittenAppeal), ofPay(store.WrittenDecision),
}

func writingOf(kind store.Writing) *writing {
	if i := slices.IndexFunc(writings, func(w writing) bool { return w.kind == kind }); i >= 0 {
		return &writings[i]
	}
	return nil
}

// WrittenTexts implements store.PersonalData.
func (s *Store) WrittenTexts(ctx context.Context, id crowd.WorkerID, others bool) iter.Seq2[store.WrittenText, error] {
	return func(yield func(store.WrittenText, error) bool) {
		err := s.consistentLong(ctx, "read what a person wrote", func(ctx context.Context, tx *sql.Tx) error {
			who, err := tracesOf(ctx, tx, id)
			if err != nil {
				return err
			}
			revisions, err := revisionsBy(ctx, tx, id)
			if err != nil {
				return err
			}
			for i := range writings {
				w := &writings[i]
				if w.others && !others {
					continue
				}
				if err := each(ctx, tx, func(r row) error {
					x := store.WrittenText{Kind: w.kind}
					if err := r.Scan(&x.ID, &x.N, instant{&x.At}, &x.Tenant, &x.Text, &x.By); err != nil {
						return err
					}
					if x.Others = x.By != id; w.kind == store.WrittenAnswer {
						x.Batch, x.Revisions = crowd.AssignmentID(x.ID).Batch(), revisions[x.ID]
					}
					if x.Others && !(others && who.in(x.Text)) {
						return nil
					}
					if !yield(x, nil) {
						return errEnough
					}
					return nil
				}, w.all, arguments(w.all, int64(id), who.addressesAsText())...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(store.WrittenText{}, err)
		}
	}
}

// revisionsBy has what of somebody's answers does not count, since they have revised them.
func revisionsBy(ctx context.Context, tx *sql.Tx, id crowd.WorkerID) (map[int64][]store.Revision, error) {
	of := make(map[int64][]store.Revision)
	err := each(ctx, tx, func(r row) error {
		var x revisionOf
		err := scanRevision(r, &x)
		of[int64(x.id)] = append(of[int64(x.id)], x.Revision)
		return err
	}, answersOf+`select v.id, v.number, v.given_at, v.answer_key, v.body from chain c join revisions v on v.id = c.id where v.body <> '' order by v.id, v.number`, id)
	return of, err
}

// ReplaceTexts implements store.PersonalData.
func (s *Store) ReplaceTexts(ctx context.Context, list []store.NewText) (labels []store.NewLabel, err error) {
	err = s.change(ctx, "replace texts", func(ctx context.Context, tx transaction) error {
		labels = nil // of a try that failed
		var withheld []string
		for i := range list {
			was, err := replaceText(ctx, tx, &list[i], &labels)
			if err != nil {
				return err
			}
			if list[i].Others {
				withheld = append(withheld, textForms(was)...)
			}
		}
		if len(withheld) == 0 {
			return nil
		}
		return withhold(ctx, tx, func(crowd.TenantID) []string { return withheld })
	})
	if err != nil {
		return nil, err
	}
	return labels, nil
}

// replaceText replaces a text, wherever else it is, and returns what it was.
func replaceText(ctx context.Context, tx transaction, x *store.NewText, labels *[]store.NewLabel) (string, error) {
	w, none := writingOf(x.Kind), crowd.Errorf(crowd.NotFound, "there is no %s %d", x.Kind, x.ID)
	if w == nil {
		return "", none
	}
	if x.Kind == store.WrittenAnswer {
		l, replaced, err := replaceLabel(ctx, tx, *x)
		if err != nil {
			return "", err
		}
		if replaced {
			*labels = append(*labels, l)
		}
		if err := dropRevisions(ctx, tx, x.ID); err != nil {
			return "", err
		}
	}
	type said struct {
		author crowd.WorkerID
		text   string
	}
	was, err := first(ctx, tx, none, func(r row, n *said) error { return r.Scan(&n.author, &n.text) }, w.text, arguments(w.text, x.ID, int64(x.N))...)
	if err != nil || x.Kind != store.WrittenAnswer && (was.text == "" || was.text == x.Text) {
		return was.text, err
	}
	if w.stored { // no quota refuses it: it is a person's right
		tenant, err := first(ctx, tx, none, number[crowd.TenantID], `select tenant from batches where id = cast($1 as bigint) >> 32`, x.ID)
		if err == nil {
			_, err = grow(ctx, tx, tenant, store.StoredBytes, int64(len(x.Text)-len(was.text)))
		}
		if err != nil {
			return "", err
		}
	}
	if w.notes {
		if err := eraseAuditNote(ctx, tx, was.author, was.text); err != nil {
			return "", err
		}
	}
	if x.Kind == store.WrittenInvitation { // letters have it, too
		if _, err := tx.exec(ctx, `update messages set body = replace(body, $2, $3) where invitation = $1`, x.ID, was.text, x.Text); err != nil {
			return "", err
		}
	}
	return was.text, tx.must(ctx, none, w.replace, arguments(w.replace, x.ID, int64(x.N), x.Text, x.Key)...)
}

// dropRevisions deletes what of an answer does not count, since it was revised.
func dropRevisions(ctx context.Context, tx transaction, id int64) error {
	bytes, err := scalar(ctx, tx, `select coalesce(sum(octet_length(body)), 0) from revisions where id = $1`, id)
	if err != nil || bytes == 0 {
		return err
	}
	if _, err := tx.exec(ctx, `update revisions set body = '', answer_key = '' where id = $1`, id); err != nil {
		return err
	}
	tenant, err := scalar(ctx, tx, `select tenant from batches where id = cast($1 as bigint) >> 32`, id)
	if err != nil {
		return err
	}
	_, err = grow(ctx, tx, crowd.TenantID(tenant), store.StoredBytes, -bytes)
	return err
}

// textForms are the ways in which an answer to a request may have a text, in lower case: as plain
// text, in JSON with and without escapes for HTML, and in HTML.
func textForms(text string) (forms []string) {
	inHTML, _ := json.Marshal(text) // of a text there is no error
	for _, form := range []string{text, store.AuditText(text), string(inHTML[1 : len(inHTML)-1]), html.EscapeString(text)} {
		if form = strings.ToLower(form); !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
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
	sure := ``
	if x.Key == "" { // nothing is left that anybody could be sure of
		sure = `, confidence = 0, undecided = true`
	}
	if _, err := tx.exec(ctx, `update labels set value = $2`+sure+` where task = $1`, l.task, x.Key); err != nil {
		return store.NewLabel{}, false, err
	}
	corrections, err := tx.exec(ctx, `update corrections set value = $2 where review = $1 and value = $3`, l.task, x.Key, l.label) // if the task is a review
	if err != nil {
		return store.NewLabel{}, false, err
	}
	_, err = grow(ctx, tx, l.tenant, store.StoredBytes, (1+corrections)*int64(len(x.Key)-len(l.label)))
	return store.NewLabel{Task: crowd.TaskID(l.task), Value: x.Key}, true, err
}
