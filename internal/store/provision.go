package store

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Provisioned is what a provider of accounts says of a person, by SCIM.
type Provisioned struct {
	ID         int64 // unique among these and groups
	Provider   string
	User       crowd.WorkerID // the person
	ExternalID string         // who they are at the provider, which has no two of them; "": not said
	UserName   string         // unique at the provider, compared without case
	Profile    Profile
	CreatedAt  time.Time
	ChangedAt  time.Time
	DeletedAt  time.Time // zero: the provider has them

	Suspended bool // the person is; only read
}

// Profile is who somebody is, as a provider says.
type Profile struct {
	DisplayName string         `json:"display_name,omitempty"`
	FullName    string         `json:"full_name,omitempty"`
	GivenName   string         `json:"given_name,omitempty"`
	FamilyName  string         `json:"family_name,omitempty"`
	Emails      []ProfileEmail `json:"emails,omitempty"`
}

// ProfileEmail is an address of a Profile.
type ProfileEmail struct {
	Value   string `json:"value"`
	Type    string `json:"type,omitempty"`
	Primary bool   `json:"primary,omitempty"`
}

// ProvisionedGroup is a group of people at a provider.
type ProvisionedGroup struct {
	ID         int64 // unique among these and people
	Provider   string
	ExternalID string // what it is at the provider, which has no two of them; "": not said
	Name       string // unique at the provider, compared without case
	CreatedAt  time.Time
	ChangedAt  time.Time
}

// ProvisionedFilter says which people or groups of a provider are meant; zero fields leave
// it open.
type ProvisionedFilter struct {
	Provider   string
	ID         int64
	Name       string // UserName, or of a group Name
	ExternalID string
	User       crowd.WorkerID // of people
	Deleted    bool           // of people: those that were deleted, and no others
	Offset     int
	Limit      int
}

// ProvisionedCount is how much a provider has provisioned.
type ProvisionedCount struct {
	People    int
	Suspended int // of them
	Groups    int
	ChangedAt time.Time // when the last of all that was changed, or deleted
}

// Member is a member of a group: a Provisioned and its name.
type Member struct {
	ID   int64
	Name string
}

// Provisioning keeps what providers of accounts say of people and their groups. What is
// another provider's is not found.
type Provisioning interface {
	// CreateProvisioned keeps r under a new id, with u as its person: a user without id is
	// kept under a new one. It returns r with both. A name or an external id that the
	// provider has, or a person whom it has, is a Conflict.
	CreateProvisioned(ctx context.Context, r Provisioned, u User) (Provisioned, error)
	// UpdateProvisioned replaces all that is kept of r.ID, which was not deleted before. Who
	// is deleted is in no group any more, which changes the groups.
	UpdateProvisioned(ctx context.Context, r Provisioned) error
	// ListProvisioned lists people in order of id.
	ListProvisioned(ctx context.Context, f ProvisionedFilter) ([]Provisioned, error)
	// CountProvisioned counts what a provider has.
	CountProvisioned(ctx context.Context, provider string) (ProvisionedCount, error)

	// CreateGroup keeps g under a new id, which it returns. A name or an external id that
	// the provider has is a Conflict, and a member that it does not have NotFound.
	CreateGroup(ctx context.Context, g ProvisionedGroup, members []int64) (int64, error)
	// UpdateGroup replaces what is kept of g.ID, and changes its members: those that are
	// added twice, or dropped and not there, make no difference.
	UpdateGroup(ctx context.Context, g ProvisionedGroup, add, drop []int64) error
	DeleteGroup(ctx context.Context, provider string, id int64) error
	// ListGroups lists groups in order of id.
	ListGroups(ctx context.Context, f ProvisionedFilter) ([]ProvisionedGroup, error)
	// GroupMembers lists the members of a group in order of id.
	GroupMembers(ctx context.Context, group int64) ([]Member, error)
	// GroupsOf returns the groups in which people are, by the ids of these.
	GroupsOf(ctx context.Context, people []int64) (map[int64][]ProvisionedGroup, error)

	// ProviderTokens lists the tokens of a provider in order of id.
	ProviderTokens(ctx context.Context, provider string) ([]Token, error)
}
