package audit

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
)

// Config sets up an Audit.
type Config struct {
	Store store.Store
	Log   *slog.Logger
	Clock func() time.Time
	Keep  time.Duration // how long entries are kept; 0: for ever
	Names *pseudonym.Names
}

// Audit is the use case.
type Audit struct {
	store store.Store
	log   *slog.Logger
	clock func() time.Time
	keep  time.Duration
	names *pseudonym.Names
}

// New returns the use case.
func New(cfg Config) *Audit {
	return &Audit{store: cfg.Store, log: cfg.Log, clock: cfg.Clock, keep: cfg.Keep, names: cfg.Names}
}

// Entry is an entry as somebody may see it.
type Entry struct {
	store.AuditEntry
	By      string // the actor's id, or as what worker the reader knows them; "": nobody
	Summary string // what was done, such as "launched batch b3"
	Who     string // name of the actor, where the reader may know it, or of a provider of accounts that acted with its token, or ""
	Staff   bool   // the actor runs the installation, and the reader does not
	// Renamed: the actor or the thing is a worker, who stands here by a pseudonym. The hash
	// is of the entry as it is kept, with an id.
	Renamed bool
}

// Filter says which entries are meant.
type Filter struct {
	store.AuditFilter        // Actor is left out
	By                string // the actor's id, or a worker's pseudonym; "": anybody
}

// Kinds of things, of which entries tell.
const (
	User        = "user"
	Worker      = "worker"
	Token       = "token"
	Session     = "session"
	Tenant      = "tenant"
	Secret      = "secret"
	Pool        = "pool"
	Pools       = "pools"
	Batch       = "batch"
	Run         = "run"
	Service     = "service"
	Test        = "test"
	Invitation  = "invitation"
	Invitations = "invitations"
	Role        = "role"
	Provisioned = "provisioned"
	Log         = "audit"
)

// Kinds lists them.
func Kinds() []string {
	return []string{Log, Batch, Invitation, Invitations, Pool, Pools, Provisioned, Role, Run, Secret, Service, Session, Tenant, Test, Token, User, Worker}
}

