// Package arch holds the shape of the house by tests: which room may import
// which, and what the pure rooms must not touch. It has no code of its own.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/throng-dev/throng/"

// room is one package: the floor it stands on, and the packages of other
// modules that it may import. A room imports rooms of lower floors only, or
// those of its own floor that are named.
type room struct {
	floor   int
	beside  []string // rooms of the same floor that it may import
	modules []string // packages of other modules
}

// rooms is the whole house. A new room must be declared here.
var rooms = map[string]room{
	"crowd": {floor: 0},

	"sched":             {floor: 1},
	"queueing":          {floor: 1},
	"label":             {floor: 1},
	"internal/template": {floor: 1, modules: []string{"golang.org/x/net/html"}},
	"internal/table":    {floor: 1, modules: []string{"github.com/parquet-go/parquet-go"}},
	"internal/stats":    {floor: 1, modules: []string{"gonum.org/v1/gonum/stat/distuv"}},
	"internal/chart":    {floor: 1, modules: []string{"gonum.org/v1/plot"}},

	"internal/agenda":    {floor: 1},
	"internal/condition": {floor: 1, modules: []string{"github.com/expr-lang/expr"}},
	"pool":               {floor: 1, beside: []string{"queueing", "internal/condition"}},
	"sla":                {floor: 1},

	"internal/similarity": {floor: 1, modules: []string{"github.com/adrg/strutil"}},
	"internal/schema":     {floor: 1, modules: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
	"internal/yamlfile":   {floor: 1, modules: []string{"go.yaml.in/yaml/v4"}},
	"internal/workflow":   {floor: 2, beside: []string{"internal/engine"}, modules: []string{"github.com/expr-lang/expr"}},

	"internal/engine": {floor: 2},

	"internal/auth":              {floor: 3, modules: []string{"golang.org/x/crypto/argon2"}},
	"internal/notify":            {floor: 3, modules: []string{"github.com/wneessen/go-mail", "github.com/SherClockHolmes/webpush-go"}},
	"internal/notify/notifytest": {floor: 3, beside: []string{"internal/notify"}}, // used by tests only
	"internal/store":             {floor: 3},
	"internal/store/sqlstore":    {floor: 3, beside: []string{"internal/store"}, modules: []string{"github.com/pressly/goose/v3"}},
	"internal/store/sqlite":      {floor: 3, beside: []string{"internal/store", "internal/store/sqlstore"}, modules: []string{"modernc.org/sqlite", "github.com/pressly/goose/v3"}},
	"internal/store/storetest":   {floor: 3, beside: []string{"internal/store"}, modules: []string{"github.com/google/go-cmp", "pgregory.net/rapid"}},

	"internal/sqlstep": {floor: 3, modules: []string{"modernc.org/sqlite"}},
	"internal/callout": {floor: 3},
	"internal/conduct": {floor: 3, beside: []string{"internal/store", "internal/sqlstep", "internal/callout"}},
	"internal/flowsim": {floor: 4},

	"internal/sim":      {floor: 3},
	"internal/sim/soak": {floor: 4},
	"internal/forecast": {floor: 3, beside: []string{"internal/sim"}},
	"internal/poolsim":  {floor: 3, beside: []string{"internal/sim"}},
	"internal/slasim":   {floor: 3, beside: []string{"internal/sim"}},

	"internal/service": {floor: 4},

	"internal/httpkit":  {floor: 5},
	"internal/api":      {floor: 5, beside: []string{"internal/httpkit"}, modules: []string{"github.com/danielgtaylor/huma/v2"}},
	"internal/web":      {floor: 5, beside: []string{"internal/httpkit"}},
	"internal/client":   {floor: 5},
	"internal/examples": {floor: 5},
	"internal/metrics":  {floor: 5, beside: []string{"internal/httpkit"}, modules: []string{"github.com/prometheus/client_golang"}},

	"internal/server": {floor: 6},

	"internal/scenario": {floor: 4},
	"internal/fit":      {floor: 5, beside: []string{"internal/scenario"}},
	"internal/report":   {floor: 5},
	"internal/paper":    {floor: 6, modules: []string{"gonum.org/v1/gonum/mathext/prng", "gonum.org/v1/gonum/stat/distuv"}},

	"internal/process":             {floor: 7},
	"internal/process/processtest": {floor: 10, modules: []string{"github.com/alecthomas/kong"}}, // used by tests only
	"internal/demo":                {floor: 8},
	"internal/killtest":            {floor: 8},
	"internal/bench":               {floor: 8, modules: []string{"modernc.org/sqlite"}},
	"internal/bench/schedbench":    {floor: 8},
	"internal/bench/simbench":      {floor: 8},

	"internal/cli": {floor: 9, modules: []string{"github.com/alecthomas/kong", "github.com/schollz/progressbar/v3", "github.com/dustin/go-humanize", "golang.org/x/term", "go.yaml.in/yaml/v4"}},
	"cmd/throng":   {floor: 10},

	"internal/arch":       {floor: 0}, // tests only
	"internal/sharedtest": {floor: 0}, // used by tests only
}

// pureFloor is the highest floor of pure rooms: they take time and randomness
// as arguments, do no I/O and start nothing.
const pureFloor = 2

// refusedInPure says why a pure room must not import a package.
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
	room   string
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
		files = append(files, file{path: rel, room: filepath.ToSlash(filepath.Dir(rel)), test: strings.HasSuffix(rel, "_test.go"), syntax: syntax})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d files found: is this the whole house?", len(files))
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

func TestArrowsPointDownwards(t *testing.T) {
	seen, arrows := map[string]bool{}, 0
	for _, f := range load(t) {
		r, ok := rooms[f.room]
		if !ok {
			t.Errorf("%s: room %s is not declared in arch_test.go", f.path, f.room)
			continue
		}
		seen[f.room] = true
		if f.test {
			continue // tests may look from above
		}
		for _, path := range imports(f) {
			if to, ours := strings.CutPrefix(path, module); ours {
				arrows++
				below, ok := rooms[to]
				if !ok || to == "internal/sharedtest" || (below.floor >= r.floor && !slices.Contains(r.beside, to)) {
					t.Errorf("%s imports %s, which is not below it", f.path, to)
				}
				continue
			}
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !allowed(r.modules, path) {
				t.Errorf("%s imports %s: declare it, and say in an ADR what it replaces", f.path, path)
			}
		}
	}
	for name := range rooms {
		if !seen[name] {
			t.Errorf("room %s is declared but has no file", name)
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

func TestPureRoomsStayPure(t *testing.T) {
	looked := map[string]bool{}
	for _, f := range load(t) {
		r := rooms[f.room]
		if f.test || r.floor > pureFloor || f.room == "internal/sharedtest" {
			continue
		}
		looked[f.room] = true
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
	for name, r := range rooms {
		if r.floor <= pureFloor && name != "internal/arch" && name != "internal/sharedtest" && !looked[name] {
			t.Errorf("room %s was not looked at", name)
		}
	}
}

func TestEveryRoomSaysWhatItIsFor(t *testing.T) {
	docs := map[string]int{}
	for _, f := range load(t) {
		if f.syntax.Doc != nil && !strings.HasSuffix(f.syntax.Name.Name, "_test") {
			docs[f.room]++
		}
	}
	for name := range rooms {
		if docs[name] != 1 {
			t.Errorf("room %s has %d package comments, it should have one", name, docs[name])
		}
	}
}

// longFiles lists the files that may be longer than the limit, with the reason.
var longFiles = map[string]string{}

func TestFilesHaveOneSubject(t *testing.T) {
	const limit = 800
	looked := 0
	for _, f := range load(t) {
		data, err := os.ReadFile(filepath.Join("../..", f.path))
		if err != nil {
			t.Fatal(err)
		}
		looked++
		if n := strings.Count(string(data), "\n"); n > limit && longFiles[f.path] == "" {
			t.Errorf("%s has %d lines: would a reader find one subject in it?", f.path, n)
		}
	}
	if looked == 0 {
		t.Error("no file was looked at")
	}
}

// TestNobodySleeps: tests wait for what they wait for, or hand the time in.
func TestNobodySleeps(t *testing.T) {
	looked := 0
	for _, f := range load(t) {
		looked++
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Sleep" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
					t.Errorf("%s sleeps", f.path)
				}
			}
			return true
		})
	}
	if looked == 0 {
		t.Error("no file was looked at")
	}
}
