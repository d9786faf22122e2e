package accounts

import (
	"cmp"
	"context"
	"fmt"
	"net/mail"
	"reflect"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/store"
)

// ProvisionedPerson is a person as their provider keeps them.
type ProvisionedPerson struct {
	store.Provisioned
	Active bool                     // they are not suspended
	Groups []store.ProvisionedGroup // only read
}

// of returns the provider that p is, if it may call an operation.
func (s *Provisioning) of(p *access.Principal, o access.Operation) (*oidc.Provider, error) {
	if err := p.May(o); err != nil {
		return nil, err
	}
	return s.accounts.provider(p.Token.Provider)
}

// People lists a provider's people of whom a filter holds, and match if it is not nil; and
// how many there are in all.
func (s *Provisioning) People(ctx context.Context, p *access.Principal, f store.ProvisionedFilter, match func(*ProvisionedPerson) (bool, error)) (list []ProvisionedPerson, total int, err error) {
	of, err := s.of(p, access.ProvisioningPeople)
	if err != nil {
		return nil, 0, err
	}
	plain := store.ProvisionedFilter{Provider: of.Name, Offset: f.Offset, Limit: f.Limit}
	if f.Provider = of.Name; match == nil && f == plain {
		count, err := s.store.CountProvisioned(ctx, of.Name)
		if err != nil {
			return nil, 0, err
		}
		list, err = s.people(ctx, f)
		return list, count.People, err
	}
	return scan(f, match, func(f store.ProvisionedFilter) ([]ProvisionedPerson, error) { return s.people(ctx, f) })
}

// people reads people with their groups.
func (s *Provisioning) people(ctx context.Context, f store.ProvisionedFilter) ([]ProvisionedPerson, error) {
	all, err := s.store.ListProvisioned(ctx, f)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	groups, err := s.store.GroupsOf(ctx, ids)
	list := make([]ProvisionedPerson, len(all))
	for i, r := range all {
		list[i] = ProvisionedPerson{r, !r.Suspended, groups[r.ID]}
	}
	return list, err
}

// Person returns one of a provider's people.
func (s *Provisioning) Person(ctx context.Context, p *access.Principal, id int64) (ProvisionedPerson, error) {
	of, err := s.of(p, access.ProvisioningPerson)
	if err != nil {
		return ProvisionedPerson{}, err
	}
	return s.person(ctx, of, id)
}

// errNobody is the error about who is not a provider's: nobody's, or another's.
var errNobody = crowd.Errorf(crowd.NotFound, "there is nobody with this id")

func (s *Provisioning) person(ctx context.Context, of *oidc.Provider, id int64) (x ProvisionedPerson, err error) {
	list, err := s.people(ctx, store.ProvisionedFilter{Provider: of.Name, ID: id, Limit: 1})
	if err == nil && (len(list) == 0 || id == 0) {
		err = errNobody
	}
	if err != nil {
		return x, err
	}
	return list[0], nil
}

// Add adds somebody. The provider's own account of somebody who has signed in by it before
// becomes theirs, and so does the person of somebody whom it has deleted and adds again
// under the same name and external id; anybody else is made anew.
func (s *Provisioning) Add(ctx context.Context, p *access.Principal, x ProvisionedPerson) (ProvisionedPerson, error) {
	of, err := s.of(p, access.ProvisioningAdd)
	if err != nil {
		return x, err
	}
	s.accounts.writes.Lock()
	defer s.accounts.writes.Unlock()
	now := s.accounts.clock.Time()
	x.ID, x.User, x.Provider, x.CreatedAt, x.ChangedAt, x.Groups = 0, 0, of.Name, now, now, nil
	if err := s.validPerson(ctx, &x); err != nil {
		return x, err
	}
	count, err := s.store.CountProvisioned(ctx, of.Name)
	if err == nil && count.People >= maxProvisioned {
		err = crowd.Errorf(crowd.TooLarge, "a provider can have %d people here", maxProvisioned)
	}
	if err != nil {
		return x, err
	}
	u, err := s.known(ctx, of, &x)
	if err != nil {
		return x, err
	}
	about := store.AuditEntry{At: now, Kind: "user"}
	if u.ID != 0 {
		about.Object = u.ID.String()
	}
	ctx, act := p.Acting(ctx, access.ProvisioningAdd, about)
	act.After = tell(&x)
	if u.ID == 0 {
		x.Provisioned, err = s.create(ctx, &x)
		return x, err
	}
	has, err := s.store.ListProvisioned(ctx, store.ProvisionedFilter{Provider: of.Name, User: u.ID, Limit: 1})
	if err == nil && len(has) > 0 {
		err = &crowd.Error{Code: crowd.Conflict, Field: "externalId", Message: fmt.Sprintf("%q is somebody who is here, by the id %d", x.ExternalID, has[0].ID)}
	}
	if err != nil {
		return x, err
	}
	// They become it first: what fails can be tried again, and the provider says it only once.
	adopts, _ := p.Acting(store.WithActs(ctx), access.ProvisioningAdopt, store.AuditEntry{At: now, Kind: "user", Object: u.ID.String()})
	if x.Suspended, err = s.become(adopts, u.ID, store.Provisioned{}, &x); err != nil {
		return x, err
	}
	x.Active = !x.Suspended
	act.After = tell(&x) // what became: whom somebody else suspended stays so
	if x.Provisioned, err = s.store.CreateProvisioned(ctx, x.Provisioned, u); err == nil {
		s.settleSoon(of) // the groups decide for them now, and not what was claimed at their sign-in
	}
	return x, err
}