// List lists entries. Who may not see all of them sees those of a tenant of theirs.
func (s *Audit) List(ctx context.Context, p *access.Principal, asked Filter) ([]Entry, error) {
	f, some, err := s.filter(p, access.AuditList, asked)
	if err != nil || !some {
		return nil, err
	}
	list, err := s.store.AuditEntries(ctx, f)
	if err != nil {
		return nil, err
	}
	seen := s.reader(p)
	entries := make([]Entry, len(list))
	for i, e := range list {
		if entries[i], err = seen.entry(ctx, e); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// Get returns one entry.
func (s *Audit) Get(ctx context.Context, p *access.Principal, number int64) (Entry, error) {
	if err := p.May(access.AuditGet); err != nil {
		return Entry{}, err
	}
	list, err := s.store.AuditEntries(ctx, store.AuditFilter{Before: number + 1, Limit: 1})
	if err != nil {
		return Entry{}, err
	}
	if len(list) == 0 || list[0].Number != number || p.MayFor(access.AuditGet, list[0].Tenant) != nil {
		return Entry{}, crowd.Errorf(crowd.NotFound, "there is no entry %d", number)
	}
	return s.reader(p).entry(ctx, list[0])
}

// exportPage is how many entries of an export are read at a time.
const exportPage = 500

// Export yields entries, the oldest first, as they can be verified. Those that are added
// meanwhile are in it, too.
func (s *Audit) Export(ctx context.Context, p *access.Principal, asked Filter) (iter.Seq2[Entry, error], error) {
	f, some, err := s.filter(p, access.AuditExport, asked)
	if err != nil {
		return nil, err
	}
	seen := s.reader(p)
	return func(yield func(Entry, error) bool) {
		if !some {
			return
		}
		f.Before, f.After, f.Limit = 0, -1, exportPage
		for {
			list, err := s.store.AuditEntries(ctx, f)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range list {
				f.After = e.Number
				out, err := seen.kept(ctx, e)
				if !yield(out, err) || err != nil {
					return
				}
			}
			if len(list) < exportPage {
				return
			}
		}
	}, nil
}

// Check verifies all of the log.
func (s *Audit) Check(ctx context.Context, p *access.Principal) (store.AuditHead, error) {
	if err := p.May(access.AuditCheck); err != nil {
		return store.AuditHead{}, err
	}
	return s.store.CheckAudit(ctx)
}

// reader shows entries to somebody.
type reader struct {
	store     store.Store
	names     *pseudonym.Names
	p         *access.Principal
	whole     bool // they see everything
	people    map[crowd.WorkerID]*store.User
	providers map[int64]string // of providers, by their tokens
}

func (s *Audit) reader(p *access.Principal) *reader {
	return &reader{store: s.store, names: s.names, p: p, whole: p.May(access.AuditWhole) == nil, people: make(map[crowd.WorkerID]*store.User), providers: make(map[int64]string)}
}

// person returns who has an id, or somebody without a name, of whom nothing is kept.
func (r *reader) person(ctx context.Context, id crowd.WorkerID) (*store.User, error) {
	if r.people[id] == nil {
		u, err := r.store.User(ctx, id)
		if err != nil && crowd.CodeOf(err) != crowd.NotFound {
			return nil, err
		}
		r.people[id] = &u
	}
	return r.people[id], nil
}

// provider returns the name of the provider of accounts that had a token, or "" if the entry that
// tells of the token has lost its details.
func (r *reader) provider(ctx context.Context, token int64) (string, error) {
	if name, known := r.providers[token]; known {
		return name, nil
	}
	list, err := r.store.AuditEntries(ctx, store.AuditFilter{Operation: access.ProvisioningCreateToken.Name, Kind: Token, Object: strconv.FormatInt(token, 10), Limit: 1})
	if err != nil {
		return "", err
	}
	var made struct{ Provider string }
	if len(list) > 0 && len(list[0].After) > 0 {
		if err := json.Unmarshal(list[0].After, &made); err != nil {
			return "", err
		}
	}
	r.providers[token] = made.Provider
	return made.Provider, nil
}

func (r *reader) entry(ctx context.Context, e store.AuditEntry) (Entry, error) {
	out, err := r.kept(ctx, e)
	if err != nil {
		return out, err
	}
	out.Summary = summary(&out.AuditEntry)
	if out.Actor == 0 && out.Token != 0 {
		out.Who, err = r.provider(ctx, out.Token)
		return out, err
	}
	if out.Actor != 0 {
		u, err := r.person(ctx, e.Actor)
		switch {
		case err != nil:
			return Entry{}, err
		case r.whole || memberOf(u, e.Tenant):
			out.Who = u.Name
		default:
			out.Staff = u.RunsInstallation()
		}
	}
	return out, nil
}

// kept is an entry with what of it the reader may see.
func (r *reader) kept(ctx context.Context, e store.AuditEntry) (out Entry, err error) {
	if !r.whole {
		if e, err = r.withheld(ctx, e); err != nil {
			return out, err
		}
	}
	out.AuditEntry = e
	if e.Actor != 0 {
		out.By = e.Actor.String()
	}
	return out, r.rename(&out)
}

// withheld is an entry for a tenant: without the address, and, where who runs the
// installation has made a token, without what the token says of them.
func (r *reader) withheld(ctx context.Context, e store.AuditEntry) (store.AuditEntry, error) {
	e.WithholdAddress()
	if e.Kind == Token {
		u, err := r.person(ctx, e.Actor)
		if err != nil {
			return e, err
		}
		if !memberOf(u, e.Tenant) {
			e.EraseChange()
		}
	}
	return e, nil
}

func memberOf(u *store.User, tenant crowd.TenantID) bool { return slices.Contains(u.StaffOf(), tenant) }
