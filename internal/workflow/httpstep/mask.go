package httpstep

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/kit/format"
)

// hidden stands where a secret was.
const hidden = "•••"

// masks are the texts that must not be shown: secrets, in the forms in which
// a service may give them back.
type masks struct{ texts []string }

// add masks a secret.
func (m *masks) add(secret string) {
	if secret == "" {
		return
	}
	forms := []string{secret}
	// The secret of Basic authentication is NAME:PASSWORD in base64.
	if plain, err := base64.StdEncoding.DecodeString(secret); err == nil && utf8.Valid(plain) && len(plain) >= partial {
		forms = append(forms, string(plain))
		if _, password, ok := strings.Cut(string(plain), ":"); ok && password != "" {
			forms = append(forms, password)
		}
	}
	for _, form := range slices.Clone(forms) {
		quoted, _ := json.Marshal(form) // a string has a form
		shown := strconv.Quote(form)    // JSON again, for programs that leave < > & as they are
		forms = append(forms, string(quoted[1:len(quoted)-1]), shown[1:len(shown)-1], url.QueryEscape(form), url.PathEscape(form),
			base64.StdEncoding.EncodeToString([]byte(form)), base64.RawStdEncoding.EncodeToString([]byte(form)),
			base64.URLEncoding.EncodeToString([]byte(form)), base64.RawURLEncoding.EncodeToString([]byte(form)))
	}
	m.texts = append(m.texts, forms...)
	slices.SortFunc(m.texts, func(a, b string) int { // the longest first, since it may hold others
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	m.texts = slices.Compact(m.texts)
}

// hide masks a text, and what is left of a secret where the text was cut
// (before an ellipsis).
func (m *masks) hide(text string) string {
	parts := strings.Split(m.replace(text), "…")
	for i := range parts[:len(parts)-1] {
		parts[i] = m.trimCut(parts[i])
	}
	return strings.Join(parts, "…")
}

func (m *masks) replace(text string) string {
	for _, t := range m.texts {
		text = strings.ReplaceAll(text, t, hidden)
	}
	return text
}

// partial is how much of a secret's beginning, at least, is taken for it.
const partial = 4

// trimCut removes the beginning of a secret from the end of a text.
func (m *masks) trimCut(text string) string {
	for _, t := range m.texts {
		for n := len(t) - 1; n >= partial; n-- {
			if rest, is := strings.CutSuffix(text, t[:n]); is {
				return rest + hidden
			}
		}
	}
	return text
}

// excerpt is the beginning of a body, on one line and masked. cut tells that the
// body is longer.
func (m *masks) excerpt(said []byte, cut bool) string {
	text := m.replace(string(said))
	if cut {
		text = m.trimCut(text)
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "�"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	return format.Clip(m.replace(text), saidChars)
}
