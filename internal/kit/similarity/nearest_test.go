package similarity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/similarity"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"idle", "recruit", "release", "transfer", "Größe", " spaced ", "some_name"}
	for word, want := range map[string]string{
		"recuit": "recruit", "Release": "release", "trasnfer": "transfer", "idel": "idle", "fire": "", "": "",
		"größen": "Größe", "gräße": "Größe", "spaced": " spaced ", "SomeName": "some_name", "x": "",
	} {
		if got := similarity.Nearest(word, known); got != want {
			t.Errorf("%.20q: %q, want %q", word, got, want)
		}
	}
	if got := similarity.Nearest("cat", []string{"cut", "car"}); got != "cut" {
		t.Errorf("of two as near: %q", got)
	}
}

// What is too long or too many is not compared: the words come from anybody.
func TestNearestIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", similarity.MaxWord)
	for name, c := range map[string]struct {
		word  string
		known []string
		want  string
	}{
		"the longest word":        {long[2:] + "e", []string{long}, long},
		"a word that is too long": {long + "e", []string{long}, ""},
		"a name that is too long": {long, []string{long + "e"}, ""},
		"a megabyte of each":      {strings.Repeat("a", 1<<20), []string{strings.Repeat("a", 1<<20) + "b"}, ""},
		"the most names":          {"lable", append(slices.Repeat([]string{"x"}, similarity.MaxKnown-1), "label"), "label"},
		"too many names":          {"lable", append(slices.Repeat([]string{"x"}, similarity.MaxKnown), "label"), ""},
	} {
		if got := similarity.Nearest(c.word, c.known); got != c.want {
			t.Errorf("%s: %.20q", name, got)
		}
	}
}
