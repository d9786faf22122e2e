package accounts

import (
	"context"
	"fmt"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// Funds is the tenants' money, as far as it is spent: what was checked to be
// there is spent before anybody else checks.
type Funds struct {
	store store.Store
	mu    sync.Mutex
}

// NewFunds makes it.
func NewFunds(st store.Store) *Funds { return &Funds{store: st} }

// Hold keeps others from spending until release is called.
func (f *Funds) Hold() (release func()) {
	f.mu.Lock()
	return f.mu.Unlock
}

// Balance returns the balance of a tenant.
func (f *Funds) Balance(ctx context.Context, tenant crowd.TenantID) (crowd.Money, error) {
	return f.store.Balance(ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(tenant)})
}

// Suffices checks that a tenant's account has an amount that a batch reserves. The error does not
// tell what it has: people hear of it who may not see the account, also later, as the reason for
// which a step waits.
// The caller holds the funds.
func (f *Funds) Suffices(ctx context.Context, tenant crowd.TenantID, field string, amount crowd.Money) error {
	have, err := f.Balance(ctx, tenant)
	if err != nil {
		return err
	}
	if have < amount {
		return &crowd.Error{Code: crowd.BudgetTooSmall, Field: field,
			Message: fmt.Sprintf("the batch reserves %s, and the tenant's account has less (throng tenant account %s; an admin adds to it with throng tenant deposit %s AMOUNT, or on the tenant's page)", amount, tenant, tenant)}
	}
	return nil
}
