package engine_test

import (
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// enough reads "labels:2", "share:0.5", "confidence:0.9" or "spent:0.50".
func (s *script) enough(what, text string) *engine.Enough {
	var x engine.Enough
	var err error
	switch what {
	case "labels":
		x.Labels, err = strconv.Atoi(text)
	case "share":
		x.Share, err = strconv.ParseFloat(text, 64)
	case "confidence":
		x.Confidence, err = strconv.ParseFloat(text, 64)
	default:
		x.Spent, err = crowd.ParseMoney(text)
	}
	must(s.t, err)
	return &x
}

// items makes items; each word says who must not do one of them.
func (s *script) items(n int, excluded []string) []engine.Item {
	items := make([]engine.Item, n)
	for i, people := range excluded {
		for name := range strings.SplitSeq(people, ",") {
			items[i].NotBy = append(items[i].NotBy, parse(s, crowd.ParseWorkerID, name))
		}
	}
	return items
}

// flags joins the texts whose condition, the next argument, holds.
func flags(pairs ...any) string {
	text := ""
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1].(bool) {
			text += pairs[i].(string)
		}
	}
	return text
}
