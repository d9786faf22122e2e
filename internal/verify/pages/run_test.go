package pages

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// notRun lists the blocks that are not run here, by page and first line, with
// the reason. A block that is not there any more is an error.
var notRun = map[string]string{
	"workflows/insurance-claims/README.md: throng worker add eve --qualification expertise=80":                                                                                                            "80 claims through four programs and three kinds of people take longer than a test may; package examples runs the workflow",
	"README.md: make demo    # a server, two tenants, dozens of workers over real HTTP, labels out":                                                                                                       "builds and tests: .ci/run does both",
	`README.md: make build && export PATH="$PWD/bin:$PATH"`:                                                                                                                                               "the program is built and on the path already",
	"CONTRIBUTING.md: make build    # bin/throng":                                                                                                                                                         "builds and tests: .ci/run does both",
	"docs/benchmarks.md: go test ./pool -run '^$' -bench 'ControlStep|Plan'":                                                                                                                              "benchmarks, which take minutes",
	"docs/benchmarks.md: go test ./sla -run '^$' -bench 'Pass/atc|PutAndDrop|Advance$'":                                                                                                                   "benchmarks, which take minutes",
	"docs/benchmarks.md: go test ./internal/store/sqlite -run '^$' -bench 'Commit(HandOver)?/64'":                                                                                                         "benchmarks, which take minutes",
	"docs/benchmarks.md: go test ./internal/verify/bench -run '^$' -bench HandOver -benchtime 4000x":                                                                                                      "benchmarks, which take minutes",
	"docs/benchmarks.md: go test ./internal/server/app -run '^$' -bench Rows -benchtime 1x":                                                                                                               "benchmarks, which take minutes",
	"docs/live-pools.md: throng demo --scene pools          # 30 seconds; --for, --seed, --people, --keep, --json":                                                                                        "takes half a minute; the scripts of the command line run it shorter",
	"docs/paper.md: throng paper list":                                                                                                                                                                    "takes minutes; package repro runs them",
	"docs/workflow-simulation.md: throng workflow simulate workflows/insurance-claims/workflow.yaml --model workflows/insurance-claims/model.yaml --out report":                                           "takes half a minute; package workflows runs the file",
	"docs/simulation.md: throng sim run scenarios/paper-table-2.yaml --reps 100 --out report":                                                                                                             "takes a minute; package scenario runs the file",
	`docs/api.md: curl -X POST "$SERVER/v1/runs/r3/inputs/ours/rows?feed=orders&after=0" -H "Authorization: Bearer $TOKEN" --data-binary @new.csv   # {"input":"ours","added":2,"known":0,"feed_rows":2}`: "adds to an open input of a run, which this page does not make; package api's tests do",
	"docs/pool-simulation.md: throng pool simulate scenarios/pools/three-applications.yaml --out report":                                                                                                  "takes half a minute; package report runs the files",
}

// prepared are the pages whose commands begin where others end: with a server
// that has a tenant, an admin who is signed in, and people who answer.
var prepared = []string{
	"docs/api.md", "docs/forecast.md", "docs/inviting.md", "docs/people-data.md", "docs/quotas.md", "docs/results.md", "docs/service-steps.md", "docs/templates.md", "docs/using.md",
	"docs/workflows.md",
	"workflows/entity-matching/README.md", "workflows/insurance-claims/README.md", "workflows/moderation/README.md",
}