// create makes a new person for x.
func (s *Provisioning) create(ctx context.Context, x *ProvisionedPerson) (store.Provisioned, error) {
	a := s.accounts
	a.people.Lock()
	defer a.people.Unlock()
	u := store.User{CreatedAt: x.CreatedAt, Suspended: !x.Active}
	if u.Suspended {
		u.SuspendedBy = x.Provider
	}
	profile(&u, &x.Provisioned)
	var err error
	if u.Name, err = a.freeName(ctx, x.UserName, 0); err != nil {
		return x.Provisioned, err
	}
	if err := a.validUser(ctx, store.User{}, &u); err != nil {
		return x.Provisioned, err
	}
	x.Suspended = u.Suspended
	return s.store.CreateProvisioned(ctx, x.Provisioned, u)
}

// known returns the person here who x is, or none.
func (s *Provisioning) known(ctx context.Context, of *oidc.Provider, x *ProvisionedPerson) (u store.User, err error) {
	if x.ExternalID == "" {
		return u, nil
	}
	if u, err = s.signedIn(ctx, of, x.ExternalID); err != nil || u.ID != 0 {
		return u, err
	}
	was, err := s.store.ListProvisioned(ctx, store.ProvisionedFilter{Provider: of.Name, Name: x.UserName, ExternalID: x.ExternalID, Deleted: true, Limit: 1})
	if err != nil || len(was) == 0 {
		return store.User{}, err
	}
	return s.store.User(ctx, was[0].User)
}

// signedIn returns the person who has signed in by a provider which tells an external id of
// them, or nobody.
func (s *Provisioning) signedIn(ctx context.Context, of *oidc.Provider, externalID string) (u store.User, err error) {
	if of.KnownBySubject() {
		if u, err = s.store.UserByIdentity(ctx, of.Issuer, externalID); crowd.CodeOf(err) == crowd.NotFound {
			err = nil
		}
		return u, err
	}
	list, err := s.store.UsersByExternalID(ctx, of.Issuer, externalID)
	if err == nil && len(list) > 1 {
		err = &crowd.Error{Code: crowd.Conflict, Field: "externalId", Message: fmt.Sprintf("%d people here have signed in with %q: ask an administrator there", len(list), externalID)}
	}
	if err != nil || len(list) == 0 {
		return u, err
	}
	return list[0], nil
}

// moved returns whom x is about after a change of its external id: the person who has signed
// in with that, if nobody has come in as the one who was made for x.
func (s *Provisioning) moved(ctx context.Context, of *oidc.Provider, x *ProvisionedPerson) (crowd.WorkerID, error) {
	u, err := s.signedIn(ctx, of, x.ExternalID)
	if err != nil || u.ID == 0 || u.ID == x.User {
		return x.User, err
	}
	_, err = s.accounts.unused(ctx, of, x.User)
	return u.ID, err
}

