package access

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// peopleAtOnce is how many people are read at a time.
const peopleAtOnce = 200

// AnotherMay reports whether anybody but some holds a role of a tenant with which they may call an
// operation for it. roles are those that people have made.
func AnotherMay(ctx context.Context, people store.People, roles CustomRoles, o Operation, tenant crowd.TenantID, but ...crowd.WorkerID) (bool, error) {
	for after := crowd.WorkerID(0); ; {
		list, err := people.ListUsers(ctx, tenant, after, peopleAtOnce)
		if err != nil || len(list) == 0 {
			return false, err
		}
		for i := range list {
			after = list[i].ID
			of := Principal{User: list[i], Custom: roles}
			if !slices.Contains(but, after) && of.MayFor(o, tenant) == nil {
				return true, nil
			}
		}
	}
}
