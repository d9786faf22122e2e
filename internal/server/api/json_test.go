package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/wire"
)

// TestReplyJSONIsTheStandardOne compares the fast encoder with encoding/json.
func TestReplyJSONIsTheStandardOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := wire.Submitted{Outcome: wire.Outcome{
			Counted: rapid.Bool().Draw(t, "counted"), Late: rapid.Bool().Draw(t, "late"),
			Duplicate: rapid.Bool().Draw(t, "duplicate"), BatchEnded: rapid.Bool().Draw(t, "ended"), PaidMicros: crowd.Money(rapid.Int64().Draw(t, "paid")), HeldMicros: crowd.Money(rapid.Int64Range(0, 2).Draw(t, "held")),
		}}
		if rapid.Bool().Draw(t, "provisional") {
			b.Outcome.CountsAt = time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "counts at")).UTC()
		}
		if rapid.Bool().Draw(t, "feedback") {
			b.Outcome.Feedback = &wire.Feedback{Right: rapid.Bool().Draw(t, "right"), Answer: rapid.String().Draw(t, "known"), Explanation: rapid.String().Draw(t, "why")}
		}
		if rapid.Bool().Draw(t, "work") {
			text := rapid.String()
			cells := rapid.SliceOfN(text, 2, 2).Draw(t, "cells")
			b.Work = &wire.Work{
				Assignment: crowd.BatchID(17).Assignment(rapid.Uint32Min(1).Draw(t, "assignment")), Task: crowd.BatchID(17).Task(5), Batch: 17,
				Name: text.Draw(t, "name"), ExpiresAt: time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "expires")).UTC(),
				LeaseSeconds: rapid.Int64().Draw(t, "lease"), RewardMicros: crowd.Money(rapid.Int64().Draw(t, "reward")),
				Values: wire.Values{Values: task.Values{Columns: []string{"a", text.Draw(t, "column")}, Cells: cells}},
				View:   task.View{Kind: task.ChooseOne, Question: text.Draw(t, "question")}, HTML: text.Draw(t, "html"), Reply: text.Draw(t, "reply"),
				Training: rapid.Bool().Draw(t, "training"), IsReview: rapid.Bool().Draw(t, "is review"),
			}
			if b.Work.IsReview && rapid.Bool().Draw(t, "not blind") {
				b.Work.Review = &wire.WorkReview{Label: rapid.StringMatching(`[a-z"é]*`).Draw(t, "label")}
			}
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(b); err != nil {
			t.Fatal(err)
		}
		if got := b.AppendJSON(nil); string(got)+"\n" != want.String() {
			t.Errorf("got  %s\nwant %s", got, &want)
		}
	})
}

// TestReplyJSONHasEveryField: a field that is new is not forgotten by the fast encoder.
func TestReplyJSONHasEveryField(t *testing.T) {
	for i := range reflect.TypeFor[wire.Outcome]().NumField() {
		var b wire.Submitted
		switch x := reflect.ValueOf(&b.Outcome).Elem().Field(i); x.Kind() {
		case reflect.Bool:
			x.SetBool(true)
		case reflect.Int64:
			x.SetInt(7)
		case reflect.Pointer:
			x.Set(reflect.New(x.Type().Elem()))
		default:
			x.Set(reflect.ValueOf(time.UnixMicro(7).UTC()))
		}
		want, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.AppendJSON(nil); !bytes.Equal(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestTheNextTaskHasEveryField: so the task that comes with the reply to an answer.
func TestTheNextTaskHasEveryField(t *testing.T) {
	w := wire.Work{
		Assignment: crowd.BatchID(1).Assignment(2), Task: crowd.BatchID(1).Task(3), Batch: 1, Name: "n", ExpiresAt: time.UnixMicro(7).UTC(), LeaseSeconds: 4, RewardMicros: 5,
		Training: true, IsReview: true, Review: &wire.WorkReview{Label: "<a>", Confidence: 0.5, Acceptable: true, Answers: []wire.WorkSaid{{Label: "a", People: 2}}}, Reply: "r", ByReviewer: true, HTML: "h",
	}
	for i := range reflect.TypeFor[wire.Work]().NumField() {
		if f := reflect.TypeFor[wire.Work]().Field(i); f.Name != "Values" && f.Name != "View" && reflect.ValueOf(w).Field(i).IsZero() {
			t.Fatalf("%s is not tried", f.Name)
		}
	}
	kept, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	var reply struct{ Work json.RawMessage }
	if err := errors.Join(json.Unmarshal(wire.Submitted{Work: &w}.AppendJSON(nil), &reply), json.Unmarshal(kept, &want), json.Unmarshal(reply.Work, &got)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v (%v)", got, want, err)
	}
}

// TestTwice finds the names that an object has twice, at any depth, and no others.
func TestTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "", `[]`: "", `1`: "", `"a"`: "", `{"a": 1, "b": 2}`: "", `{"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 2}]}`: "",
		`{"a": "a", "b": "a"}`: "", `["a", "a"]`: "", `{"a": [["x", "x"], {}], "b": null, "c": false}`: "",
		`{"a": 1, "a": 2}`: "a", `{"a": {}, "b": [], "a": 2}`: "a", `{"x": [{"y": {"b": 1, "c": [], "b": 1}}]}`: "b",
		`[{"a": 1}, {"b": 1, "b": 1}]`: "b", `{"a": 1, "\u0061": 2}`: "a", `{"a": 1, "A": 2}`: "", `{"a"`: "",
	} {
		if got := twice([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestANumberThatDoesNotFit: a whole number with an exponent, a fraction, or too many digits is
// told what is wanted.
func TestANumberThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ body, want string }{
		{`{"lease_seconds": 1e3}`, "lease_seconds: 1e3 does not fit here: a whole number is wanted, written in digits alone, of at most 64 bits"},
		{`{"lease_seconds": 99999999999999999999}`, "lease_seconds: 99999999999999999999 does not fit here: a whole number is wanted, written in digits alone, of at most 64 bits"},
		{`{"lease_seconds": "9"}`, "lease_seconds: a string does not fit here"},
	} {
		err := inUsersWords(json.Unmarshal([]byte(tc.body), new(wire.BatchTerms)))
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v", tc.body, err)
		}
	}
}

// TestHalfACharacter: an escape that stands for half of a character is refused by the name of
// its property. It would be kept as another character otherwise.
func TestHalfACharacter(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ body, want string }{
		{`{"name": "\ud83d\ude00"}`, ""},
		{`{"name": "a\ud800"}`, `name: \ud800 is half a character: write both halves or remove it`},
		{`{"a": 1, "b" : {"c": "\ud83d\ude00", "d": ["x", "\ude00"]}, "e": 2}`, `b.d: \ude00 is half a character: write both halves or remove it`},
		{`{"a": {"\udfff": 1}}`, `a: \udfff is half a character: write both halves or remove it`},
		{"{\"a\": {\"b\": \"\xff\"}}", "a.b: is not UTF-8 text"},
		{"[\"ä\xff\"]", "the body is not UTF-8 text"},
		{`["\udfff"]`, `\udfff is half a character: write both halves or remove it`},
	} {
		var v any
		err := fastJSON.Unmarshal([]byte(tc.body), &v)
		if err == nil {
			err = errors.New("")
		}
		if err.Error() != tc.want {
			t.Errorf("%s: %v", tc.body, err)
		}
	}
	if err := fastJSON.Unmarshal([]byte(`{"answer": {"label": "\ud800"}}`), new(wire.Submit)); err == nil {
		t.Error("an answer is taken")
	}
}
