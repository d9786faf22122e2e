package task

import (
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// MaxExplanation is how many bytes an explanation of a known answer has at most.
const MaxExplanation = 1000

// Explanation returns a text that explains a known answer, whose key is key, as it is kept. "" explains nothing:
// the task checks people, or its answer is not known.
func Explanation(text, key string) (string, error) {
	text = strings.TrimSpace(text)
	switch wrong := format.Unkeepable(text); {
	case text == "":
		return "", nil
	case key == "":
		return "", crowd.Errorf(crowd.Invalid, "explains a known answer, and the row has none")
	case wrong != "":
		return "", crowd.Errorf(crowd.Invalid, "%s", wrong)
	case len(text) > MaxExplanation:
		return "", crowd.Errorf(crowd.Invalid, "an explanation has at most %d bytes, not %d", MaxExplanation, len(text))
	case !format.Visible(text):
		return "", crowd.Errorf(crowd.Invalid, "has nothing that can be seen")
	}
	return text, nil
}
