package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Credentials sign a person in.
type Credentials struct {
	Name     string `json:"name"`
	Password string `json:"password"`
	Code     string `json:"code,omitempty" doc:"of a second factor, which the person holds: the six digits of an authenticator app, or a recovery code"`
}

// Setup uses a one-time link.
type Setup struct {
	Token    string `json:"token" doc:"from the link: …/setup?token=THIS"`
	Password string `json:"password"`
}

// Secret is the secret of a session.
type Secret struct {
	Token string `json:"token" doc:"send it as Authorization: Bearer; it is shown this once"`
}

// Me is who a token stands for.
type Me struct {
	ID      crowd.WorkerID   `json:"id"`
	Name    string           `json:"name"`
	Roles   []string         `json:"roles"`
	Tenants []crowd.TenantID `json:"tenants" doc:"for which you hold a role"`
	Tenant  crowd.TenantID   `json:"tenant,omitempty" doc:"for which things are made where none is named; left out: name one"`
	Pool    crowd.PoolID     `json:"pool,omitempty" doc:"worker of this"`
}

// Token is a token without its secret.
type Token struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	Tenant    crowd.TenantID `json:"tenant,omitempty"`
	Roles     []string       `json:"roles,omitempty"`
	Scopes    []string       `json:"scopes,omitempty" doc:"permissions to which it is limited; absent: all of its owner"`
	Networks  []string       `json:"networks,omitempty" doc:"addresses from which alone it is good"`
	CreatedAt time.Time      `json:"created_at"`
	ExpiresAt time.Time      `json:"expires_at,omitzero" doc:"absent: it is good for ever"`
	Suspended bool           `json:"suspended,omitempty" doc:"its owner is suspended: it is refused, and ends when that is lifted"`
	UsedAt    time.Time      `json:"used_at,omitzero" doc:"when it was used last, to a minute or two; absent: never"`
	MadeWith  int64          `json:"made_with,omitempty" doc:"the token with which it was made; absent: none, or made by an earlier version. It ends when that one is taken away"`
}

// RevokedToken says what ended with a token that was taken away.
type RevokedToken struct {
	EndedWith int `json:"ended_with" doc:"how many tokens and one-time links ended as they were made with it, or with what was"`
}

// OwnedToken is a token and whose it is.
type OwnedToken struct {
	Token
	Owner     crowd.WorkerID `json:"owner"`
	OwnerName string         `json:"owner_name"`
	MadeBy    crowd.WorkerID `json:"made_by,omitempty" doc:"who made it; absent: its owner, or that is not known. It ends when they are suspended or erased"`
	MakerName string         `json:"made_by_name,omitempty"`
	CanRevoke bool           `json:"can_revoke" doc:"you may take it away: you hold all that its owner may do"`
}

// NewPassword changes a password.
type NewPassword struct {
	Old      string `json:"old" doc:"the one that you have"`
	Password string `json:"password" doc:"the new one"`
}

// Address is somebody's e-mail address.
type Address struct {
	Email    string        `json:"email,omitempty"`
	Verified bool          `json:"verified" doc:"it is known to be theirs: else it reserves nothing, links no account elsewhere, and gets no mail of calls"`
	Asked    *AskedAddress `json:"asked,omitempty" doc:"the address at which they are asked whether it is theirs; absent: none is asked"`
	CanAsk   bool          `json:"can_ask" doc:"the server sends mail, so it can ask"`
}

// AskedAddress is an address to which a link was sent, which makes it its owner's.
type AskedAddress struct {
	Address   string    `json:"address"`
	AskedAt   time.Time `json:"asked_at"`
	ExpiresAt time.Time `json:"expires_at" doc:"when the link ends"`
	Mail      string    `json:"mail,omitempty" enum:"queued,sent,failed,dropped" doc:"how the last mail fared"`
}

// NewAddress changes one's address.
type NewAddress struct {
	Address  string `json:"address"`
	Password string `json:"password,omitempty" doc:"that you have, if you have one"`
	Code     string `json:"code,omitempty" doc:"of your second factor, if you hold one: the six digits of an authenticator app, or a recovery code"`
}

// AddressLink is what the link says that was mailed to an address.
type AddressLink struct {
	Token string `json:"token"`
}

