package accounts

import (
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// SetEmail enters an address that administrators vouch for.
func SetEmail(u *store.User, address string) { u.Email, u.EmailVerified = address, true }

// ownName checks the name of somebody for whom no administrator vouches: one that is an
// address would keep its owner from it.
func ownName(u *store.User) error {
	if strings.Contains(u.Name, "@") && (!u.EmailVerified || !strings.EqualFold(u.Name, u.Email)) {
		return crowd.Fieldf("name", "%q is an address, which can be the name only of somebody whose verified address it is: take another name", u.Name)
	}
	return nil
}
