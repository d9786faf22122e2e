package limits

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// transfer is who wants one.
type transfer struct {
	of crowd.TenantID
	by crowd.WorkerID
}

// TestSlotsAreBounded: sixteen at a time, two of a tenant and two by a person;
// whoever is one too many waits ten seconds for another to end.
func TestSlotsAreBounded(t *testing.T) {
	t.Parallel()
	two := &Quotas{set: make(map[crowd.TenantID]map[store.Quota]int64)} // of each tenant
	for tenant := range crowd.TenantID(100) {
		two.set[tenant] = map[store.Quota]int64{store.Downloads: 2}
	}
	who := func(tenant, person int) transfer {
		return transfer{crowd.TenantID(tenant), crowd.WorkerID(person)}
	}
	for name, x := range map[string]struct {
		under []transfer
		next  transfer
		want  crowd.Code // "": there is room for it
	}{
		"another of a tenant":      {[]transfer{who(1, 1)}, who(1, 2), ""},
		"another by a person":      {[]transfer{who(1, 1)}, who(2, 1), ""},
		"a third of a tenant":      {[]transfer{who(1, 1), who(1, 2)}, who(1, 3), crowd.TooMany},
		"a third by a person":      {[]transfer{who(1, 1), who(2, 1)}, who(3, 1), crowd.TooMany},
		"a third of somebody else": {[]transfer{who(1, 1), who(1, 1)}, who(2, 2), ""},
		"the sixteenth":            {full(15, who), who(99, 99), ""},
		"the seventeenth":          {full(16, who), who(99, 99), crowd.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Slots{What: "downloads", Quota: store.Downloads, Most: 16, Part: 1, quotas: two}
				var ends []func()
				for _, r := range x.under {
					end, err := s.Start(t.Context(), r.by, r.of, 1)
					if err != nil {
						t.Fatalf("%v: %v", r.of, err)
					}
					ends = append(ends, end)
				}
				begin := time.Now()
				end, err := s.Start(t.Context(), x.next.by, x.next.of, 1)
				if waited := time.Since(begin); crowd.CodeOf(err) != x.want || (waited != 0) != (x.want != "") || waited > slotWait {
					t.Fatalf("after %s: %v, want %q", waited, err, x.want)
				}
				if x.want == "" {
					end()
				} else {
					gone, cancel := context.WithCancel(t.Context())
					cancel()
					if _, err := s.Start(gone, x.next.by, x.next.of, 1); !errors.Is(err, context.Canceled) {
						t.Errorf("who does not wait is told %v", err)
					}
					time.AfterFunc(slotWait-1, ends[0]) // it ends just in time for two who wait
					got := make(chan error, 2)
					for range 2 {
						go func() {
							end, err := s.Start(t.Context(), x.next.by, x.next.of, 1)
							if got <- err; err == nil {
								end()
							}
						}()
					}
					if err := errors.Join(<-got, <-got); err != nil {
						t.Error(err)
					}
					ends = ends[1:]
				}
				for _, end := range ends {
					end()
				}
				if s.all != 0 || len(s.by) != 0 {
					t.Errorf("in the end %d are counted, %v", s.all, s.by)
				}
			})
		})
	}
}

// full is n transfers, each of a tenant and a person of its own.
func full(n int, who func(tenant, person int) transfer) (list []transfer) {
	for i := range n {
		list = append(list, who(i+1, i+1))
	}
	return list
}

// TestNobodyHasAllOfATenant: uploads of one person leave some to the others of a tenant.
func TestNobodyHasAllOfATenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := UploadSlots(nil)
		for _, x := range []struct {
			by   crowd.WorkerID
			want crowd.Code
		}{{1, ""}, {1, ""}, {1, crowd.TooMany}, {2, ""}, {2, ""}, {3, crowd.TooMany}} {
			if _, err := s.Start(t.Context(), x.by, 1, 1); crowd.CodeOf(err) != x.want {
				t.Errorf("another of %s: %v, want %q", x.by, err, x.want)
			}
		}
	})
}

// TestBodiesAreBounded: by their bytes, of a person, of a tenant or all workers, and of
// all.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const mib = 1 << 20
		s := BodySlots(nil)
		start := func(of crowd.TenantID, by crowd.WorkerID, bytes int64, want crowd.Code) {
			t.Helper()
			if _, err := s.StartBody(t.Context(), by, of, bytes, 8*mib); crowd.CodeOf(err) != want {
				t.Errorf("%d bytes by %s of %s: %v, want %q", bytes, by, of, err, want)
			}
		}
		for range 1000 {
			start(1, 1, 64<<10-1, "")
		}
		start(1, 1, 8*mib-1, "")
		start(1, 1, -1, crowd.TooMany) // it may be as long as is allowed
		start(1, 1, 100*mib, crowd.TooMany)
		for range 4 {
			start(1, 1, mib, "")
		}
		start(1, 1, 64<<10, crowd.TooMany)
		start(1, 1, 64<<10-1, "")
		start(1, 2, 8*mib, "")
		start(1, 3, 8*mib, "")
		start(1, 4, 4*mib, "") // the 32nd of the tenant
		start(1, 5, mib, crowd.TooMany)
		start(1, 5, 1000, "")
		for by := range crowd.WorkerID(4) { // all workers
			start(0, by+10, 8*mib, "")
		}
		start(0, 20, mib, crowd.TooMany)
		for by := range crowd.WorkerID(4) {
			start(crowd.TenantID(by+2), by+30, 8*mib, "")
		}
		start(9, 40, 8*mib, crowd.Unavailable)
		start(9, 40, 1000, "")
	})
}