// Session is where somebody is signed in.
type Session struct {
	ID        int64     `json:"id"`
	Program   string    `json:"program,omitempty" doc:"that signed in, as it says of itself"`
	Address   string    `json:"address,omitempty" doc:"from which"`
	Current   bool      `json:"current,omitempty" doc:"it is the one with which this was asked"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	UsedAt    time.Time `json:"used_at,omitzero" doc:"when it was used last, to a minute or two; absent: not known"`
}

// SecondFactors is what somebody signs in with besides their password.
type SecondFactors struct {
	Factors       []SecondFactor `json:"factors"`
	RecoveryCodes int            `json:"recovery_codes" doc:"how many are left"`
	Providers     []string       `json:"providers,omitempty" doc:"of accounts, with which they sign in"`
}

// SecondFactor is one of them.
type SecondFactor struct {
	ID        int64     `json:"id"`
	Kind      string    `json:"kind" enum:"totp,passkey"`
	Name      string    `json:"name" doc:"as its owner calls it"`
	CreatedAt time.Time `json:"created_at"`
	UsedAt    time.Time `json:"used_at,omitzero" doc:"when it was used last; absent: never"`
}

// NewToken asks for a token.
type NewToken struct {
	Name        string         `json:"name"`
	Tenant      crowd.TenantID `json:"tenant,omitempty" doc:"limits it to one tenant"`
	Roles       []string       `json:"roles,omitempty" doc:"limits it to some roles"`
	Scopes      []string       `json:"scopes,omitempty" example:"[\"batches.read\"]" doc:"limits it to some permissions of its owner, as these are at each request"`
	LifeSeconds int64          `json:"life_seconds,omitempty" minimum:"1" maximum:"3153600000" doc:"how long it is good; default: 90 days"`
	Forever     bool           `json:"forever,omitempty" doc:"it has no end"`
	Networks    []string       `json:"networks,omitempty" example:"[\"10.0.0.0/8\"]" doc:"limits it to senders with these addresses: an address or a network in CIDR form"`
	For         crowd.WorkerID `json:"for,omitempty" doc:"admins may make tokens for others"`
}

// MadeToken is a new token with its secret.
type MadeToken struct {
	Token
	Secret string `json:"token" doc:"the secret, shown this once"`
}

// User is a person.
type User struct {
	ID             crowd.WorkerID     `json:"id"`
	Name           string             `json:"name"`
	FullName       string             `json:"full_name,omitempty"`
	Email          string             `json:"email,omitempty"`
	EmailVerified  bool               `json:"email_verified" doc:"the address is known to be theirs: else it reserves nothing, links no account elsewhere, and gets no mail of calls"`
	Admin          bool               `json:"admin"`
	Tenants        []crowd.TenantID   `json:"tenants" doc:"requester of these"`
	Roles          []string           `json:"roles" doc:"held besides: viewer for the installation, n1/viewer for the tenant n1"`
	Pool           crowd.PoolID       `json:"pool,omitempty" doc:"worker of this"`
	Suspended      bool               `json:"suspended"`
	SuspendedBy    string             `json:"suspended_by,omitempty" doc:"the provider of accounts that has suspended them, and lifts that; left out: an administrator has, or nobody"`
	HasPassword    bool               `json:"has_password" doc:"they can sign in with a password; else by a provider of accounts only, or they have not used their one-time link yet"`
	Serves         []crowd.TenantID   `json:"serves" doc:"a worker gets the tasks of these tenants only, those that have invited them; empty: of every tenant"`
	Qualifications map[string]int     `json:"qualifications,omitempty" doc:"name to score, 0 to 100: birds is the installation's, north/birds that of the tenant north; a requester sees those of the installation and of their tenants"`
	Prefers        map[string]float64 `json:"prefers,omitempty" doc:"how much they like each pool's work, from 0 to 1, as they have said; others: 0.5"`
	CreatedAt      time.Time          `json:"created_at"`
}

// NewUser asks for a person to be added.
type NewUser struct {
	Name           string             `json:"name" doc:"to sign in with"`
	FullName       string             `json:"full_name,omitempty"`
	Email          string             `json:"email,omitempty"`
	Admin          bool               `json:"admin,omitempty"`
	Tenants        []crowd.TenantID   `json:"tenants,omitempty" doc:"requester of these"`
	Roles          []string           `json:"roles,omitempty" doc:"held besides: viewer for the installation, n1/viewer for the tenant n1"`
	Pool           crowd.PoolID       `json:"pool,omitempty" doc:"worker of this"`
	Qualifications map[string]int     `json:"qualifications,omitempty" doc:"name to score, 0 to 100: birds is the installation's, north/birds (or n1/birds) that of the tenant north"`
	Prefers        map[string]float64 `json:"prefers,omitempty" doc:"of a worker: how much they like each pool's work, from 0 to 1; others: 0.5" example:"{\"p1\": 0.8}"`
}

// MadeUser is a new person with the secret of their one-time link.
type MadeUser struct {
	User
	SetupToken string `json:"setup_token" doc:"for the one-time link …/setup?token=THIS, shown this once"`
	SetupLink  string `json:"setup_link,omitempty" doc:"the link, where the server knows its public address"`
}

// SetupLink is the secret of a one-time link that sets a password.
type SetupLink struct {
	Token string `json:"token" doc:"for the one-time link …/setup?token=THIS, shown this once"`
	Link  string `json:"link,omitempty" doc:"the link, where the server knows its public address"`
}

// UserEdit changes a person; what is left out stays.
type UserEdit struct {
	FullName       *string           `json:"full_name,omitempty"`
	Email          *string           `json:"email,omitempty" doc:"counts as verified, unless email_verified says otherwise"`
	EmailVerified  *bool             `json:"email_verified,omitempty" doc:"whether the address is known to be theirs"`
	Admin          *bool             `json:"admin,omitempty"`
	Tenants        *[]crowd.TenantID `json:"tenants,omitempty"`
	Roles          *[]string         `json:"roles,omitempty" doc:"all that are held besides admin, requester and worker, such as n1/viewer"`
	Pool           *string           `json:"pool,omitempty" doc:"a pool's id, or empty: not a worker"`
	Suspended      *bool             `json:"suspended,omitempty"`
	Serves         *[]crowd.TenantID `json:"serves,omitempty" doc:"the worker gets the tasks of these tenants only; empty: of every tenant"`
	Qualifications *map[string]int   `json:"qualifications,omitempty" doc:"all that they hold, those of tenants too, such as north/birds"`
}

// Tenant is a tenant.
type Tenant struct {
	ID        crowd.TenantID `json:"id"`
	Name      string         `json:"name"`
	Weight    float64        `json:"weight" doc:"share against other tenants"`
	Stopped   bool           `json:"stopped" doc:"emergency stop"`
	CreatedAt time.Time      `json:"created_at"`

	MaxPriority float64 `json:"max_priority" doc:"the highest that its batches may be given"`
}

// NewTenant asks for a tenant to be added.
type NewTenant struct {
	Name          string      `json:"name"`
	Weight        *float64    `json:"weight,omitempty" default:"1"`
	DepositMicros crowd.Money `json:"deposit_micros,omitempty" doc:"money to begin with"`
	MaxPriority   *float64    `json:"max_priority,omitempty" default:"100" doc:"the highest priority that its batches may be given"`
}

// TenantEdit changes a tenant; what is left out stays.
type TenantEdit struct {
	Name    *string  `json:"name,omitempty"`
	Weight  *float64 `json:"weight,omitempty"`
	Stopped *bool    `json:"stopped,omitempty"`

	MaxPriority *float64 `json:"max_priority,omitempty"`
}

// Deposit puts money into a tenant's account.
type Deposit struct {
	AmountMicros crowd.Money `json:"amount_micros" doc:"millionths of the currency; below 0: it is taken out" example:"100000000"`
	Note         string      `json:"note,omitempty"`
}

// Account is a balance with the latest ledger entries.
type Account struct {
	BalanceMicros crowd.Money `json:"balance_micros"`
	Entries       []Entry     `json:"entries"`
}

// Entry is an entry of the ledger.
type Entry struct {
	ID           int64       `json:"id"`
	At           time.Time   `json:"at"`
	Kind         string      `json:"kind" enum:"deposit,reserve,reward,release,waiting,waiting_share,withdrawal"`
	From         string      `json:"from" example:"n3"`
	To           string      `json:"to" example:"b17"`
	AmountMicros crowd.Money `json:"amount_micros"`
	Note         string      `json:"note,omitempty"`

	Author crowd.WorkerID `json:"author,omitzero" doc:"Whose command it follows from; missing if it follows from nobody's, as pay for answers." example:"u2"`
}

// NewTenantSecret is a secret for a tenant's workflows.
type NewTenantSecret struct {
	Value string   `json:"value"`
	Hosts []string `json:"hosts,omitempty" example:"[\"api.example.org\"]" doc:"to which hosts calls may send it: HOST, HOST:PORT or *.NAME; none: to any"`
}

// TenantSecret is a secret of a tenant's workflows, without its value.
type TenantSecret struct {
	Name  string   `json:"name" example:"SCORES"`
	Hosts []string `json:"hosts" doc:"to which hosts calls may send it; none: to any"`
}

// Stop begins or lifts the emergency stop of everything.
type Stop struct {
	Stopped bool `json:"stopped"`
}

// KnownWorker is who a worker of a tenant is.
type KnownWorker struct {
	Worker   string         `json:"worker" doc:"the tenant's pseudonym" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID crowd.WorkerID `json:"worker_id"`
	Name     string         `json:"name"`
}

