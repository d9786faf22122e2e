package audit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// byWorkers are the operations whose actor is a worker, as the tenant knows them. In the
// entries of others that are a tenant's, the actors are its people, or run the installation.
var byWorkers = []string{access.InvitationsJoin.Name, access.InvitationsAccept.Name}

// rename puts pseudonyms in place of workers in an entry of a tenant, for who may not see
// who they are.
func (r *reader) rename(e *Entry) error {
	seen := r.names.For(r.p, e.Tenant)
	if e.Tenant == 0 || seen.Named() {
		return nil
	}
	if e.Kind == Worker {
		id, err := crowd.ParseWorkerID(e.Object)
		if err != nil {
			return err
		}
		e.Object, e.Renamed = seen.Show(id, "").Pseudonym, true
	}
	if e.Actor != 0 && slices.Contains(byWorkers, e.Operation) {
		e.By, e.Actor, e.Renamed = seen.Show(e.Actor, "").Pseudonym, 0, true
	}
	if e.Kind == Invitation {
		pseudonyms := func(part json.RawMessage) (json.RawMessage, error) {
			return withWorker(part, func(id crowd.WorkerID) string { return seen.Show(id, "").Pseudonym })
		}
		before, err := pseudonyms(e.Before)
		if err != nil {
			return err
		}
		after, err := pseudonyms(e.After)
		if err != nil {
			return err
		}
		e.RewriteChange(before, after)
	}
	if e.Renamed {
		e.WithholdDigests()
	}
	return nil
}

// withWorker returns what an entry says of an invitation, with another text for the worker
// who accepted it. Where there is none, it is the same.
func withWorker(part json.RawMessage, text func(crowd.WorkerID) string) (json.RawMessage, error) {
	var of struct {
		Worker crowd.WorkerID `json:"worker"`
	}
	if json.Unmarshal(part, &of) != nil || of.Worker == 0 {
		return part, nil // there is nothing, or no object
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(part, &fields); err != nil {
		return nil, err
	}
	worker, err := json.Marshal(text(of.Worker))
	if err != nil {
		return nil, err
	}
	fields["worker"] = worker
	return json.Marshal(fields)
}

// check refuses a filter by what there is not: no entry would look like a log in which nothing happened.
func check(f *store.AuditFilter) error {
	if f.Kind != "" && !slices.Contains(Kinds(), f.Kind) {
		return crowd.Fieldf("kind", "there are no entries of the kind %q: there are %s", f.Kind, strings.Join(Kinds(), ", "))
	}
	begins := func(name string) bool { return strings.HasPrefix(name, f.Operation) }
	if !begins(store.RetentionDeleted) && !begins(store.AuditDropped) && !slices.ContainsFunc(access.Operations(), func(o access.Operation) bool { return o.Logged() && begins(o.Name) }) {
		return crowd.Fieldf("operation", "no operation that is logged is called %q, or begins so: operations are called like %s", f.Operation, access.BatchesLaunch.Name)
	}
	return nil
}

// filter returns the filter as p may ask it, and whether any entry can be meant. Who may
// not see who workers are, finds entries about and by workers with pseudonyms only, and
// those about and by others with ids only: so no id leads to a pseudonym.
func (s *Audit) filter(p *access.Principal, o access.Operation, asked Filter) (f store.AuditFilter, some bool, err error) {
	f = asked.AuditFilter
	if err := check(&f); err != nil {
		return f, false, err
	}
	if f.Tenant, err = p.TenantFor(o, f.Tenant); err == nil && f.Address != "" {
		err = p.May(access.AuditWhole)
	}
	if err != nil {
		return f, false, err
	}
	seen := s.names.For(p, f.Tenant)
	named := seen.Named() || f.Tenant == 0
	if asked.By != "" {
		if f.Actor, err = crowd.ParseWorkerID(asked.By); err != nil {
			if f.Actor, err = seen.Find(asked.By); err != nil {
				return f, false, crowd.Fieldf("actor", "%q is nobody's id (they look like u17), nor a pseudonym of a worker of the tenant", asked.By)
			}
			f.Among = byWorkers
		} else if !named {
			f.Except = byWorkers
		}
	}
	if named {
		if id, err := seen.Find(f.Object); err == nil {
			f.Object = id.String()
		}
		return f, true, nil
	}
	kind := Worker
	if _, err := crowd.ParseWorkerID(f.Object); err == nil {
		kind = User
	} else if id, err := seen.Find(f.Object); err == nil {
		f.Object = id.String()
	} else {
		return f, true, nil // about something else
	}
	some = f.Kind == "" || f.Kind == kind
	f.Kind = kind
	return f, some, nil
}
