package limits_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/limits"
)

// TestStreams: streams are counted by person and by tenant, and given back once.
func TestStreams(t *testing.T) {
	var s limits.Streams
	var ends []func()
	for i := range 100 {
		end, err := s.Open(crowd.WorkerID(1+i/limits.MaxStreams), 1, func() {})
		if err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
		ends = append(ends, end)
	}
	for person, tenant := range map[crowd.WorkerID]crowd.TenantID{1: 0, 2: 2, 99: 1} {
		if _, err := s.Open(person, tenant, func() {}); crowd.CodeOf(err) != crowd.TooMany {
			t.Errorf("one more of %s about %s: %v", person, tenant, err)
		}
	}
	if _, err := s.Open(99, 2, func() {}); err != nil {
		t.Errorf("one of another person about another tenant: %v", err)
	}
	ends[0]()
	ends[0]()
	if _, err := s.Open(1, 1, func() {}); err != nil {
		t.Errorf("after one was given back: %v", err)
	}
	if _, err := s.Open(1, 2, func() {}); crowd.CodeOf(err) != crowd.TooMany {
		t.Errorf("after one was given back twice: %v", err)
	}
}
