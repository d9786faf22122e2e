// Package arch holds the architecture by tests: which package may import which,
// and what the pure packages must not touch. It has no code of its own.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/throng-dev/throng/"

// families is the tree of docs/architecture.md: a family is a public package, or
// a folder of internal/ with all that lies in it. The value names the families
// that its packages may import, next to their own. It must have no cycle.
var families = map[string][]string{
	// L0: nouns, and helpers that know no crowd.
	"crowd": {},
	"kit":   {"crowd"},

	// L1: the algorithms.
	"sched":    {"crowd", "kit"},
	"queueing": {"crowd"},
	"pool":     {"crowd", "kit", "queueing"},
	"sla":      {"crowd", "kit"},
	"label":    {"crowd", "kit"},

	// L2: the state machine, the kinds of question, the plan of a workflow.
	"task":     {"crowd", "kit", "label"},
	"engine":   {"crowd", "kit", "sched", "pool", "sla", "label"},
	"workflow": {"crowd", "kit", "sla", "label", "task", "engine"},

	// L3: what is kept, what carries out runs, the virtual world.
	"store":        {"crowd", "kit", "sched", "pool", "sla", "label", "engine"},
	"orchestrator": {"crowd", "kit", "sched", "sla", "label", "task", "engine", "workflow", "store"},
	"sim":          {"crowd", "kit", "sched", "queueing", "pool", "sla", "label", "task", "engine", "workflow", "store", "orchestrator"},

	// L4 and L5: the live world with its edges, and the API from the other side.
	"wire":   {"crowd", "kit", "pool", "label", "task", "workflow", "sim"},
	"server": {"crowd", "kit", "sched", "pool", "sla", "label", "task", "engine", "workflow", "store", "orchestrator", "sim", "wire"},
	"client": {"crowd", "kit", "pool", "label", "task", "sim", "wire"},

	// Above what they try.
	"repro":  {"crowd", "kit", "sched", "queueing", "pool", "sla", "label", "engine", "sim"},
	"verify": {"crowd", "kit", "sched", "pool", "sla", "label", "task", "engine", "workflow", "store", "orchestrator", "sim", "server", "wire", "client"},

	// L6: the commands.
	"cli": {"crowd", "kit", "sched", "queueing", "pool", "sla", "label", "task", "engine", "workflow", "store", "orchestrator", "sim", "server", "wire", "client", "repro", "verify"},
	"cmd": {"cli"},

	"arch": {}, // tests only
}

// pure are the families that take time and randomness as arguments, do no I/O
// and start nothing; impure are the packages within them that do.
var (
	pure   = []string{"crowd", "kit", "sched", "queueing", "pool", "sla", "label", "task", "engine", "workflow"}
	impure = map[string]string{
		"internal/kit/pattern":       "a program of a pattern is made when it is first needed, by whichever goroutine does",
		"internal/kit/disk":          "asks the system about files and their disk",
		"internal/kit/keyring":       "makes keys and nonces, which nobody may foresee",
		"internal/kit/sharedtest":    "finds data and a browser for tests",
		"internal/workflow/sqlstep":  "runs a query in SQLite",
		"internal/workflow/httpstep": "calls a service",
	}
)

// forTests are packages that only tests import.
var forTests = []string{"internal/kit/sharedtest", "internal/server/notify/notifytest", "internal/server/passkey/passkeytest", "internal/verify/process/processtest"}

// separate are pairs of families' parts that never know each other, however
// their families stand: from, to.
var separate = [][2]string{
	{"internal/store", "internal/sim"},
	{"internal/sim/forecast", "internal/store"},
	{"internal/sim/pools", "internal/store"},
	{"internal/sim/scenario", "internal/store"},
	{"internal/sim/report", "internal/store"},
	{"internal/server/api", "internal/server/web"},
	{"internal/server/web", "internal/server/api"},
}

