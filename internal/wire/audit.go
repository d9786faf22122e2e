package wire

import (
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// AuditEntry tells of one change, with what is needed to verify it.
type AuditEntry struct {
	Number    int64          `json:"number" doc:"from 1, without gaps, if all may be seen"`
	At        time.Time      `json:"at"`
	Tenant    crowd.TenantID `json:"tenant,omitempty" doc:"whose the thing is; not there: the installation's"`
	Actor     string         `json:"actor,omitempty" doc:"who did it: an id, or of a worker the tenant's pseudonym; not there: the server itself, a provider of accounts with its token, or nobody who had signed in" example:"u2"`
	Token     int64          `json:"token,omitempty" doc:"of the program that did it for them"`
	Operation string         `json:"operation" example:"Batches.Launch"`
	Kind      string         `json:"kind" doc:"of the thing" example:"batch"`
	Object    string         `json:"object,omitempty" doc:"its id, or name" example:"b17"`
	Summary   string         `json:"summary,omitempty" doc:"what was done" example:"launched batch b17"`
	ActorName string         `json:"actor_name,omitempty" doc:"where you may know it; without an actor, the provider of accounts whose token did it"`
	Staff     bool           `json:"staff,omitempty" doc:"the actor runs the installation"`
	Renamed   bool           `json:"renamed,omitempty" doc:"a worker stands in actor or object by the tenant's pseudonym: the hash is of the entry with their id, and salts and digests are not shown"`

	Address string          `json:"address,omitempty" doc:"from which they came; for administrators"`
	Before  json.RawMessage `json:"before,omitempty" doc:"what differs, as it was"`
	After   json.RawMessage `json:"after,omitempty" doc:"what differs, as it became"`

	Salt          string `json:"salt,omitempty"`
	AddressSalt   string `json:"address_salt,omitempty"`
	AddressDigest string `json:"address_digest,omitempty" doc:"stands for an address that was erased, or is not shown"`
	ChangeDigest  string `json:"change_digest,omitempty" doc:"stands for before and after that were erased, or are not shown"`
	Previous      string `json:"previous,omitempty" doc:"hash of the entry before"`
	Hash          string `json:"hash"`
}

// AuditHead is the audit log as it was verified.
type AuditHead struct {
	First  int64  `json:"first" doc:"number of the first entry that there is; 0: there are none"`
	Last   int64  `json:"last"`
	Hash   string `json:"hash,omitempty" doc:"of the last; note it elsewhere now and then"`
	Erased int64  `json:"erased" doc:"entries of which details were erased"`
}
