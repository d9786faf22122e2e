package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheExampleOfSettings: docs/throng.yaml is read, as it is and with every line that is
// commented out, and then it has each setting.
func TestTheExampleOfSettings(t *testing.T) {
	t.Parallel()
	const example = "../../docs/throng.yaml"
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	if list := printed(t, example); len(fromTheFile(list)) == 0 {
		t.Error("it sets nothing")
	}
	whole := filepath.Join(t.TempDir(), "throng.yaml")
	if err := os.WriteFile(whole, regexp.MustCompile(`(?m)^# ([a-z-]+: \S)`).ReplaceAll(text, []byte("$1")), 0o600); err != nil {
		t.Fatal(err)
	}
	list := printed(t, whole)
	for _, s := range list {
		if !slices.Contains(fromTheFile(list), s.Name) {
			t.Errorf("docs/throng.yaml does not have %s: %v by %s", s.Name, s.Value, s.Origin)
		}
	}
}

func printed(t *testing.T, file string) (list []setting) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"config", "print", "--json", "--config", file}, strings.NewReader(""), &out, &errs, "test"); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func fromTheFile(list []setting) (names []string) {
	for _, s := range list {
		if strings.Contains(s.Origin, "throng.yaml:") {
			names = append(names, s.Name)
		}
	}
	return names
}

// TestEverySettingHasItsVariable, whose name is that of the flag.
func TestEverySettingHasItsVariable(t *testing.T) {
	t.Parallel()
	for _, leaf := range commands(t) {
		if leaf.FullPath() != "throng serve" {
			continue
		}
		for _, f := range leaf.Flags {
			if want := "THRONG_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")); f.Name != "json" && !slices.Equal(f.Envs, []string{want}) {
				t.Errorf("--%s has the variables %q, want %s", f.Name, f.Envs, want)
			}
		}
	}
}

// TestWithoutPassword: no form of an address shows its password.
func TestWithoutPassword(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": "",
		"smtp://mail.example.org?from=Throng <t@example.org>":             "smtp://mail.example.org?from=Throng <t@example.org>",
		"smtp://u:s3cret@mail.example.org:25?tls=none&from=t@example.org": "smtp://u:xxxxx@mail.example.org:25?tls=none&from=t@example.org",
		"postgres://u@h/d":                             "postgres://u@h/d",
		"postgres:///d?host=/run&password=s3cret":      "postgres:///d?host=%2Frun&password=xxxxx",
		"postgres://h/d?sslpassword=s3cret":            "postgres://h/d?sslpassword=xxxxx",
		"host=h password=s3cret":                       hidden,
		"smtp://u:12/s3cret@h?from=a@b":                hidden,
		"smtp://u:12?s3cret@h":                         hidden,
		"smtp://u:12?x=s3cret@h":                       hidden,
		"smtp://u:12#s3cret@h":                         hidden,
		"smtp://u:s3%cret@h":                           hidden,
		"smtp:u:s3cret@h":                              hidden,
		"postgres://h/d?password=s3cret&password=more": "postgres://h/d?password=xxxxx",
	} {
		if got := withoutPassword(address); got != want || strings.Contains(got, "s3cret") {
			t.Errorf("%q is shown as %q, want %q", address, got, want)
		}
	}
}
