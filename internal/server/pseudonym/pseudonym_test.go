package pseudonym_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
)

// open returns the names of an installation with a secret.
func open(t testing.TB, secret string) *pseudonym.Names {
	t.Helper()
	n, err := pseudonym.Open(t.Context(), secrets{secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// secrets is a store that has one secret.
type secrets struct {
	store.Outbox
	secret string
	err    error
}

func (s secrets) Secret(context.Context, string, string) (string, error) { return s.secret, s.err }

var (
	admin     = &access.Principal{User: store.User{ID: 1, Admin: true}}
	requester = &access.Principal{User: store.User{ID: 2, Tenants: []crowd.TenantID{1, 2}}}
	operator  = &access.Principal{User: store.User{ID: 3, Roles: []store.HeldRole{{Role: "operator", Tenant: 1}}}}
)

// TestTheyLeadBack: a pseudonym leads to its worker, for its tenant only, and says nothing
// else.
func TestTheyLeadBack(t *testing.T) {
	t.Parallel()
	names, form := open(t, "s"), regexp.MustCompile(`^w_[a-z2-7]{26}$`)
	holds := func(tenant uint16, worker uint32, other uint16) bool {
		a, id := crowd.TenantID(tenant), crowd.WorkerID(worker)+1
		p := names.Pseudonym(a, id)
		found, err := names.For(requester, a).Find(p)
		if !form.MatchString(p) || found != id || err != nil || p != open(t, "s").Pseudonym(a, id) {
			return false
		}
		if b := crowd.TenantID(other); b != a {
			_, err = names.For(admin, b).Find(p)
			return errors.Is(err, pseudonym.ErrNoWorker) && p != names.Pseudonym(b, id)
		}
		return true
	}
	if err := quick.Check(holds, nil); err != nil {
		t.Error(err)
	}
	if a, b := names.Pseudonym(1, 7), open(t, "another").Pseudonym(1, 7); a == b {
		t.Errorf("two installations have the same, %s", a)
	}
}

// TestNoOrder: nobody can tell from pseudonyms who came first.
func TestNoOrder(t *testing.T) {
	t.Parallel()
	names, later := open(t, "s"), 0
	for id := range crowd.WorkerID(2000) {
		if names.Pseudonym(1, id+1) < names.Pseudonym(1, id+2) {
			later++
		}
	}
	if later < 850 || later > 1150 { // 1000 by chance, with a deviation of 13
		t.Errorf("of 2000, %d come before the next", later)
	}
}

// TestWhatNamesNobody has the same error, whatever it is.
func TestWhatNamesNobody(t *testing.T) {
	t.Parallel()
	names := open(t, "s")
	p := names.Pseudonym(1, 7)
	for _, text := range []string{"", "w_", "u", "7", "ann", p[2:], p + "a", p[:len(p)-1], strings.ToUpper(p), " " + p, names.Pseudonym(2, 7), names.Pseudonym(1, 0),
		"w_aaaaaaaaaaaaaaaaaaaaaaaaaa", p[:len(p)-1] + "7", p + "======", p[:9] + "\n" + p[9:], "w_" + strings.Repeat("a", 1<<20)} {
		for _, who := range []*access.Principal{requester, admin} {
			if id, err := names.For(who, 1).Find(text); id != 0 || !errors.Is(err, pseudonym.ErrNoWorker) {
				t.Errorf("%.40q is %s, %v", text, id, err)
			}
		}
	}
}

// TestWhoSeesNames: those with the permission, for their tenants.
func TestWhoSeesNames(t *testing.T) {
	t.Parallel()
	names := open(t, "s")
	limited := *admin
	limited.Token.Scopes = []string{"results.read"}
	for _, c := range []struct {
		who    *access.Principal
		tenant crowd.TenantID
		named  bool
	}{
		{admin, 1, true}, {admin, 0, true}, {requester, 1, false}, {requester, 2, false}, {requester, 3, false},
		{operator, 1, true}, {operator, 2, false}, {operator, 0, false}, {&limited, 1, false}, {&access.Principal{}, 1, false},
	} {
		seen := names.For(c.who, c.tenant)
		want := pseudonym.Worker{Pseudonym: names.Pseudonym(c.tenant, 7)}
		if c.named {
			want.ID, want.Name = 7, "eva"
		}
		if got := seen.Show(7, "eva"); got != want || seen.Named() != c.named {
			t.Errorf("%s sees a worker of %s as %+v", c.who.User.ID, c.tenant, got)
		}
		if id, err := seen.Find("u7"); (err == nil) != c.named || (id == 7) != c.named {
			t.Errorf("%s finds %s of %s by the id: %v", c.who.User.ID, id, c.tenant, err)
		}
	}
}

// TestCompare: where names are not told, the order is that of the pseudonyms.
func TestCompare(t *testing.T) {
	t.Parallel()
	names := open(t, "s")
	for who, sorted := range map[*access.Principal]func(a, b pseudonym.Worker) bool{
		requester: func(a, b pseudonym.Worker) bool { return a.Pseudonym < b.Pseudonym },
		admin:     func(a, b pseudonym.Worker) bool { return a.Name < b.Name },
	} {
		var list []pseudonym.Worker
		for id := range crowd.WorkerID(9) {
			list = append(list, names.For(who, 1).Show(id+1, string(rune('z'-id))))
		}
		slices.SortFunc(list, pseudonym.Compare)
		for i := range list[1:] {
			if !sorted(list[i], list[i+1]) {
				t.Errorf("%s before %s", list[i], list[i+1])
			}
		}
	}
}

// TestNoSecret: without its secret there are no names.
func TestNoSecret(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	if n, err := pseudonym.Open(t.Context(), secrets{err: broken}); n != nil || !errors.Is(err, broken) {
		t.Errorf("%v, %v", n, err)
	}
}

// FuzzFind: whatever is read as a pseudonym is one that is written so.
func FuzzFind(f *testing.F) {
	names := open(f, "s")
	f.Add(names.Pseudonym(1, 7))
	f.Add("w_aaaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Add("u7")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := names.For(requester, 1).Find(text); err == nil && names.Pseudonym(1, id) != text {
			t.Errorf("%q is %s", text, id)
		}
	})
}

// TestTaskNumbersDoNotCountUp has tasks of a batch have numbers for workers that are all different, the
// same each time, and in no order.
func TestTaskNumbersDoNotCountUp(t *testing.T) {
	names := open(t, "s")
	seen, up, last := make(map[crowd.TaskID]bool), 0, crowd.TaskID(0)
	const tasks = 20_000
	for n := range uint32(tasks) {
		id := names.Task(crowd.BatchID(3).Task(n + 1))
		if id.Batch() != 3 || id.N() == 0 || seen[id] || id != names.Task(crowd.BatchID(3).Task(n+1)) {
			t.Fatalf("task %d is %s", n+1, id)
		}
		if seen[id] = true; id > last {
			up++
		}
		last = id
	}
	if up < tasks*45/100 || up > tasks*55/100 {
		t.Errorf("%d of %d numbers are above the one before", up, tasks)
	}
	if names.Task(crowd.BatchID(3).Task(1)).N() == names.Task(crowd.BatchID(4).Task(1)).N() {
		t.Error("two batches number their tasks alike")
	}
}
