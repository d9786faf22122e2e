package oidc

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/kit/format"
)

// FuzzClaims: whatever two documents say of somebody, an address is verified only if a document that
// has it says so, and the groups are names, each once.
func FuzzClaims(f *testing.F) {
	f.Add([]byte(`{"email":"a@example.org","email_verified":true}`), []byte(`{"email":"b@example.org"}`), []byte(`["b","a","b"]`))
	f.Add([]byte(`{"email":"a@example.org","email_verified":"true"}`), []byte(`{"email":"A@example.org","name":"Ann"}`), []byte(`"one"`))
	f.Add([]byte(`{"email_verified":1}`), []byte(`{"email_verified":true}`), []byte(`[1]`))
	f.Fuzz(func(t *testing.T, token, info, groups []byte) {
		var first, then about
		if json.Unmarshal(token, &first) == nil && json.Unmarshal(info, &then) == nil {
			says := func(a about, email string) bool { return a.verified() && format.SameAddress(a.Email, email) }
			if all := then.over(first); all.verified() && !says(first, all.Email) && !says(then, all.Email) {
				t.Errorf("%s and %s make %+v", token, info, all)
			}
		}
		if list := namesOf(groups); !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("%s are %q", groups, list)
		}
	})
}
