package wire

import "time"

// Provider is a provider of accounts, which can keep people and groups here by SCIM.
type Provider struct {
	Name      string          `json:"name"`
	Button    string          `json:"button" doc:"what the sign-in page says"`
	People    int             `json:"people" doc:"whom it has provisioned"`
	Suspended int             `json:"suspended" doc:"of them"`
	Groups    int             `json:"groups"`
	ChangedAt time.Time       `json:"changed_at,omitzero" doc:"when it has changed anything last; absent: never"`
	HeardAt   time.Time       `json:"heard_at,omitzero" doc:"when a token of its was used last, to a minute or two; absent: never"`
	Tokens    []ProviderToken `json:"tokens"`
}

// ProviderToken is a token of a provider, without its secret.
type ProviderToken struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Networks  []string  `json:"networks,omitempty" doc:"addresses from which alone it is good"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero" doc:"absent: it is good for ever"`
	UsedAt    time.Time `json:"used_at,omitzero" doc:"when it was used last, to a minute or two; absent: never"`
}

// NewProviderToken asks for a token of a provider.
type NewProviderToken struct {
	Name        string   `json:"name,omitempty" doc:"what it is for"`
	LifeSeconds int64    `json:"life_seconds,omitempty" minimum:"1" maximum:"3153600000" doc:"how long it is good; default: a year"`
	Forever     bool     `json:"forever,omitempty" doc:"it has no end"`
	Networks    []string `json:"networks,omitempty" doc:"limits it to senders with these addresses: an address or a network in CIDR form"`
}

// MadeProviderToken is a new token of a provider with its secret.
type MadeProviderToken struct {
	ProviderToken
	Secret string `json:"token" doc:"the secret, shown this once"`
	URL    string `json:"url,omitempty" doc:"the address to give the provider, where the server knows its public one"`
}
