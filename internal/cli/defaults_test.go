package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/verify/demo"
)

// defaults is what every flag is that nobody gives, command by command; those
// that are empty, off or zero are left out. It is what --help shows, and what a
// script relies on that does not name the flag.
var defaults = strings.TrimSpace(`
throng audit list --limit=50
throng batch create --priority=1
throng batch worker --limit=20
throng backup --data=throng-data
throng batch create --redundancy=1
throng batch labels --method=live
throng batch watch --every=1s
throng bench kill --longest=300ms
throng bench kill --rounds=20
throng bench kill --seed=1
throng bench kill --workers=24
throng bench label --answers=1000000
throng bench label --at-most=10
throng bench label --classes=4
throng bench label --until=0.99
throng bench live --for=10s
throng bench live --tasks=200000
throng bench live --workers=16,64,256
throng bench scale --tasks=1000000
throng bench scale --work=2s
throng bench scale --workers=64
throng bench sched --batches=1000,10000,100000,1000000
throng bench signin --for=20s
throng bench signin --hostile=10000
throng bench signin --rate=40
throng bench sim --cycles=1000000
throng bench sim --reps=9
throng config print --balance=search
throng config print --data=throng-data
throng config print --listen=127.0.0.1:8080
throng config print --require-second-factor=none
throng config print --scrub-at=03:00
throng demo --listen=127.0.0.1:0
throng demo --people=60
throng demo --scene=batches
throng demo --seed=1
throng demo --workers=36
throng key forget --data=throng-data
throng key show --data=throng-data
throng paper run --gaps=exponential
throng paper run --seed=1
throng pool actions --limit=20
throng pool fairness --limit=20
throng pool fairness --since=1h
throng pool queue --limit=20
throng pool rules set --use=true
throng pool show --every=2s
throng pool show --last=5
throng pool trace --seed=1
throng queueing --eta=0.5
throng queueing --salary=0.05
throng serve --balance=search
throng serve --data=throng-data
throng serve --listen=127.0.0.1:8080
throng serve --require-second-factor=none
throng serve --scrub-at=03:00
throng restore --data=throng-data
throng sim soak --rounds=200
throng sim soak --seed=1
throng tenant account --limit=50
throng tenant add --max-priority=100
throng tenant add --weight=1
throng tenant invite --role=requester
throng test create --pass-mark=80
throng test create --tries=1
throng worker add --pool=main
throng worker invitations --limit=100
throng worker pay --limit=100
throng worker invite --pool=main
throng worker run --wait=60s
throng workflow items --limit=100
throng workflow list --limit=100
throng workflow services --listen=127.0.0.1:8099
throng workflow show --slowest=3
`)

// TestDefaults compares them with the flags of every command, and with its help.
func TestDefaults(t *testing.T) {
	t.Parallel()
	var got []string
	for _, leaf := range commands(t) {
		for _, f := range leaf.Flags {
			if f.HasDefault && f.Default != "" {
				got = append(got, fmt.Sprintf("%s --%s=%s", leaf.FullPath(), f.Name, f.Default))
			}
		}
	}
	slices.Sort(got)
	for _, line := range got {
		if !slices.Contains(strings.Split(defaults, "\n"), line) {
			t.Errorf("%s is not in the list", line)
		}
	}
	helps := make(map[string]string)
	for line := range strings.SplitSeq(defaults, "\n") {
		if !slices.Contains(got, line) {
			t.Errorf("%s is in the list only", line)
			continue
		}
		command, flag, _ := strings.Cut(line, " --")
		name, value, _ := strings.Cut(flag, "=")
		if helps[command] == "" {
			helps[command] = helpOf(t, command)
		}
		if value == "true" {
			name, value = "[no-]"+name, ""
		}
		if help := helps[command]; !strings.Contains(help, "--"+name) || !strings.Contains(help, value) {
			t.Errorf("the help of %s does not tell %s", command, flag)
		}
	}
}

func helpOf(t *testing.T, command string) string {
	t.Helper()
	var out bytes.Buffer
	args := append(strings.Fields(command)[1:], "--help")
	if code := Main(context.Background(), args, strings.NewReader(""), &out, &out, "test"); code != 0 {
		t.Fatalf("%s --help: exit code %d", command, code)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// TestTheDemosDefaults: those that are not flags' are as its help tells them.
func TestTheDemosDefaults(t *testing.T) {
	t.Parallel()
	help := helpOf(t, "throng demo")
	if want := fmt.Sprintf("(default %s; of pools %s)", demo.DefaultFor, demo.DefaultPoolsFor); !strings.Contains(help, want) {
		t.Errorf("the help does not tell %q", want)
	}
	var d Demo
	parser, err := newParser(&Root{}, &Context{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse([]string{"demo"})
	if err != nil {
		t.Fatal(err)
	}
	d = parsed.Selected().Target.Interface().(Demo)
	if d.Workers != 36 || d.People != demo.DefaultPeople || d.Seed != 1 || d.Scene != "batches" || d.Listen != "127.0.0.1:0" || d.Keep || d.Data != "" || d.Replay != "" || d.For != 0 {
		t.Errorf("%+v", d)
	}
}
