package engine_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/engine"
)

// newGate reads "min=2 max=3"; nothing is no gate.
func (s *script) newGate(word []string) engine.Gate {
	g := engine.Gate{On: len(word) > 0}
	for _, x := range word {
		switch key, value, _ := strings.Cut(x, "="); key {
		case "min":
			g.Min = parse(s, strconv.Atoi, value)
		case "max":
			g.Max = parse(s, strconv.Atoi, value)
		default:
			s.t.Fatalf("no option %q", x)
		}
	}
	return g
}

func (k *books) heldRows() []engine.Handout {
	var list []engine.Handout
	for _, r := range k.holding {
		list = append(list, r.Handout)
	}
	slices.SortFunc(list, func(x, y engine.Handout) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Assignment, y.Assignment))
	})
	return list
}