// first is what a page takes for granted besides that.
var first = map[string]string{
	"docs/api.md":           "throng pool create night",
	"docs/results.md":       `printf 'text\nlovely\nawful\n' > tones.csv`,
	"docs/service-steps.md": "throng tenant add acme && throng tenant add globex",
	"docs/forecast.md": `throng batch create --tenant north --name later --file examples/pets.csv --question 'Is ${name} a cat?' --option yes --option no \
  --reward 0.05 --qualification 'expertise>=99' --allow-small-crowd --launch`,
	// All workflows of the page are run, the one with a service that does not exist in a simulation.
	"docs/workflows.md": `printf 'id,title,price\n1,Red ball,3\n2,Blue kite,4\n' > ours.csv
printf 'id,title,known\n7,Red bell,yes\n8,Blue kita,no\n' > theirs.csv
printf 'model: a quick score\nsteps: {score: {time: 2s}}\n' > quick.yaml
throng workflow simulate match-products.yaml --each run --input ours=ours.csv --input theirs=theirs.csv --arrivals 6/h --for 1h --model quick.yaml --workers 4 --reps 1
printf 'kind,price\na,11\na,12\nb,13\nb,9\n' > rows.csv
throng workflow run count.yaml --input rows=rows.csv --every 200ms
throng workflow results r1 kinds --format csv | grep -x a,2
printf 'text,tier,declared\nhail,premium,10\nflood,regular,9000\nfire,regular,10\n' > claims.csv
throng workflow run claims-of-two-tiers.yaml --input claims=claims.csv --detach
throng workflow rows seal r2
until throng workflow show r2 | grep -E '^state +done'; do sleep 0.2; done
throng workflow show r2 | grep -E '^premium +2 +0 '
printf 'id,text\n1,late\n2,broken\n' > monday.csv
printf '{"id": "3", "text": "lost"}\n{"id": "4", "text": "dear"}\n' > complaints.jsonl`,
}

// last is what holds after a page.
var last = map[string]string{
	"docs/workflows.md": `wait
until throng workflow show r3 | grep -E '^state +done'; do sleep 0.2; done
[ $(throng workflow results r3 complaints --format csv | wc -l) -ge 3 ]`,
}

// program builds the command once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "throng-pages")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "throng"), root+"/cmd/throng").CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("build: %w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := program(); dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// TestCommands runs the shell blocks of every page, each page in a home and a
// folder of its own that holds nothing but the repository's examples.
func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: runs every command of the documentation")
	}
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	skipped, ran := map[string]bool{}, 0
	for _, page := range allPages(t) {
		list := blocks(t, page)
		list = slices.DeleteFunc(list, func(b block) bool {
			key := b.page + ": " + b.first()
			if notRun[key] != "" {
				skipped[key] = true
			}
			return notRun[key] != ""
		})
		if len(list) == 0 {
			continue
		}
		ran += len(list)
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			runPage(t, bin, list)
		})
	}
	for key := range notRun {
		if !skipped[key] {
			t.Errorf("%q is left out, but stands on no page", key)
		}
	}
	if ran < 10 {
		t.Errorf("only %d blocks were run", ran)
	}
}

// TestUsingAfterReadme follows the path of docs/README.md: the requester's commands
// of docs/using.md run where README.md's end, with the people whom both pages add.
func TestUsingAfterReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: runs commands of the documentation")
	}
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	r := newReader(t, bin)
	defer r.stop()
	for _, b := range blocks(t, "README.md") {
		switch {
		case notRun[b.page+": "+b.first()] != "":
		case b.server:
			r.serve(t, b)
		case strings.HasPrefix(b.first(), "throng sim "):
			r.answer(t, "bob", "eve")
			r.run(t, blocks(t, "docs/using.md")[0])
			return
		default:
			r.run(t, b)
		}
	}
	t.Fatal("README.md has no simulation after its server: where does it end?")
}

// reader is somebody who follows a page: a home, a folder, a server.
type reader struct {
	dir, bin string
	address  string // where the page's server listens, in place of 127.0.0.1:8080
	services string // where example services listen, in place of 127.0.0.1:8099
	links    []string
	servers  []*exec.Cmd
}

// example is what stands for a one-time link on the pages.
var (
	exampleLink = regexp.MustCompile(`'http://127\.0\.0\.1:8080/setup\?token=setup_…'`)
	realLink    = regexp.MustCompile(`http://\S+/setup\?token=setup_[A-Za-z0-9_-]+`)
)

// newReader returns a reader with a home and a folder that holds the examples.
func newReader(t *testing.T, bin string) *reader {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"examples", "scenarios", "workflows"} {
		path, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &reader{dir: dir, bin: bin, address: freeAddress(t), services: freeAddress(t)}
}

func runPage(t *testing.T, bin string, list []block) {
	r := newReader(t, bin)
	defer r.stop()
	if slices.Contains(prepared, list[0].page) {
		r.prepare(t)
		r.files(t, list[0].page)
		r.run(t, block{page: "prepare", text: first[list[0].page]})
	}
	for _, b := range list {
		if b.server {
			r.serve(t, b)
			continue
		}
		r.run(t, b)
	}
	r.run(t, block{page: "after " + list[0].page, text: last[list[0].page]})
}

