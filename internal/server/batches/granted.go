package batches

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
)

// granted returns a pool that is granted to a tenant: that of the id, or the first one for
// 0. Only admins are told of pools that are not.
func (s *Batches) granted(p *access.Principal, tenant crowd.TenantID, id crowd.PoolID) (crowd.PoolID, error) {
	for _, pool := range s.live.List() {
		switch {
		case id != 0 && pool.ID != id:
		case pool.Allows(tenant):
			return pool.ID, nil
		case id != 0 && p.May(access.BatchesEveryPool) == nil:
			return 0, crowd.Fieldf("pool", "%s is not granted to %s: grant it first (throng pool grant %s --tenant %s)", pool.Name, tenant, pool.ID, tenant)
		}
	}
	if id == 0 {
		return 0, crowd.Fieldf("pool", "no pool is granted to %s: an administrator grants one (throng pool grant POOL --tenant %s)", tenant, tenant)
	}
	return 0, crowd.Fieldf("pool", "no such pool")
}
