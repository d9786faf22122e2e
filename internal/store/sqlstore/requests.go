package sqlstore

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var requests = newTable("requests", "r", `person, tenant, request_key, digest, asked_at, status, withheld, content_type, location, body, rights`, func(r *store.Request) []any {
	return []any{&r.Person, &r.Tenant, &r.Key, &r.Digest, instant{&r.At}, &r.Status, &r.Withheld, &r.ContentType, &r.Location, &r.Body, &r.Rights}
}).orReplace(3)

// effect is requests.insert that leaves what is there, unless it is from before a time.
var effect = requests.insert + ` where requests.asked_at < $12`

// Request implements store.Requests.
func (s *Store) Request(ctx context.Context, key store.RequestKey) (store.Request, error) {
	none := crowd.Errorf(crowd.NotFound, "nothing is kept of the key %q", key.Key)
	r, err := got(ctx, s, requests, none, `where r.person = $1 and r.tenant = $2 and r.request_key in ($3, $4)`, key.Person, key.Tenant, key.Key, erasedKey(key.Key))
	if err == nil {
		r.Key = key.Key
	}
	return r, err
}

// PutRequest implements store.Requests.
func (s *Store) PutRequest(ctx context.Context, r store.Request) error {
	return s.change(ctx, "keep a request", func(ctx context.Context, tx transaction) error {
		if err := there(ctx, tx, r.Person); err != nil {
			return err
		}
		return requests.add(ctx, tx, &r)
	})
}

// keepEffects keeps what is pending of the effects of a context.
func (s *Store) keepEffects(ctx context.Context, tx transaction, pending []*store.Effect) error {
	for _, e := range pending {
		r := store.Request{RequestKey: e.RequestKey, Rights: e.Rights, Digest: e.Digest(), At: e.At, Status: e.Status}
		twice := crowd.Errorf(crowd.Conflict, "a request with the key %q was carried out before", e.Key)
		if err := tx.must(ctx, twice, effect, append(requests.args(&r), micros(e.Forget))...); err != nil {
			return s.missing(err, "there is no user %s", e.Person)
		}
	}
	return nil
}

// DropRequests implements store.Requests.
func (s *Store) DropRequests(ctx context.Context, before time.Time, limit int) (n int, err error) {
	err = s.change(ctx, "drop requests", func(ctx context.Context, tx transaction) error {
		dropped, err := tx.exec(ctx, `delete from requests where (person, tenant, request_key) in
			(select person, tenant, request_key from requests where asked_at < $1 order by asked_at limit $2)`, micros(before), limit)
		n = int(dropped)
		return err
	})
	return n, err
}
