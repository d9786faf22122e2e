package cli

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// deploy is the folder of the files with which a server is installed.
const deploy = "../../deploy"

func readDeployed(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTheUnitOfSystemd is one that systemd takes without a word, and is not exposed.
func TestTheUnitOfSystemd(t *testing.T) {
	t.Parallel()
	text := readDeployed(t, "systemd/throng.service")
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv("THRONG_REQUIRE_SYSTEMD") != "" {
			t.Fatal(err)
		}
		t.Skip("left out: systemd-analyze is not here")
	}
	program, err := os.Executable() // there is one at that path, and it can be executed
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "throng.service")
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(text, "/usr/local/bin/throng", program)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, err := exec.Command(analyze, "security", "--offline=yes", "--threshold=20", unit).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
	if !strings.Contains(text, "\nType=notify\n") { // which TestTheServiceManagerHears tries
		t.Error("the unit does not wait until the server is ready")
	}
}

// takes fails unless a server takes settings from these variables and this file, which may
// be "".
func takes(t *testing.T, variables map[string]string, file string) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"config", "print"}
	if file != "" {
		name := filepath.Join(dir, "throng.yaml")
		if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", name)
	}
	print := exec.Command("throng", args...)
	print.Env = append(os.Environ(), "THRONG_DATABASE=")
	for name, value := range variables {
		if strings.HasSuffix(name, "_FILE") && name != "THRONG_KEY_FILE" { // of which the value is read
			value = filepath.Join(dir, filepath.Base(value))
			if err := os.WriteFile(value, []byte("postgres://u:p@h/d\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		print.Env = append(print.Env, name+"="+value)
	}
	out, err := print.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name := range variables {
		if name != "THRONG_CONFIG" && !strings.Contains(string(out), "environment "+name+"\n") {
			t.Errorf("no setting comes from %s:\n%s", name, out)
		}
	}
}

// TestTheContainer is made by the Go that go.mod names, runs as a number that is not root's,
// and its settings are taken.
func TestTheContainer(t *testing.T) {
	t.Parallel()
	takes(t, nil, readDeployed(t, "container/throng.yaml"))
	stages := regexp.MustCompile(`(?m)^FROM `).Split(readDeployed(t, "container/Dockerfile"), -1)
	if len(stages) != 3 {
		t.Fatalf("there are %d stages", len(stages)-1)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	if !strings.HasPrefix(stages[1], "golang:"+version+" AS build\n") {
		t.Errorf("it is built by %.20q, go.mod names %s", stages[1], version)
	}
	last := stages[2]
	user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(last)
	if user == nil || user[1] == "0" || user[2] == "0" {
		t.Errorf("it runs as %q", user)
	}
	copied := 0
	for _, m := range regexp.MustCompile(`(?m)^COPY (?:--chown=\S+ )?([^-\s]\S+) `).FindAllStringSubmatch(last, -1) {
		copied++
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Error(err)
		}
	}
	if copied == 0 {
		t.Error("the settings are not copied")
	}
}

// documents reads documents of YAML in which nothing else may stand than T has.
func documents[T any](t *testing.T, text string) (list []T) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	for {
		var one T
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF):
			return list
		case err != nil:
			t.Fatalf("%v\n%s", err, text)
		}
		list = append(list, one)
	}
}

type composed struct {
	Services map[string]struct {
		Build       struct{ Context, Dockerfile string }
		Image       string
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		Healthcheck struct {
			Test     []string
			Interval string
			Retries  int
		}
		Environment    map[string]string
		Secrets        []string
		Volumes, Ports []string
		ReadOnly       bool     `yaml:"read_only"`
		CapDrop        []string `yaml:"cap_drop"`
		SecurityOpt    []string `yaml:"security_opt"`
		Restart        string
		Grace          string `yaml:"stop_grace_period"`
	}
	Secrets map[string]struct{ File string }
	Volumes map[string]any
}