// files saves the workflows that stand whole on a page, under their names.
func (r *reader) files(t *testing.T, page string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range wholeFlow.FindAllSubmatch(data, -1) {
		name := strings.ReplaceAll(strings.ToLower(string(found[2])), " ", "-") + ".yaml"
		if err := os.WriteFile(filepath.Join(r.dir, name), found[1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var wholeFlow = regexp.MustCompile("(?ms)^```yaml\n(workflow: ([^\n]*)\n.*?)^```$")

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// script is a block as it is run: the address and the one-time link of the page
// are replaced by those of its server, and a password comes from standard input.
func (r *reader) script(t *testing.T, b block) string {
	t.Helper()
	text := b.text
	if exampleLink.MatchString(text) {
		if len(r.links) == 0 {
			t.Fatalf("%s: no one-time link was printed before", b)
		}
		text = exampleLink.ReplaceAllString(text, "'"+r.links[len(r.links)-1]+"' --password-stdin <<<'correct horse'")
	}
	return "set -aeo pipefail\n[ -f .environment ] && . ./.environment\n" + r.addressed(text) + "\nexport -p > .environment\n"
}

// addressed puts the addresses of this machine that are free in place of those on
// the page.
func (r *reader) addressed(text string) string {
	return strings.NewReplacer("127.0.0.1:8080", r.address, "127.0.0.1:8099", r.services).Replace(text)
}

func (r *reader) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + r.bin + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(r.dir, "home"), "TZ=UTC",
		"THRONG_SERVER=http://" + r.address, "THRONG_LISTEN=" + r.address,
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

func (r *reader) run(t *testing.T, b block) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := r.command(ctx, r.script(t, b))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", b, err, b.text, out.String())
	}
	if refused := problem.FindString(out.String()); refused != "" {
		t.Fatalf("%s: the API refused it: %s\n%s\n%s", b, refused, b.text, out.String())
	}
	r.links = append(r.links, realLink.FindAllString(out.String(), -1)...)
}

// problem is in an answer of the API that refuses something; curl does not fail
// then.
var problem = regexp.MustCompile(`"status": ?[45]\d\d`)

// serve starts a block that goes on in another terminal, and returns when it
// listens.
func (r *reader) serve(t *testing.T, b block) {
	t.Helper()
	cmd := r.command(t.Context(), "exec "+strings.TrimSpace(r.addressed(b.text)))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	r.servers = append(r.servers, cmd)
	lines := bufio.NewScanner(out)
	for listening := false; ; {
		if !lines.Scan() {
			t.Fatalf("%s: ended before it listened", b)
		}
		r.links = append(r.links, realLink.FindAllString(lines.Text(), -1)...)
		listening = listening || strings.Contains(lines.Text(), " http://")
		if listening && (len(r.links) > 0 || !strings.HasPrefix(b.first(), "throng serve")) {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// prepare starts a server, and does what the pages before have done.
func (r *reader) prepare(t *testing.T) {
	t.Helper()
	const people = "ann bob cy dan"
	r.serve(t, block{page: "prepare", text: "throng serve --allow-service 127.0.0.1:8099"})
	r.run(t, block{page: "prepare", text: "throng login --setup 'http://127.0.0.1:8080/setup?token=setup_…'"})
	r.run(t, block{page: "prepare", text: `throng tenant add north --deposit 1000
for name in ` + people + `; do
  throng worker add $name --qualification moderation=90 --qualification expertise=80
done
export THRONG_TOKEN=$(throng token create admin --json | grep -o 'thr_[A-Za-z0-9_-]*')
`})
	r.answer(t, strings.Fields(people)...)
}

// answer lets people answer whatever they get, as soon as there are such people.
// Their tokens are made with the saved login of the admin.
func (r *reader) answer(t *testing.T, people ...string) {
	t.Helper()
	for _, name := range people {
		cmd := r.command(t.Context(), "until throng token create "+name+" --for "+name+" --json > "+name+`.token; do sleep 0.2; done
token=$(grep -o 'thr_[A-Za-z0-9_-]*' `+name+`.token)
while true; do yes 1 | throng worker run --wait 5s --token $token; done`)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.servers = append(r.servers, cmd)
	}
}

func (r *reader) stop() {
	for _, cmd := range r.servers {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
	}
}