// serverLayers are the packages of the server, those that everything stands on
// first: a package imports packages of earlier lines only.
var serverLayers = [][]string{
	{"internal/server/auth", "internal/server/httpkit", "internal/server/input", "internal/server/limits", "internal/server/notify"},
	{"internal/server/passkey"},
	{"internal/server/notify/notifytest", "internal/server/passkey/passkeytest"}, // for tests
	{"internal/server/access", "internal/server/live"},
	{"internal/server/groups"},
	{"internal/server/oidc"},
	{"internal/server/pseudonym"},
	{"internal/server/audit", "internal/server/nodes", "internal/server/recruit", "internal/server/repeats", "internal/server/retention"},
	{"internal/server/accounts", "internal/server/results", "internal/server/work"},
	{"internal/server/batches", "internal/server/control", "internal/server/pay", "internal/server/runs"},
	{"internal/server/app"},
	{"internal/server/api", "internal/server/metrics", "internal/server/scim", "internal/server/web"}, // the edges
	{"internal/server"},
}

// layer returns the line of serverLayers that a package is in, or -1.
func layer(pkg string) int {
	return slices.IndexFunc(serverLayers, func(line []string) bool { return slices.Contains(line, pkg) })
}

// modules are the packages of other modules that a package may import. Each has
// its line in an ADR saying what it replaces.
var modules = map[string][]string{
	"label":                               {"gonum.org/v1/gonum/mat"},
	"internal/task":                       {"golang.org/x/net/html"},
	"internal/kit/table":                  {"github.com/parquet-go/parquet-go", "github.com/klauspost/compress/zstd", "github.com/pierrec/lz4/v4"},
	"internal/kit/stats":                  {"gonum.org/v1/gonum/mathext"},
	"internal/kit/condition":              {"github.com/expr-lang/expr"},
	"internal/kit/similarity":             {"github.com/adrg/strutil"},
	"internal/kit/jsonschema":             {"github.com/santhosh-tekuri/jsonschema/v6"},
	"internal/kit/yamlfile":               {"go.yaml.in/yaml/v4"},
	"internal/workflow":                   {"github.com/expr-lang/expr"},
	"internal/workflow/sqlstep":           {"modernc.org/sqlite", "modernc.org/libc"},
	"internal/server":                     {"golang.org/x/crypto/acme"},
	"internal/server/auth":                {"golang.org/x/crypto/argon2"},
	"internal/server/oidc":                {"github.com/coreos/go-oidc/v3/oidc", "golang.org/x/oauth2", "go.yaml.in/yaml/v4"},
	"internal/server/passkey":             {"github.com/go-webauthn/webauthn/webauthn", "github.com/go-webauthn/webauthn/protocol"},
	"internal/server/notify":              {"github.com/wneessen/go-mail", "github.com/SherClockHolmes/webpush-go"},
	"internal/server/api":                 {"github.com/danielgtaylor/huma/v2"},
	"internal/server/web":                 {"rsc.io/qr"},
	"internal/server/metrics":             {"github.com/prometheus/client_golang"},
	"internal/store/sqlstore":             {"github.com/pressly/goose/v3"},
	"internal/store/sqlite":               {"modernc.org/sqlite", "github.com/pressly/goose/v3"},
	"internal/store/postgres":             {"github.com/jackc/pgx/v5", "github.com/pressly/goose/v3"},
	"internal/store/postgres/pgtest":      {"github.com/jackc/pgx/v5"},
	"internal/repro/dafs":                 {"gonum.org/v1/gonum/mathext/prng"},
	"internal/repro/experiment":           {"gonum.org/v1/gonum/mathext"},
	"internal/verify/process/processtest": {"github.com/alecthomas/kong"},
	"internal/verify/bench":               {"modernc.org/sqlite", "github.com/jackc/pgx/v5"},
	"internal/verify/process":             {"github.com/prometheus/procfs"},
	"internal/cli":                        {"github.com/alecthomas/kong", "github.com/schollz/progressbar/v3", "github.com/dustin/go-humanize", "golang.org/x/term", "go.yaml.in/yaml/v4"},
}

// aboveTheRest are packages of verify that import the commands: they are used by
// tests only.
var aboveTheRest = map[string][]string{"internal/verify/process/processtest": {"cli"}}