// Invitation is an invitation to become a worker.
type Invitation struct {
	ID         int64          `json:"id"`
	Tenant     crowd.TenantID `json:"tenant,omitempty" doc:"for which the person is invited"`
	Pool       crowd.PoolID   `json:"pool"`
	Test       int64          `json:"test,omitempty" doc:"to be passed first"`
	Address    string         `json:"address"`
	Note       string         `json:"note,omitempty"`
	Stage      string         `json:"stage" enum:"queued,sent,failed,to hand out,opened,accepted,declined,withdrawn,expired"`
	MailError  string         `json:"mail_error,omitempty" doc:"of the last try to send it"`
	InvitedBy  crowd.WorkerID `json:"invited_by"`
	CreatedAt  time.Time      `json:"created_at"`
	ExpiresAt  time.Time      `json:"expires_at"`
	OpenedAt   time.Time      `json:"opened_at,omitzero"`
	AnsweredAt time.Time      `json:"answered_at,omitzero" doc:"accepted, declined or withdrawn"`
	Worker     string         `json:"worker,omitempty" doc:"the tenant's pseudonym of who has accepted" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID   crowd.WorkerID `json:"worker_id,omitempty" doc:"if you may see who workers are"`
	Token      string         `json:"token,omitempty" doc:"for the link …/invitation?token=THIS; only where the server sends no mail, and only this once"`
	Link       string         `json:"link,omitempty" doc:"the link, where there is a token and the server knows its public address"`
}

// NewInvitations asks for people to be invited.
type NewInvitations struct {
	Pool        crowd.PoolID   `json:"pool"`
	Addresses   []string       `json:"addresses"`
	Tenant      crowd.TenantID `json:"tenant,omitempty" doc:"for which they are invited; requesters of one tenant may leave it out, admins always"`
	Test        int64          `json:"test,omitempty" doc:"the id of a test that they have to pass first"`
	Note        string         `json:"note,omitempty" doc:"to the invited"`
	LifeSeconds int64          `json:"life_seconds,omitempty" minimum:"1" maximum:"3153600000" doc:"how long the links work; default: 14 days"`
}

// Invited reports what became of a list of addresses.
type Invited struct {
	Mail    bool             `json:"mail" doc:"the links are sent by mail; if not, hand them out yourself: each invitation has its token"`
	Invited []Invitation     `json:"invited"`
	Skipped []SkippedAddress `json:"skipped"`
}

// SkippedAddress is an address that was not invited.
type SkippedAddress struct {
	Address string `json:"address"`
	Line    int    `json:"line" doc:"its place in the list, from 1"`
	Why     string `json:"why"`
}

// Offer is an invitation as the invited person sees it.
type Offer struct {
	Pool      string    `json:"pool" doc:"the name of the pool"`
	Tenant    string    `json:"tenant,omitempty" doc:"the name of the tenant for which they are invited"`
	By        string    `json:"by" doc:"who invites"`
	Address   string    `json:"address"`
	Note      string    `json:"note,omitempty"`
	ExpiresAt time.Time `json:"expires_at"`
	Test      *Test     `json:"test,omitempty" doc:"to be passed first"`

	Asks []NamedPool `json:"asks,omitempty" doc:"people move between these pools, or they call only those who like their work enough: say in prefers which you like; left out: neither"`
}

// NamedPool is a pool with its name.
type NamedPool struct {
	ID   crowd.PoolID `json:"id"`
	Name string       `json:"name"`
}

// Acceptance accepts an invitation with the account that one has.
type Acceptance struct {
	Token   string             `json:"token" doc:"from the link: …/invitation?token=THIS"`
	Prefers map[string]float64 `json:"prefers,omitempty" doc:"how much you like each pool's work, from 0 to 1; what you have said of others stays" example:"{\"p1\": 0.8}"`
}

// InvitationToken names an invitation by its link.
type InvitationToken struct {
	Token string `json:"token" doc:"from the link: …/invitation?token=THIS"`
}

// Join accepts an invitation with a new account.
type Join struct {
	Token    string `json:"token" doc:"from the link: …/invitation?token=THIS"`
	Name     string `json:"name" doc:"to sign in with"`
	FullName string `json:"full_name,omitempty"`
	Password string `json:"password"`

	Prefers map[string]float64 `json:"prefers,omitempty" doc:"how much you like each pool's work, from 0 to 1; others: 0.5" example:"{\"p1\": 0.8}"`
}
