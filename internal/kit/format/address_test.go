package format_test

import (
	"testing"

	"github.com/throng-dev/throng/internal/kit/format"
)

func TestSameAddress(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		a, b string
		same bool
	}{
		{"worker2@mailbox.example", "Worker2@MAILBOX.example", true},
		{"wor\u212aer2@mailbox.example", "worker2@mailbox.example", false}, // Kelvin sign
		{"\u017fam@mailbox.example", "sam@mailbox.example", false},         // long s
		{"\u0130an@mailbox.example", "ian@mailbox.example", false},         // I with a dot
		{"\u00c4nne@mailbox.example", "\u00e4nne@mailbox.example", false},
		{"\u00c4nne@mailbox.example", "\u00c4NNE@mailbox.example", true},
		{"a@mailbox.example", "b@mailbox.example", false},
		{"", "", true},
	} {
		if got := format.SameAddress(x.a, x.b); got != x.same {
			t.Errorf("%q and %q: same %v", x.a, x.b, got)
		}
	}
}