// Change changes somebody as they are when nobody else changes them. Who is not active any
// more is suspended: what they hold goes to others at once, and their waiting, sessions and
// tokens end. Who is active again has their suspension lifted, if it was the provider's.
func (s *Provisioning) Change(ctx context.Context, p *access.Principal, id int64, change func(*ProvisionedPerson) error) (ProvisionedPerson, error) {
	of, err := s.of(p, access.ProvisioningChange)
	if err != nil {
		return ProvisionedPerson{}, err
	}
	s.accounts.writes.Lock()
	defer s.accounts.writes.Unlock()
	before, err := s.person(ctx, of, id)
	if err != nil {
		return before, err
	}
	x := before
	if err := change(&x); err != nil {
		return x, err
	}
	if x.Active == before.Active && x.ExternalID == before.ExternalID && x.UserName == before.UserName && reflect.DeepEqual(x.Profile, before.Profile) {
		return before, nil
	}
	if err := s.validPerson(ctx, &x); err != nil {
		return x, err
	}
	x.ChangedAt = s.accounts.clock.Time()
	was := before.Provisioned
	if x.ExternalID != before.ExternalID && x.ExternalID != "" {
		if x.User, err = s.moved(ctx, of, &x); err != nil {
			return x, err
		}
	}
	if x.User != before.User {
		was = store.Provisioned{}
	}
	ctx, act := p.Acting(ctx, access.ProvisioningChange, about(&x))
	act.Before, act.After = tell(&before), tell(&x)
	if x.Suspended, err = s.become(ctx, x.User, was, &x); err != nil {
		return x, err
	}
	if x.Active = !x.Suspended; act.Pending() { // their person is as it was: whom somebody else suspended stays so
		told, become := tell(&before), tell(&x)
		if reflect.DeepEqual(told, become) {
			return before, nil
		}
		act.After = become
	}
	if err := s.store.UpdateProvisioned(ctx, x.Provisioned); err != nil || x.User == before.User {
		return x, err
	}
	s.regroup(ctx, p, of, x.User)
	return x, s.accounts.retire(ctx, of, p, before.User)
}

// Remove takes somebody out of what the provider keeps. Their person stays, suspended and
// without what the provider's groups made them: payments and answers are theirs.
func (s *Provisioning) Remove(ctx context.Context, p *access.Principal, id int64, check func(*ProvisionedPerson) error) error {
	of, err := s.of(p, access.ProvisioningRemove)
	if err != nil {
		return err
	}
	s.accounts.writes.Lock()
	defer s.accounts.writes.Unlock()
	x, err := s.person(ctx, of, id)
	if err != nil {
		return err
	}
	if err := check(&x); err != nil {
		return err
	}
	ctx, act := p.Acting(ctx, access.ProvisioningRemove, about(&x))
	act.Before = tell(&x)
	x.Active = false
	if _, err := s.become(ctx, x.User, x.Provisioned, &x); err != nil {
		return err
	}
	x.DeletedAt = s.accounts.clock.Time()
	x.ChangedAt = x.DeletedAt
	// What the groups gave goes first: afterwards the person is in no list of whom to look at again.
	leaves, _ := p.Acting(store.WithActs(ctx), access.ProvisioningRegroup, store.AuditEntry{At: x.DeletedAt, Kind: "user", Object: x.User.String()})
	if err := s.accounts.become(leaves, of, x.User, true, func() ([]string, error) { return nil, nil }); err != nil {
		return err
	}
	return s.store.UpdateProvisioned(ctx, x.Provisioned)
}

// become makes somebody's person what x says, in place of what was said before, and returns
// whether they are suspended.
func (s *Provisioning) become(ctx context.Context, id crowd.WorkerID, before store.Provisioned, x *ProvisionedPerson) (suspended bool, err error) {
	a := s.accounts
	_, err = a.Change(ctx, id, func(u *store.User) error {
		was := *u
		switch {
		case !x.Active && !u.Suspended:
			if err := a.mayLose(ctx, u); err != nil {
				return err
			}
			u.Suspended, u.SuspendedBy = true, x.Provider
		case x.Active && u.Suspended && u.SuspendedBy == x.Provider:
			u.Suspended, u.SuspendedBy = false, ""
		}
		suspended = u.Suspended
		if !reflect.DeepEqual(x.Profile, before.Profile) || x.UserName != before.UserName {
			profile(u, &x.Provisioned)
		}
		if before.UserName != "" && !strings.EqualFold(x.UserName, before.UserName) && u.PasswordHash == "" {
			if u.Name, err = a.freeName(ctx, x.UserName, id); err != nil {
				return err
			}
		}
		if reflect.DeepEqual(was, *u) {
			return errSame
		}
		return nil
	})
	return suspended, unlessSame(err)
}