// refusedInPure says why a pure package must not import a package.
var refusedInPure = map[string]string{
	"context":       "a pure function is not cancelled: it is short",
	"log":           "what happened is a return value",
	"log/slog":      "what happened is a return value",
	"net":           "no I/O",
	"net/http":      "no I/O",
	"os":            "no I/O",
	"os/exec":       "no I/O",
	"io/fs":         "no I/O",
	"database/sql":  "no I/O",
	"math/rand":     "random streams are handed in",
	"math/rand/v2":  "random streams are handed in",
	"crypto/rand":   "random streams are handed in",
	"sync":          "no goroutines, so nothing to lock",
	"sync/atomic":   "no goroutines, so nothing to lock",
	"runtime":       "the same everywhere",
	"unsafe":        "not needed",
	"path/filepath": "no I/O",
	"os/signal":     "no I/O",
}

// refusedTime are the names of package time that read a clock or wait.
var refusedTime = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

type file struct {
	path   string // from the module's root
	pkg    string // its folder
	test   bool
	syntax *ast.File
}

func load(t *testing.T) []file {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	var files []file
	set := token.NewFileSet()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		syntax, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		files = append(files, file{path: rel, pkg: filepath.ToSlash(filepath.Dir(rel)), test: strings.HasSuffix(rel, "_test.go"), syntax: syntax})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d files found: is this the whole tree?", len(files))
	}
	return files
}

func imports(f file) []string {
	var list []string
	for _, i := range f.syntax.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		list = append(list, path)
	}
	return list
}

// family returns the family of a package.
func family(pkg string) string {
	parts := strings.Split(pkg, "/")
	if parts[0] == "internal" {
		return parts[1]
	}
	return parts[0]
}

// within reports whether a package is a folder or lies in it.
func within(pkg, folder string) bool {
	return pkg == folder || strings.HasPrefix(pkg, folder+"/")
}

func TestFamiliesHaveNoCycle(t *testing.T) {
	const visiting, done = 1, 2
	state := map[string]int{}
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		path = append(path, name)
		switch state[name] {
		case visiting:
			t.Errorf("families import each other: %s", strings.Join(path, " -> "))
			return
		case done:
			return
		}
		state[name] = visiting
		for _, to := range families[name] {
			if _, ok := families[to]; !ok {
				t.Errorf("family %s may import %s, which is not declared", name, to)
			}
			visit(to, path)
		}
		state[name] = done
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		visit(name, nil)
	}
}

// TestThePageShowsTheTree: docs/architecture.md and its picture name every family,
// and the page every package.
func TestThePageShowsTheTree(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile("../../docs/pictures/packages.svg")
	if err != nil {
		t.Fatal(err)
	}
	for name := range families {
		if name == "arch" {
			continue
		}
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/architecture.md does not name the family %s", name)
		}
		if !strings.Contains(string(picture), ">"+name+"<") && !strings.Contains(string(picture), name+"/") && !strings.Contains(string(picture), "· "+name) {
			t.Errorf("docs/pictures/packages.svg does not show the family %s", name)
		}
	}
	looked := map[string]bool{}
	for _, f := range load(t) {
		name := filepath.Base(f.pkg)
		if f.test || looked[f.pkg] || slices.Contains(forTests, f.pkg) {
			continue
		}
		looked[f.pkg] = true
		if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), name+"`") && !strings.Contains(string(page), "`"+name) {
			t.Errorf("docs/architecture.md does not name the package %s", f.pkg)
		}
	}
	if len(looked) < 40 {
		t.Errorf("only %d packages were looked at", len(looked))
	}
}

