package crowd

import "testing"

func TestParseQualification(t *testing.T) {
	for text, want := range map[string]Qualification{
		"birds>=80":     {"birds", 80},
		" birds >= 80 ": {"birds", 80},
		"birds 80":      {"birds", 80},
		"birds=80":      {"birds", 80},
		"birds: 80":     {"birds", 80},
		"big birds :50": {"big birds", 50},
		"birds\t0":      {"birds", 0},
		"level 2>=100":  {"level 2", 100},
		"birds":         {"birds", 7},
		"how: so":       {"how: so", 7},
		"mp3":           {"mp3", 7},
		"birds-80":      {"birds-80", 7},
	} {
		if got, err := ParseQualification(text, 7); err != nil || got != want {
			t.Errorf("%q is read as %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "=80", ">=80", "birds>80", "birds<80", "birds<=80", "birds==80", "birds>=", "birds>=many", "birds>=101", "birds -1", "birds=99999999999999999999", "a\nb"} {
		if got, err := ParseQualification(text, 0); CodeOf(err) != Invalid {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
}