// profile gives a person the name and the address that their provider says.
func profile(u *store.User, r *store.Provisioned) {
	x := &r.Profile
	u.FullName = cmp.Or(x.FullName, x.DisplayName, strings.TrimSpace(x.GivenName+" "+x.FamilyName), u.FullName)
	email := ""
	for _, e := range x.Emails {
		if email == "" || e.Primary {
			email = e.Value
		}
	}
	if _, err := mail.ParseAddress(r.UserName); email == "" && err == nil {
		email = r.UserName
	}
	if email == "" {
		return
	}
	if !u.EmailVerified || !format.SameAddress(u.Email, email) { // who keeps people here vouches for their addresses
		u.EmailVerified, u.EmailBy = true, r.Provider
	}
	u.Email = email
}

// about is the audit entry of a change of x, which is one of their person.
func about(x *ProvisionedPerson) store.AuditEntry {
	return store.AuditEntry{At: x.ChangedAt, Kind: "user", Object: x.User.String()}
}

// provisionedTold is what the audit log says of somebody.
type provisionedTold struct {
	Provider, ExternalID, UserName string
	Person                         crowd.WorkerID
	Active                         bool
	Profile                        store.Profile
}

func tell(x *ProvisionedPerson) provisionedTold {
	return provisionedTold{x.Provider, x.ExternalID, x.UserName, x.User, x.Active, x.Profile}
}

const maxProfileEmails = 20

// validPerson checks what a provider says of somebody. The names of fields are those of
// SCIM.
func (s *Provisioning) validPerson(ctx context.Context, x *ProvisionedPerson) error {
	if x.UserName == "" {
		return crowd.Fieldf("userName", "is missing")
	}
	for _, f := range []struct{ field, text string }{
		{"userName", x.UserName}, {"externalId", x.ExternalID}, {"displayName", x.Profile.DisplayName}, {"name.formatted", x.Profile.FullName},
		{"name.givenName", x.Profile.GivenName}, {"name.familyName", x.Profile.FamilyName},
	} {
		if err := format.ValidLine(f.field, f.text, 200); err != nil {
			return err
		}
	}
	if len(x.Profile.Emails) > maxProfileEmails {
		return crowd.Fieldf("emails", "has %d addresses; %d are allowed", len(x.Profile.Emails), maxProfileEmails)
	}
	for _, e := range x.Profile.Emails {
		if a, err := mail.ParseAddress(e.Value); err != nil || a.Address != e.Value || len(e.Value) > 254 {
			return crowd.Fieldf("emails.value", "%.300q is not an address", e.Value)
		}
		if err := format.ValidLine("emails.type", e.Type, 50); err != nil {
			return err
		}
	}
	return s.unique(ctx, "userName", x.UserName, x.ExternalID, x.ID, func(f store.ProvisionedFilter) ([]int64, error) {
		f.Provider = x.Provider
		list, err := s.store.ListProvisioned(ctx, f)
		ids := make([]int64, len(list))
		for i := range list {
			ids[i] = list[i].ID
		}
		return ids, err
	})
}

// unique checks that no other has a name or an external id.
func (s *Provisioning) unique(_ context.Context, field, name, external string, id int64, find func(store.ProvisionedFilter) ([]int64, error)) error {
	for _, x := range []struct {
		field, text string
		f           store.ProvisionedFilter
	}{{field, name, store.ProvisionedFilter{Name: name}}, {"externalId", external, store.ProvisionedFilter{ExternalID: external}}} {
		if x.text == "" {
			continue
		}
		x.f.Limit = 1
		found, err := find(x.f)
		if err != nil {
			return err
		}
		if len(found) > 0 && found[0] != id {
			return &crowd.Error{Code: crowd.Conflict, Field: x.field, Message: fmt.Sprintf("%q is taken, by the id %d", x.text, found[0])}
		}
	}
	return nil
}
