package accounts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/store"
)

// ProvisionedGroup is a group with its members, as its provider keeps it.
type ProvisionedGroup struct {
	store.ProvisionedGroup
	Members []store.Member // by id
}

// Groups lists a provider's groups of which a filter holds, and match if it is not nil; and
// how many there are in all. Members are read for match and the list only if they are
// wanted.
func (s *Provisioning) Groups(ctx context.Context, p *access.Principal, f store.ProvisionedFilter, members bool, match func(*ProvisionedGroup) (bool, error)) (list []ProvisionedGroup, total int, err error) {
	of, err := s.of(p, access.ProvisioningGroups)
	if err != nil {
		return nil, 0, err
	}
	f.Provider = of.Name
	return scan(f, match, func(f store.ProvisionedFilter) ([]ProvisionedGroup, error) {
		all, err := s.store.ListGroups(ctx, f)
		list := make([]ProvisionedGroup, len(all))
		for i := range all {
			if list[i].ProvisionedGroup = all[i]; members && err == nil {
				list[i].Members, err = s.store.GroupMembers(ctx, all[i].ID)
			}
		}
		return list, err
	})
}

// Group returns one of a provider's groups.
func (s *Provisioning) Group(ctx context.Context, p *access.Principal, id int64) (ProvisionedGroup, error) {
	of, err := s.of(p, access.ProvisioningGroup)
	if err != nil {
		return ProvisionedGroup{}, err
	}
	return s.group(ctx, of, id)
}

func (s *Provisioning) group(ctx context.Context, of *oidc.Provider, id int64) (x ProvisionedGroup, err error) {
	list, err := s.store.ListGroups(ctx, store.ProvisionedFilter{Provider: of.Name, ID: id, Limit: 1})
	if err == nil && (len(list) == 0 || id == 0) {
		err = crowd.Errorf(crowd.NotFound, "there is no group with this id")
	}
	if err != nil {
		return x, err
	}
	x.ProvisionedGroup = list[0]
	x.Members, err = s.store.GroupMembers(ctx, id)
	return x, err
}

// AddGroup adds a group. What it makes its members they are when this returns.
func (s *Provisioning) AddGroup(ctx context.Context, p *access.Principal, x ProvisionedGroup) (ProvisionedGroup, error) {
	of, err := s.of(p, access.ProvisioningAddGroup)
	if err != nil {
		return x, err
	}
	s.accounts.writes.Lock()
	defer s.accounts.writes.Unlock()
	now := s.accounts.clock.Time()
	x.ID, x.Provider, x.CreatedAt, x.ChangedAt = 0, of.Name, now, now
	if err := s.validGroup(ctx, &x); err != nil {
		return x, err
	}
	count, err := s.store.CountProvisioned(ctx, of.Name)
	if err == nil && count.Groups >= maxProvisionedGroups {
		err = crowd.Errorf(crowd.TooLarge, "a provider can have %d groups here", maxProvisionedGroups)
	}
	if err != nil {
		return x, err
	}
	if count.Groups == 0 { // from now on no sign-in's claim counts, also of those who are in no group
		s.settleSoon(of)
	}
	members := idsOf(x.Members)
	ctx, act := p.Acting(ctx, access.ProvisioningAddGroup, store.AuditEntry{At: now, Kind: "provisioned"})
	act.After = groupTold{Provider: x.Provider, ExternalID: x.ExternalID, Name: x.Name, Added: members}
	if x.ID, err = s.store.CreateGroup(ctx, x.ProvisionedGroup, members); err != nil {
		return x, err
	}
	s.regroupMembers(ctx, p, of, members, x.ProvisionedGroup)
	x.Members, err = s.store.GroupMembers(ctx, x.ID)
	return x, err
}

// groupTold is what the audit log says of a group.
type groupTold struct {
	Provider, ExternalID, Name string
	Added, Dropped             []int64
}

