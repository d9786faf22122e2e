package soak_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/throng-dev/throng/internal/verify/soak"
)

// TestSoak looks at a few hundred worlds; THRONG_SOAK_ROUNDS makes it look longer,
// and THRONG_SOAK_SEED starts elsewhere: at a seed that has failed, say.
func TestSoak(t *testing.T) {
	t.Parallel()
	rounds, seed := number(t, "THRONG_SOAK_ROUNDS", 300), number(t, "THRONG_SOAK_SEED", 1)
	r, err := soak.Run(t.Context(), soak.Options{Seed: seed, Rounds: int(rounds)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != nil {
		t.Fatalf("seed %d: %s\nreplay: THRONG_SOAK_SEED=%d THRONG_SOAK_ROUNDS=1 go test ./internal/verify/soak", *r.Failed, r.Problem, *r.Failed)
	}
	if rounds >= 300 && (r.Worlds != int(rounds) || r.Answers < 15_000 || r.Labels < 6000 || r.Expired < 300 || r.GivenUp < 500 || r.Late < 200) {
		t.Errorf("looked at too little: %+v", *r)
	}
	t.Logf("%+v", *r)
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestASeedReplaysExactly.
func TestASeedReplaysExactly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		a, err := soak.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := soak.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
			t.Errorf("seed %d gave two different runs", seed)
		}
	}
}