func TestImportsFollowTheTree(t *testing.T) {
	seen, arrows := map[string]bool{}, 0
	for _, f := range load(t) {
		own := family(f.pkg)
		below, ok := families[own]
		if !ok {
			t.Errorf("%s: family %s is not declared in arch_test.go", f.path, own)
			continue
		}
		seen[own] = true
		if own == "server" && layer(f.pkg) < 0 {
			t.Errorf("%s: package %s is in no layer of the server", f.path, f.pkg)
		}
		if f.test {
			continue // tests may look from above
		}
		for _, path := range imports(f) {
			if to, ours := strings.CutPrefix(path, module); ours {
				arrows++
				other := family(to)
				if other != own && !slices.Contains(below, other) && !slices.Contains(aboveTheRest[f.pkg], other) {
					t.Errorf("%s imports %s: family %s may not import %s", f.path, to, own, other)
				}
				if slices.Contains(forTests, to) && !slices.Contains(forTests, f.pkg) {
					t.Errorf("%s imports %s, which is for tests", f.path, to)
				}
				if own == "server" && other == "server" && layer(to) >= layer(f.pkg) {
					t.Errorf("%s imports %s: in the layers of the server that is not below it", f.path, to)
				}
				for _, pair := range separate {
					if within(f.pkg, pair[0]) && within(to, pair[1]) {
						t.Errorf("%s imports %s: the two never know each other", f.path, to)
					}
				}
				continue
			}
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !allowed(modules[f.pkg], path) {
				t.Errorf("%s imports %s: declare it, and say in an ADR what it replaces", f.path, path)
			}
		}
	}
	for name := range families {
		if !seen[name] {
			t.Errorf("family %s: declared but without a file", name)
		}
	}
	if arrows < 50 {
		t.Errorf("only %d arrows were looked at", arrows)
	}
}

func allowed(list []string, path string) bool {
	for _, m := range list {
		if path == m || strings.HasPrefix(path, m+"/") {
			return true
		}
	}
	return false
}

func TestPurePackagesStayPure(t *testing.T) {
	looked, excepted := map[string]bool{}, map[string]bool{}
	for _, f := range load(t) {
		if f.test || !slices.Contains(pure, family(f.pkg)) {
			continue
		}
		if impure[f.pkg] != "" {
			excepted[f.pkg] = true
			continue
		}
		looked[family(f.pkg)] = true
		for _, path := range imports(f) {
			if why, bad := refusedInPure[path]; bad {
				t.Errorf("%s imports %s: %s", f.path, path, why)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", f.path)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(refusedTime, n.Sel.Name) {
					t.Errorf("%s uses time.%s: time is handed in", f.path, n.Sel.Name)
				}
			}
			return true
		})
	}
	for _, name := range pure {
		if !looked[name] {
			t.Errorf("family %s was not looked at", name)
		}
	}
	for name := range impure {
		if !excepted[name] {
			t.Errorf("package %s is excepted from being pure, but does not exist", name)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	docs := map[string]int{}
	for _, f := range load(t) {
		if strings.HasSuffix(f.syntax.Name.Name, "_test") {
			continue
		}
		docs[f.pkg] += 0
		if f.syntax.Doc != nil {
			docs[f.pkg]++
		}
	}
	for name, n := range docs {
		if n != 1 {
			t.Errorf("package %s has %d package comments, it should have one", name, n)
		}
	}
}

// manyMethods lists the types that may have more exported methods than the
// limit, as "package.Type", with the reason.
var manyMethods = map[string]string{
	"internal/engine.Engine":        "one state machine: its methods are the commands and what can be read of its state",
	"internal/store/sqlstore.Store": "implements the parts of store.Store, which are several interfaces",
	"internal/client.Client":        "a method for each route of the API",
}

// TestTypesHaveOneSubject: a type with more methods than a reader can hold is
// several types.
func TestTypesHaveOneSubject(t *testing.T) {
	const limit = 40
	methods := map[string]int{}
	for _, f := range load(t) {
		if f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.IsExported() {
					methods[f.pkg+"."+receiver(d.Recv.List[0].Type)]++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok {
						if i, ok := named.Type.(*ast.InterfaceType); ok {
							methods[f.pkg+"."+named.Name.Name] += i.Methods.NumFields()
						}
					}
				}
			}
		}
	}
	for name, n := range methods {
		if n > limit && manyMethods[name] == "" {
			t.Errorf("%s has %d exported methods, at most %d: which types is it made of?", name, n, limit)
		}
	}
	for name := range manyMethods {
		if methods[name] <= limit {
			t.Errorf("%s is excepted, but has %d exported methods", name, methods[name])
		}
	}
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