// ChangeGroup changes a group as it is when nobody else changes it. Of its members only the
// ids count. What it makes those who are added or dropped they are when this returns.
func (s *Provisioning) ChangeGroup(ctx context.Context, p *access.Principal, id int64, change func(*ProvisionedGroup) error) (ProvisionedGroup, error) {
	of, err := s.of(p, access.ProvisioningChangeGroup)
	if err != nil {
		return ProvisionedGroup{}, err
	}
	s.accounts.writes.Lock()
	defer s.accounts.writes.Unlock()
	before, err := s.group(ctx, of, id)
	if err != nil {
		return before, err
	}
	x := before
	if err := change(&x); err != nil {
		return x, err
	}
	add, drop := missing(before.Members, x.Members), missing(x.Members, before.Members)
	renamed := x.Name != before.Name || x.ExternalID != before.ExternalID
	if !renamed && len(add)+len(drop) == 0 {
		return before, nil
	}
	if err := s.validGroup(ctx, &x); err != nil {
		return x, err
	}
	x.ChangedAt = s.accounts.clock.Time()
	ctx, act := p.Acting(ctx, access.ProvisioningChangeGroup, store.AuditEntry{At: x.ChangedAt, Kind: "provisioned", Object: fmt.Sprint(id)})
	act.Before = groupTold{Provider: of.Name, ExternalID: before.ExternalID, Name: before.Name}
	act.After = groupTold{Provider: of.Name, ExternalID: x.ExternalID, Name: x.Name, Added: add, Dropped: drop}
	if err := s.store.UpdateGroup(ctx, x.ProvisionedGroup, add, drop); err != nil {
		return x, err
	}
	touched := append(add, drop...)
	if renamed {
		touched = append(idsOf(x.Members), drop...)
	}
	s.regroupMembers(ctx, p, of, touched, before.ProvisionedGroup, x.ProvisionedGroup)
	x.Members, err = s.store.GroupMembers(ctx, id)
	return x, err
}

// RemoveGroup takes a group away, and from its members what it made them.
func (s *Provisioning) RemoveGroup(ctx context.Context, p *access.Principal, id int64, check func(*ProvisionedGroup) error) error {
	of, err := s.of(p, access.ProvisioningRemoveGroup)
	if err != nil {
		return err
	}
	s.accounts.writes.Lock()
	defer s.accounts.writes.Unlock()
	x, err := s.group(ctx, of, id)
	if err != nil {
		return err
	}
	if err := check(&x); err != nil {
		return err
	}
	// What it made them goes first: of a provider without a group nobody is looked at again.
	members := idsOf(x.Members)
	if err := s.without(ctx, p, of, &x); err != nil {
		s.scheduleRetry(of, err)
		return err
	}
	ctx, act := p.Acting(ctx, access.ProvisioningRemoveGroup, store.AuditEntry{At: s.accounts.clock.Time(), Kind: "provisioned", Object: fmt.Sprint(id)})
	act.Before = groupTold{Provider: of.Name, ExternalID: x.ExternalID, Name: x.Name, Dropped: members}
	if err := s.store.DeleteGroup(ctx, of.Name, id); err != nil {
		s.scheduleRetry(of, err)
		return err
	}
	return nil
}

// without makes the members of a group what their other groups make them.
func (s *Provisioning) without(ctx context.Context, p *access.Principal, of *oidc.Provider, x *ProvisionedGroup) error {
	if !slices.ContainsFunc(namesOf([]store.ProvisionedGroup{x.ProvisionedGroup}), of.Names) {
		return nil
	}
	for _, id := range idsOf(x.Members) {
		list, err := s.store.ListProvisioned(ctx, store.ProvisionedFilter{Provider: of.Name, ID: id, Limit: 1})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		others := func() ([]string, error) {
			in, err := s.store.GroupsOf(ctx, []int64{id})
			return namesOf(slices.DeleteFunc(in[id], func(g store.ProvisionedGroup) bool { return g.ID == x.ID })), err
		}
		leaves, _ := p.Acting(store.WithActs(ctx), access.ProvisioningRegroup, store.AuditEntry{At: s.accounts.clock.Time(), Kind: "user", Object: list[0].User.String()})
		if err := s.accounts.become(leaves, of, list[0].User, true, others); err != nil {
			return fmt.Errorf("regroup %s: %w", list[0].User, err)
		}
	}
	return nil
}

