package sched

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// A Key is the place of a batch in a policy's order, in words and figures, so
// that a decision can be checked by hand: of the candidates, the one with the
// least Rank goes first, compared figure by figure; then the least Turn; then
// the least id.
type Key struct {
	Policy    string        `json:"policy"`
	Batch     crowd.BatchID `json:"batch"`
	Candidate bool          `json:"candidate"` // something of it may be handed out now
	Words     string        `json:"words"`     // what the policy compares, in one sentence
	Figures   []Figure      `json:"figures"`   // what the rank was computed from
	Rank      []Number      `json:"rank"`      // least first; rounded to float64
	Turn      uint64        `json:"turn"`
	Inner     *Key          `json:"inner,omitempty"` // the place within the wrapped policy
}

// WithoutRewards is k for who may not see what batches pay: a policy within by-reward says nothing of
// its own, and nothing is ranked.
func (k Key) WithoutRewards() Key {
	if strings.Contains(k.Policy, byRewardPrefix) {
		k.Rank = nil // what wraps another policy has the rank of that
	}
	switch {
	case strings.HasPrefix(k.Policy, byRewardPrefix):
		k.Words, k.Inner = byRewardWords, nil
	case k.Inner != nil:
		inner := k.Inner.WithoutRewards()
		k.Inner = &inner
	}
	return k
}

// Before reports whether k's batch goes before other's for a worker who may do
// both. A key of another policy gives no meaningful answer.
func (k Key) Before(other Key) bool {
	if k.Candidate != other.Candidate {
		return k.Candidate
	}
	for i := 0; i < min(len(k.Rank), len(other.Rank)); i++ {
		if c := cmp.Compare(k.Rank[i], other.Rank[i]); c != 0 {
			return c < 0
		}
	}
	if k.Inner != nil && other.Inner != nil {
		return k.Inner.Before(*other.Inner)
	}
	return cmp.Or(cmp.Compare(k.Turn, other.Turn), cmp.Compare(k.Batch, other.Batch)) < 0
}

// Reason is what the policy compares, and what those within it do, in words.
func (k Key) Reason() string {
	if k.Inner == nil {
		return k.Words
	}
	if outer, ends := strings.CutSuffix(k.Words, "then the inner order"); ends {
		return outer + "then " + k.Inner.Reason()
	}
	return k.Words + "; " + k.Inner.Reason()
}

// A Figure is a named value with its meaning.
type Figure struct {
	Name  string `json:"name"`
	Value Number `json:"value"`
	Note  string `json:"note,omitempty"`
}

// A Number is a float64 whose JSON form also covers infinities: "inf", "-inf".
type Number float64

// MarshalJSON writes a JSON number, or a string for what JSON has no number for.
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	switch {
	case math.IsInf(f, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-inf"`), nil
	case f != f:
		return []byte(`"nan"`), nil
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
}

// newKey returns the part of a key that all policies share.
func newKey(policy string, r *record) Key {
	return Key{Policy: policy, Batch: r.id, Candidate: r.assignable, Turn: r.turn}
}

// instant returns a time as two exact figures, seconds and nanoseconds.
func instant(ns int64) []Number {
	t := time.Unix(0, ns)
	return []Number{Number(t.Unix()), Number(t.Nanosecond())}
}

func instantNote(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// workforceFigures returns R, T, C, P, x and δ.
func workforceFigures(r *record, x, delta float64) []Figure {
	kind := "best-effort"
	if r.production {
		kind = "production"
	}
	return []Figure{
		{"R", Number(r.running), "running"},
		{"T", Number(r.planned), "planned"},
		{"C", Number(r.completed), "completed"},
		{"L", Number(r.left()), "left: running or not yet started"},
		{"P", Number(r.priority), "priority"},
		{"x", Number(x), "workforce component of this " + kind + " batch"},
		{"delta", Number(delta), "what one more assignment adds to x"},
	}
}
