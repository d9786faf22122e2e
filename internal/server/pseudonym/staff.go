package pseudonym

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// Staff is how somebody sees who has decided something of a tenant's: its own people by name, and
// those who run the installation by their id alone, but for who may look at anybody.
type Staff struct {
	people store.People
	reader *access.Principal
	tenant crowd.TenantID
	called map[crowd.WorkerID]string
}

// StaffFor returns how p sees who decides of what is a tenant's.
func StaffFor(people store.People, p *access.Principal, tenant crowd.TenantID) *Staff {
	return &Staff{people, p, tenant, make(map[crowd.WorkerID]string)}
}

// Show returns what the reader calls the person with an id and a name; "": they are not known any
// more.
func (s *Staff) Show(ctx context.Context, id crowd.WorkerID, name string) (string, error) {
	if name == "" || id == s.reader.User.ID || s.reader.May(access.AccountsOtherUser) == nil {
		return name, nil
	}
	if called, known := s.called[id]; known {
		return called, nil
	}
	u, err := s.people.User(ctx, id)
	if err != nil {
		return "", err
	}
	if u.RunsInstallation() && !slices.Contains(u.StaffOf(), s.tenant) {
		name = id.String()
	}
	s.called[id] = name
	return name, nil
}