func idsOf(members []store.Member) []int64 {
	ids := make(map[int64]bool, len(members))
	for _, m := range members {
		ids[m.ID] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// missing returns the members of some that are not among others.
func missing(others, some []store.Member) []int64 {
	there := make(map[int64]bool, len(others))
	for _, m := range others {
		there[m.ID] = true
	}
	return slices.DeleteFunc(idsOf(some), func(id int64) bool { return there[id] })
}

// validGroup checks what a provider says of a group.
func (s *Provisioning) validGroup(ctx context.Context, x *ProvisionedGroup) error {
	if x.Name == "" {
		return crowd.Fieldf("displayName", "is missing")
	}
	for _, f := range []struct{ field, text string }{{"displayName", x.Name}, {"externalId", x.ExternalID}} {
		if err := format.ValidLine(f.field, f.text, 200); err != nil {
			return err
		}
	}
	if len(x.Members) > MaxMembers {
		return &crowd.Error{Code: crowd.TooLarge, Field: "members", Message: fmt.Sprintf("a group can have %d members, not %d", MaxMembers, len(x.Members))}
	}
	return s.unique(ctx, "displayName", x.Name, x.ExternalID, x.ID, func(f store.ProvisionedFilter) ([]int64, error) {
		f.Provider = x.Provider
		list, err := s.store.ListGroups(ctx, f)
		ids := make([]int64, len(list))
		for i := range list {
			ids[i] = list[i].ID
		}
		return ids, err
	})
}

// regroupMembers makes people what their groups make them now, if one of some groups that
// were changed is among those that make anybody something.
func (s *Provisioning) regroupMembers(ctx context.Context, p *access.Principal, of *oidc.Provider, people []int64, changed ...store.ProvisionedGroup) {
	if !slices.ContainsFunc(namesOf(changed), of.Names) {
		return
	}
	for _, id := range people {
		list, err := s.store.ListProvisioned(ctx, store.ProvisionedFilter{Provider: of.Name, ID: id, Limit: 1})
		if err != nil {
			s.scheduleRetry(of, err)
			return
		}
		if len(list) > 0 {
			s.regroup(ctx, p, of, list[0].User)
		}
	}
}

// namesOf are the names and external ids by which groups can be named in settings.
func namesOf(groups []store.ProvisionedGroup) (names []string) {
	for _, g := range groups {
		names = append(names, g.Name)
		if g.ExternalID != "" {
			names = append(names, g.ExternalID)
		}
	}
	return names
}

// regroup makes a person what the groups of a provider make them now, at once: what they
// hold in a pool that they leave goes to others. What fails is done later.
func (s *Provisioning) regroup(ctx context.Context, p *access.Principal, of *oidc.Provider, id crowd.WorkerID) {
	ctx, _ = p.Acting(store.WithActs(ctx), access.ProvisioningRegroup, store.AuditEntry{At: s.accounts.clock.Time(), Kind: "user", Object: id.String()})
	if err := s.accounts.regroup(ctx, of, id, nil, true); err != nil {
		s.scheduleRetry(of, fmt.Errorf("regroup %s: %w", id, err))
	}
}

// scheduleRetry has Run make people of a provider what their groups make them.
func (s *Provisioning) scheduleRetry(of *oidc.Provider, err error) {
	s.settleSoon(of)
	s.accounts.log.Warn("people are not yet what their groups make them; it is tried again", "provider", of.Name, "err", err)
}

// settleSoon has Run look at all people of a provider. It is not at once, since a provider
// sends people before the groups that they are in: whoever is to be in one keeps what they
// hold meanwhile.
func (s *Provisioning) settleSoon(of *oidc.Provider) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsettle[of.Name] = true
}

// settleEvery is how often Run looks whether there is something to do.
const settleEvery = time.Minute

// Run makes people what their groups make them, of providers where that is not known:
// after a start, whose settings may be new; when something has failed; and when the groups
// of a provider begin to decide for somebody. It returns when ctx is done.
func (s *Provisioning) Run(ctx context.Context) {
	if len(s.accounts.providers) == 0 {
		return
	}
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		s.Settle(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Settle is one look of Run.
func (s *Provisioning) Settle(ctx context.Context) {
	s.mu.Lock()
	names := slices.Sorted(maps.Keys(s.unsettle))
	clear(s.unsettle)
	s.mu.Unlock()
	for _, name := range names {
		s.settle(ctx, name)
	}
}

// settle makes all people of a provider what its groups make them, if it has any.
func (s *Provisioning) settle(ctx context.Context, name string) {
	of, err := s.accounts.provider(name)
	if err != nil {
		return
	}
	has, err := s.accounts.provisionsGroups(ctx, of)
	f := store.ProvisionedFilter{Provider: name, Limit: 500}
	for has && err == nil && ctx.Err() == nil {
		var list []store.Provisioned
		list, err = s.store.ListProvisioned(ctx, f)
		for _, r := range list {
			if ctx.Err() == nil {
				s.settleOne(ctx, of, r.User)
			}
		}
		if f.Offset += len(list); len(list) < f.Limit {
			return
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.scheduleRetry(of, err)
	}
}

// settleOne makes one person what the groups make them, between two changes by the provider:
// within one that takes somebody out, they still are in groups that they have to leave.
func (s *Provisioning) settleOne(ctx context.Context, of *oidc.Provider, id crowd.WorkerID) {
	s.accounts.writes.Lock()
	defer s.accounts.writes.Unlock()
	s.regroup(ctx, &access.Principal{}, of, id)
}

// provisionsGroups reports whether a provider keeps any group here.
func (s *Accounts) provisionsGroups(ctx context.Context, of *oidc.Provider) (bool, error) {
	list, err := s.store.ListGroups(ctx, store.ProvisionedFilter{Provider: of.Name, Limit: 1})
	return len(list) > 0, err
}

// groupsOf returns the groups of a person at a provider: those that it keeps here, if it
// keeps any and the person, or else those that were claimed when they signed in.
func (s *Accounts) groupsOf(ctx context.Context, of *oidc.Provider, id crowd.WorkerID, claimed []string) ([]string, error) {
	has, err := s.provisionsGroups(ctx, of)
	if err != nil || !has {
		return claimed, err
	}
	list, err := s.store.ListProvisioned(ctx, store.ProvisionedFilter{Provider: of.Name, User: id, Limit: 1})
	if err != nil || len(list) == 0 {
		return claimed, err
	}
	groups, err := s.store.GroupsOf(ctx, []int64{list[0].ID})
	return namesOf(groups[list[0].ID]), err
}

// mayLose checks that somebody can be taken from the administrators by a provider: not
// the last one who is not suspended.
func (s *Accounts) mayLose(ctx context.Context, u *store.User) error {
	if !acts(u) {
		return nil
	}
	another, err := s.anotherAdmin(ctx, u.ID)
	if err == nil && !another {
		err = errLastAdmin
	}
	return err
}

var errLastAdmin = crowd.Errorf(crowd.Conflict, "this is the last administrator: a provider can neither suspend them nor take the role away. Make another one, who signs in with a password")

// errSame says that a change changes nothing, so that nothing is kept.
var errSame = errors.New("nothing differs")

func unlessSame(err error) error {
	if errors.Is(err, errSame) {
		return nil
	}
	return err
}
