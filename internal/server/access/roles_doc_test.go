package access_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/sharedtest"
	"github.com/throng-dev/throng/internal/server/access"
)

var update = flag.Bool("update", false, "write the tables anew")

// table is the table of docs/roles.md.
func table() string {
	var b strings.Builder
	b.WriteString("| permission | what for |")
	for _, r := range access.BuiltIns() {
		fmt.Fprintf(&b, " %s |", r.Role)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(access.BuiltIns())) + "\n")
	for _, x := range access.AllPermissions() {
		fmt.Fprintf(&b, "| `%s` | %s |", x, x.Text())
		for _, r := range access.BuiltIns() {
			mark := ""
			if r.Has(x) {
				mark = "x"
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestTheTableOfRoles: docs/roles.md has the table as it is.
func TestTheTableOfRoles(t *testing.T) { sharedtest.DocTable(t, "roles.md", table(), *update) }

// mayDo lists each operation, for whom it is, and which built-in roles may do it.
func mayDo() string {
	of := map[access.Who]string{access.Internal: "internal", access.Everybody: "everybody", access.Self: "oneself", access.Members: "who has a role",
		access.Provider: "a provider", access.Anywhere: "any tenant", access.Tenant: "its tenant", access.Installation: "the installation"}
	list := make([]string, 0, len(access.Operations()))
	for _, o := range access.Operations() {
		line := fmt.Sprintf("%s: %s", o.Name, of[o.Who])
		if o.Needs != access.CanNothing {
			var roles []string
			for _, r := range access.BuiltIns() {
				if r.Has(o.Needs) {
					roles = append(roles, string(r.Role))
				}
			}
			line += ": " + strings.Join(roles, " ")
		}
		list = append(list, line+"\n")
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

// TestWhichRolesMayDoWhat: a row of the table of operations that is changed shows which roles may do
// more or less by it, in a file that is read with the change. What may be done is tested by the rows
// themselves, which cannot tell that one is wrong.
func TestWhichRolesMayDoWhat(t *testing.T) {
	file := filepath.Join("testdata", "may_do.txt")
	if *update {
		if err := os.WriteFile(file, []byte(mayDo()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(kept), "\n"), strings.Split(mayDo(), "\n")
	if len(was) < 200 {
		t.Fatalf("the file has %d operations", len(was))
	}
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("it is no longer so: %s", line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("it is so now: %s", line)
		}
	}
	if t.Failed() {
		t.Log("if that is meant: go test ./internal/server/access -update")
	}
}

// TestPermissionsAreForSomething: each permission is needed by an operation, each
// operation of a tenant, of the installation or of anybody needs one, as does what workers do for themselves
// by a limited token, and each role but
// the worker's is one of the admin's.
func TestPermissionsAreForSomething(t *testing.T) {
	needed := make(map[access.Permission]int)
	for _, o := range access.Operations() {
		needed[o.Needs]++
		if (o.Needs == access.CanNothing) != (o.Who < access.Anywhere) && (o.Who != access.Self || o.Needs != access.CanWork) {
			t.Errorf("%s: needs %q of %d", o.Name, o.Needs, o.Who)
		}
	}
	all := access.AllPermissions()
	if len(all) < 15 {
		t.Fatalf("only %d permissions", len(all))
	}
	names := make(map[string]bool)
	for _, x := range all {
		if needed[x] == 0 || x.String() == "" || x.Text() == "" || names[x.String()] {
			t.Errorf("%q: %q, needed %d times, named before: %t", x, x.Text(), needed[x], names[x.String()])
		}
		names[x.String()] = true
		if got, err := access.ParsePermission("permission", x.String()); got != x || err != nil {
			t.Errorf("%s is read as %s: %v", x, got, err)
		}
	}
	if _, err := access.ParsePermission("permission", ""); err == nil {
		t.Error("a permission without a name")
	}
	if admin := access.BuiltIns()[0]; admin.Role != access.Admin || len(admin.Names()) != len(all)-1 || admin.Has(access.CanWork) {
		t.Errorf("the first role is %s with %v", admin.Role, admin.Names())
	}
}