// TestTheComposeFile names what there is, and gives the server settings that it takes.
func TestTheComposeFile(t *testing.T) {
	t.Parallel()
	file := documents[composed](t, readDeployed(t, "compose.yaml"))[0]
	throng := file.Services["throng"]
	takes(t, throng.Environment, "")
	if _, err := os.Stat(filepath.Join(deploy, throng.Build.Context, throng.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	if !throng.ReadOnly || !slices.Equal(throng.CapDrop, []string{"ALL"}) {
		t.Errorf("the server may do more than it needs: %+v", throng)
	}
	for name, s := range file.Services {
		for _, secret := range s.Secrets {
			if file.Secrets[secret].File == "" {
				t.Errorf("%s has the secret %s, which there is not", name, secret)
			}
		}
		for _, v := range s.Volumes {
			volume, _, _ := strings.Cut(v, ":")
			if _, there := file.Volumes[volume]; !there {
				t.Errorf("%s has the volume %s, which there is not", name, volume)
			}
		}
		for on, how := range s.DependsOn {
			if other, there := file.Services[on]; !there || how.Condition != "service_healthy" || len(other.Healthcheck.Test) == 0 {
				t.Errorf("%s waits for %s, %s", name, on, how.Condition)
			}
		}
		for variable, value := range s.Environment {
			if secret, is := strings.CutPrefix(value, "/run/secrets/"); strings.HasSuffix(variable, "_FILE") && (!is || !slices.Contains(s.Secrets, secret)) {
				t.Errorf("%s reads %s from %s, which is none of its secrets", name, variable, value)
			}
		}
	}
}

const theChart = deploy + "/helm/throng"

// helm runs Helm, which tests have if .ci/run has run them.
func helm(t *testing.T, args ...string) (out, said string, err error) {
	t.Helper()
	path, err := exec.LookPath("helm")
	if err != nil {
		if os.Getenv("THRONG_REQUIRE_HELM") != "" {
			t.Fatal(err)
		}
		t.Skip("left out: helm is not here")
	}
	home := t.TempDir()
	run := exec.Command(path, args...)
	run.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	err = run.Run()
	return stdout.String(), stderr.String(), err
}

// TestTheChart: its objects are as Kubernetes has them, and a server takes what they give it.
func TestTheChart(t *testing.T) {
	t.Parallel()
	if out, said, err := helm(t, "lint", "--strict", theChart); err != nil {
		t.Errorf("helm lint: %v\n%s%s", err, out, said)
	}
	postgres := []string{"--set", "database.existingSecret=db", "--set", "keys.existingSecret=k", "--set", "mail.existingSecret=m"}
	for replicas, more := range map[int][]string{1: {"--set", "settings.public-url=https://throng.example.org", "--set", "settings.retention={answers=365,files=30}"}, 3: postgres} {
		args := append([]string{"template", "crowd", theChart, "--set", "replicas=" + strconv.Itoa(replicas)}, more...)
		out, said, err := helm(t, args...)
		if err != nil {
			t.Fatalf("helm %q: %v\n%s", args, err, said)
		}
		kinds := map[string]bool{}
		for _, o := range documents[map[string]any](t, out) {
			kind := o["kind"].(string)
			kinds[kind] = true
			switch kind {
			case "ConfigMap":
				takes(t, nil, o["data"].(map[string]any)["throng.yaml"].(string))
			case "StatefulSet":
				checkSet(t, o, replicas)
			}
		}
		if got := slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, []string{"ConfigMap", "Service", "StatefulSet"}) {
			t.Errorf("there are %q", got)
		}
	}
	for set, want := range map[string]string{
		"replicas=2":                            "SQLite is a file of one server: set replicas to 1, or database.existingSecret",
		"replicas=2,database.existingSecret=db": "servers that share a database need the same keys",
		"replica=2":                             "replica",
		"settings.database=postgres://":         "database",
		"service.port=http":                     "port",
	} {
		if out, said, err := helm(t, "template", "crowd", theChart, "--set", set); err == nil || !strings.Contains(said, want) {
			t.Errorf("%s: %v, %s\n%.300s", set, err, said, out)
		}
	}
}

// checkSet checks a stateful set: what is mounted is there, and nothing else may be written.
func checkSet(t *testing.T, set map[string]any, replicas int) {
	t.Helper()
	at := func(from any, path ...any) any {
		for _, step := range path {
			switch key := step.(type) {
			case string:
				from = from.(map[string]any)[key]
			case int:
				from = from.([]any)[key]
			}
		}
		return from
	}
	pod := at(set, "spec", "template", "spec")
	container := at(pod, "containers", 0)
	if n := at(set, "spec", "replicas"); n != replicas {
		t.Errorf("%v replicas, want %d", n, replicas)
	}
	if at(pod, "securityContext", "runAsNonRoot") != true || at(container, "securityContext", "readOnlyRootFilesystem") != true {
		t.Error("it may run as root, or write everywhere")
	}
	if at(set, "spec", "selector", "matchLabels", "app.kubernetes.io/instance") != at(set, "spec", "template", "metadata", "labels", "app.kubernetes.io/instance") {
		t.Error("it does not find its own pods")
	}
	var volumes, mounts []string
	for _, v := range at(pod, "volumes").([]any) {
		volumes = append(volumes, at(v, "name").(string))
	}
	volumes = append(volumes, at(set, "spec", "volumeClaimTemplates", 0, "metadata", "name").(string))
	paths := []string{}
	for _, m := range at(container, "volumeMounts").([]any) {
		mounts, paths = append(mounts, at(m, "name").(string)), append(paths, at(m, "mountPath").(string))
	}
	slices.Sort(volumes)
	slices.Sort(mounts)
	if !slices.Equal(volumes, mounts) || len(volumes) != 2+3*min(replicas-1, 1) {
		t.Errorf("the volumes %q are mounted as %q", volumes, mounts)
	}
	variables := map[string]string{}
	fields := map[string]string{"metadata.name": "throng-0", "status.podIP": "fd00::5"} // what Kubernetes knows of the pod
	for _, e := range at(container, "env").([]any) {
		name, value := at(e, "name").(string), ""
		if from := at(e, "valueFrom"); from != nil {
			value = fields[at(from, "fieldRef", "fieldPath").(string)]
		} else {
			value = at(e, "value").(string)
		}
		variables[name] = value
		if strings.HasPrefix(name, "THRONG_NODE") {
			continue // no files
		}
		if !slices.ContainsFunc(paths, func(p string) bool { return filepath.Dir(value) == p }) {
			t.Errorf("%s is %s, where nothing is mounted", name, value)
		}
	}
	if node := variables["THRONG_NODE"] + variables["THRONG_NODE_LISTEN"] + variables["THRONG_NODE_ADDRESS"]; replicas > 1 && node != "throng-0:7946fd00::5" {
		t.Errorf("of several, it is the node %q", node)
	}
	delete(variables, "THRONG_CONFIG")
	takes(t, variables, "")
}
