package accounts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// dataCases are the use cases of people's data, a part of Accounts.
type dataCases struct {
	accounts *Accounts
	scans    *limits.Slots
}

// PersonalData returns a person, and everything that is kept about them, table by table.
// One's own, or, for who may erase people, anybody's.
func (part *dataCases) PersonalData(ctx context.Context, p *access.Principal, id crowd.WorkerID) (store.User, iter.Seq2[store.PersonalRow, error], error) {
	s := part.accounts
	u, err := s.personal(ctx, p, access.AccountsPersonalDataOfOthers, id)
	batches := &templates{s: s.store, known: make(map[crowd.BatchID]known)}
	return u, func(yield func(store.PersonalRow, error) bool) {
		end, err := part.scans.Start(ctx, p.User.ID, 0, 1)
		if err != nil {
			yield(store.PersonalRow{}, err)
			return
		}
		defer end()
		for r, err := range s.store.Personal(ctx, id) {
			if err == nil {
				s.renameBlocked(p, u.ID, r)
				hideMailError(p, r)
				if u.ID == p.User.ID {
					hideDecisions(r)
					err = cmp.Or(s.renameTask(ctx, batches, r), unmark(r))
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}, err
}

// hideMailError takes out of a letter how this installation sends mail, unless p may see that.
func hideMailError(p *access.Principal, r store.PersonalRow) {
	why, there := r.Row["error"].(string)
	if r.Table != "messages" || !there {
		return
	}
	state, _ := r.Row["state"].(string)
	r.Row["error"] = mailErrorFor(p, &store.Mailed{State: store.MessageState(state), Error: why})
}

// unmark takes out of somebody's tries at tests which of their answers were right, which they are
// not told: they may try again.
func unmark(r store.PersonalRow) error {
	answers, _ := r.Row["answers"].(json.RawMessage)
	if r.Table != "test_tries" || len(answers) == 0 {
		return nil
	}
	var given map[string]map[string]json.RawMessage
	if err := json.Unmarshal(answers, &given); err != nil {
		return err
	}
	for _, answer := range given {
		delete(answer, "right")
	}
	left, err := json.Marshal(given)
	r.Row["answers"] = json.RawMessage(left)
	return err
}

// hideDecisions takes out of somebody's work what its requesters decided without telling them: that
// an answer, which they were paid for, does not count any more, and why a label was given to them to review.
func hideDecisions(r store.PersonalRow) {
	switch r.Table {
	case "annotations":
		if r.Row["disregarded_at"] != nil {
			switch r.Row["counted"].(type) { // as the database has a yes
			case bool:
				r.Row["counted"] = true
			default:
				r.Row["counted"] = int64(1)
			}
		}
		delete(r.Row, "disregarded_at")
	case "reviews":
		delete(r.Row, "why")
	}
}

// renameTask puts the id by which workers know a task into what they are told of their work: of a
// batch with checks, the numbers would tell which tasks these were.
func (s *Accounts) renameTask(ctx context.Context, batches *templates, r store.PersonalRow) error {
	switch r.Table {
	case "annotations", "task_workers", "reviews":
	case "corrections": // of a reviewer; staff know the task by its own number
		if r.Row["review"] == nil {
			return nil
		}
	default:
		return nil
	}
	id, err := crowd.ParseTaskID(fmt.Sprint(r.Row["task"]))
	if err != nil {
		return err
	}
	b, err := batches.of(ctx, id.Batch())
	if err == nil && b.checks {
		r.Row["task"] = s.names.Task(id).String()
	}
	return err
}

// renameBlocked puts a pseudonym into an entry of the audit log which says that a person
// blocked a worker of a tenant.
func (s *Accounts) renameBlocked(p *access.Principal, of crowd.WorkerID, r store.PersonalRow) {
	if r.Table != "audit" || r.Row["kind"] != "worker" {
		return
	}
	tenant, noTenant := crowd.ParseTenantID(fmt.Sprint(r.Row["tenant"]))
	worker, noWorker := crowd.ParseWorkerID(fmt.Sprint(r.Row["object"]))
	if seen := s.names.For(p, tenant); noTenant == nil && noWorker == nil && worker != of && !seen.Named() {
		r.Row["object"] = seen.Show(worker, "").Pseudonym
	}
}

// personal returns a person of whom p may see or do what o says: themself, with all their
// rights, or another.
func (s *Accounts) personal(ctx context.Context, p *access.Principal, o access.Operation, id crowd.WorkerID) (store.User, error) {
	switch {
	case id == p.User.ID && p.Limited():
		return store.User{}, crowd.Errorf(crowd.Forbidden, "a limited token is not good for this: come with a session, or with a token that is not limited")
	case id != p.User.ID && p.May(o) != nil:
		return store.User{}, s.mayNot(ctx, p, o, id)
	}
	u, err := s.store.User(ctx, id)
	if err == nil && id != p.User.ID {
		err = s.mayAct(ctx, p, &u)
	}
	return u, err
}

// mayNot is the error about an operation on a person, whom p is not, that p may not call: who sees
// the person among all people, or among those of a tenant, is told what they lack; others learn of
// nobody.
func (s *Accounts) mayNot(ctx context.Context, p *access.Principal, o access.Operation, id crowd.WorkerID) error {
	if p.May(access.AccountsOtherUser) == nil {
		return p.May(o)
	}
	u, err := s.store.User(ctx, id)
	switch {
	case err != nil && crowd.CodeOf(err) != crowd.NotFound:
		return err
	case err == nil && slices.ContainsFunc(u.StaffOf(), func(t crowd.TenantID) bool { return p.MayFor(access.AccountsUsers, t) == nil }):
		return p.May(o)
	}
	return errNoUser
}

// FreeText is a text of which it has to be decided, when a person is erased, whether it
// stays.
type FreeText struct {
	store.WrittenText
	ID    string   // by which it is chosen
	Texts []string // what was written
}

// Findings is what is found of a person who is to be erased.
type Findings struct {
	User    store.User
	Balance crowd.Money // earned, what is held for approval among it
	Texts   []FreeText  // the first of them
	Count   int         // of all
}

// textsShown bounds the texts that are listed at once.
const textsShown = 1000

// BeforeErasure says what would become of a person who is erased, and why they cannot be,
// as the error. One's own, or, for who may erase people, anybody's.
func (part *dataCases) BeforeErasure(ctx context.Context, p *access.Principal, id crowd.WorkerID) (*Findings, error) {
	s := part.accounts
	u, err := s.personal(ctx, p, access.AccountsEraseOthers, id)
	if err != nil {
		return nil, err
	}
	if err := s.erasable(ctx, &u); err != nil {
		return nil, err
	}
	f := &Findings{User: u}
	if f.Balance, err = s.earned(ctx, id); err != nil {
		return nil, err
	}
	for x, err := range s.freeTexts(ctx, id, p.User.ID) {
		if err != nil {
			return nil, err
		}
		if f.Count++; len(f.Texts) < textsShown {
			f.Texts = append(f.Texts, x)
		}
	}
	return f, nil
}

// earned is what somebody has been paid, and what of their pay is held and may yet be.
func (s *Accounts) earned(ctx context.Context, id crowd.WorkerID) (crowd.Money, error) {
	paid, err := s.store.Balance(ctx, engine.Account{Kind: engine.WorkerAccount, ID: int64(id)})
	if err != nil {
		return 0, err
	}
	held, err := s.store.PaySums(ctx, id)
	return paid + held.Awaiting + held.Refused, err
}

// erasable refuses to erase who was erased, and the last who may run the installation.
func (s *Accounts) erasable(ctx context.Context, u *store.User) error {
	if !u.ErasedAt.IsZero() {
		return errErased(u)
	}
	if !u.Admin {
		return nil
	}
	return s.keepsAdmin(ctx, u)
}

func errErased(u *store.User) error {
	return crowd.Errorf(crowd.Conflict, "%s was erased on %s", u.ID, u.ErasedAt.UTC().Format("2 January 2006"))
}

// freeTexts yields the texts of which it has to be decided whether they stay. What others wrote is
// not for the person themself to read or delete: it has their name, which they choose.
func (s *Accounts) freeTexts(ctx context.Context, id, askedBy crowd.WorkerID) iter.Seq2[FreeText, error] {
	return func(yield func(FreeText, error) bool) {
		templates := &templates{s: s.store, known: make(map[crowd.BatchID]known)}
		for x, err := range s.store.WrittenTexts(ctx, id, askedBy != id) {
			f := FreeText{WrittenText: x, ID: textID(&x), Texts: x.Given()}
			if err == nil && x.Kind == store.WrittenAnswer {
				var t known
				if t, err = templates.of(ctx, x.Batch); t.compiled != nil {
					f.Texts = nil
					for _, given := range x.Given() {
						f.Texts = append(f.Texts, t.compiled.FreeText(given)...)
					}
				}
				f.Tenant = t.tenant
			}
			if (err != nil || len(f.Texts) > 0) && !yield(f, err) {
				return
			}
		}
	}
}

// textID names a text.
func textID(x *store.WrittenText) string {
	id := strconv.FormatInt(x.ID, 10)
	switch x.Kind {
	case store.WrittenAnswer, store.WrittenReport, store.WrittenRefusal, store.WrittenAppeal, store.WrittenDecision:
		id = crowd.AssignmentID(x.ID).String()
	case store.WrittenReply, store.WrittenComment:
		id = crowd.TaskID(x.ID).String()
	case store.WrittenCorrection:
		id = fmt.Sprintf("%s-%d", crowd.TaskID(x.ID), x.N)
	}
	return string(x.Kind) + ":" + id
}

// templates are those of batches, which say what of an answer is free text.
type templates struct {
	s     store.Store
	known map[crowd.BatchID]known
}

type known struct {
	tenant   crowd.TenantID
	pool     crowd.PoolID
	compiled *task.Compiled // nil: it cannot be read, and the whole answer is a text
	checks   bool           // its tasks have other numbers for workers
}

func (t *templates) of(ctx context.Context, id crowd.BatchID) (known, error) {
	if k, there := t.known[id]; there {
		return k, nil
	}
	b, err := t.s.Batch(ctx, 0, id)
	if err != nil {
		return known{}, err
	}
	k := known{tenant: b.Spec.Tenant, pool: b.Pool, checks: b.Spec.Checks != nil}
	k.compiled, _ = input.Compile(b.Template) // kept by a version that took it, perhaps
	t.known[id] = k
	return k, nil
}

// FreeTextChoice is what becomes of what somebody wrote, when they are erased.
type FreeTextChoice string

// The choices.
const (
	KeepText   FreeTextChoice = "keep"
	DeleteText FreeTextChoice = "delete"
)

// ErasureOrder says how somebody is erased.
type ErasureOrder struct {
	Confirm  string         // their name
	FreeText FreeTextChoice // "": there is none
	But      []string       // ids of texts for which the other choice holds
	Settled  bool           // what they have earned was paid to them, or they give it up
}

// check refuses an order that is not whole, given what was found.
func (o *ErasureOrder) check(f *Findings) error {
	switch {
	case o.FreeText != "" && o.FreeText != KeepText && o.FreeText != DeleteText:
		return crowd.Fieldf("free_text", "%q is neither keep nor delete", o.FreeText)
	case o.FreeText == "" && (f.Count > 0 || len(o.But) > 0):
		return crowd.Fieldf("free_text", "they wrote, or are named in, %d texts: say keep or delete, for all but those that you name", f.Count)
	case !strings.EqualFold(o.Confirm, f.User.Name):
		return crowd.Fieldf("confirm", "it cannot be undone: give the name of the person, %s, to confirm it", f.User.Name)
	case f.Balance > 0 && !o.Settled:
		return &crowd.Error{Code: crowd.Conflict, Field: "settled", Message: fmt.Sprintf("%s has earned %s, and afterwards nobody will know to whom it is owed: pay it, then say that it is settled", f.User.Name, f.Balance)}
	}
	return nil
}
