package cli

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "10m": 10 * time.Minute, "2h30m": 150 * time.Minute, "3d": 72 * time.Hour, "1d12h": 36 * time.Hour, "0s": 0,
		"": -1, "d": -1, "5": -1, "-5s": -1, "1d-5h": -1, "x": -1, "999999d": -1,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := duration(text)
			if (err != nil) != (want < 0) || (err == nil && got != want) {
				t.Errorf("duration(%q) = %v, %v; want %v", text, got, err, want)
			}
		})
	}
}

func TestRedundancy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]label.Rule{
		"1": label.Count(1), "3": label.Count(3), "2of3": label.Agree(2, 3), "2 of 3": label.Agree(2, 3),
		"": {}, "0": {}, "3of2": {}, "-1": {}, "2/3": {}, "2of": {}, "of3": {},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var got redundancy
			err := got.UnmarshalText([]byte(text))
			if bad := want == (label.Rule{}); (err != nil) != bad || (!bad && got.rule != want) {
				t.Errorf("%q is %v, %v; want %v", text, got.rule, err, want)
			}
		})
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	var m moment
	if err := m.UnmarshalText([]byte("2030-01-31T18:00:00+01:00")); err != nil || !m.Equal(time.Date(2030, 1, 31, 17, 0, 0, 0, time.UTC)) {
		t.Errorf("got %v, %v", m, err)
	}
	if err := m.UnmarshalText([]byte("+2h")); err != nil || time.Until(m.Time) > 2*time.Hour || time.Until(m.Time) < 119*time.Minute {
		t.Errorf("got %v, %v", m, err)
	}
	for _, text := range []string{"", "+", "-2h", "tomorrow", "2030-13-01"} {
		if err := m.UnmarshalText([]byte(text)); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOption(t *testing.T) {
	t.Parallel()
	options := func(values ...string) *task.Control {
		c := &task.Control{}
		for _, v := range values {
			c.Options = append(c.Options, task.ViewOption{Value: v, Label: "The " + v})
		}
		return c
	}
	for name, c := range map[string]struct {
		control *task.Control
		text    string
		want    string // "" for an error
	}{
		"a number":                          {options("cat", "dog"), "2", "dog"},
		"a value":                           {options("cat", "dog"), "cat", "cat"},
		"a label, in any case":              {options("cat", "dog"), "the DOG", "dog"},
		"out of range":                      {options("cat", "dog"), "3", ""},
		"nothing":                           {options("cat", "dog"), "", ""},
		"digits that are values":            {options("0", "1"), "1", "1"},
		"digits that are values, the first": {options("0", "1"), "0", "0"},
		"digits in their places":            {options("1", "2"), "2", "2"},
		"digits out of order":               {options("3", "2", "1"), "1", "1"},
		"digits beyond the list":            {options("10", "20"), "20", "20"},
		"by number beside such":             {options("10", "20"), "2", "20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := option(c.control, c.text)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestCleanTakesTheSting(t *testing.T) {
	t.Parallel()
	if got, want := clean("1\u202f379 of 2\u00a0000\u2003"), "1\u202f379 of 2\u00a0000�"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := clean("a\x1b[2Jb\r\r\n\tcafé 猫\u202e\x00"), "a�[2Jb�\n\tcafé 猫��"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
