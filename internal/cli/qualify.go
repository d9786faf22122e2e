package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/wire"
)

// Test is "throng test".
type Test struct {
	Create TestCreate `cmd:"" help:"Make a qualification test."`
	List   TestList   `cmd:"" help:"List the tests."`
	Show   TestShow   `cmd:"" help:"Show a test, and how people fared at it."`
	Retire TestRetire `cmd:"" help:"Ask nobody new to take a test."`
}

func testState(t *wire.GivenTest) string {
	switch {
	case t.Retired:
		return "retired"
	case t.Open:
		return "open"
	}
	return ""
}

// TestCreate is "throng test create".
type TestCreate struct {
	Name      string          `arg:"" help:"The test's name."`
	Questions string          `required:"" placeholder:"FILE" help:"The questions, one a row, with the right answers in the column _gold: CSV, TSV or JSON Lines."`
	Delimiter table.Delimiter `placeholder:"SIGN" help:"What stands between the cells of CSV: \",\", \";\", \"|\" or tab; default: found out."`
	Template  string          `required:"" placeholder:"FILE" help:"How a question is shown and answered, as JSON, as for a batch; not of kind html."`
	PassMark  int             `default:"80" help:"The score from which on it is passed, 1 to 100."`
	Draw      *int            `placeholder:"N" help:"How many questions, drawn again each time, make a try; default: all."`
	Tries     int             `default:"1" help:"How often somebody may try, 1 to 100."`
	Wait      span            `placeholder:"DURATION" help:"Between the end of a try and the next."`
	TimeLimit span            `placeholder:"DURATION" help:"For a try, such as 20m; default: none."`
	Grants    string          `placeholder:"QUALIFICATION" help:"What it qualifies for; default: the test's name."`
	Open      bool            `help:"Every worker may take it, not only those invited to it."`
	Tenant    string          `help:"For which tenant; not needed by a requester of one. An admin's without is of the whole installation."`
	Remote
}

// Run makes the test.
func (x *TestCreate) Run(c *Context, r *remote) error {
	shown, err := os.ReadFile(x.Template)
	if err != nil {
		return err
	}
	t, err := task.Parse(shown)
	if err != nil {
		return ofFile(x.Template, err)
	}
	form, err := json.Marshal(t)
	if err != nil {
		return err
	}
	const most = 6 << 20
	text, err := c.read(x.Questions, most)
	if err != nil {
		return err
	}
	if len(text) > most {
		return &crowd.Error{Code: crowd.TooLarge, Field: "questions", Message: "the file is longer than 6 MiB"}
	}
	tenant, err := r.tenant(x.Tenant)
	if err != nil {
		return err
	}
	draw := 0
	if x.Draw != nil {
		draw = *x.Draw
	}
	switch {
	case x.Draw != nil && draw < 1:
		return wrong("draw", "%d is not a number of questions (1 or more): leave it out for all", draw)
	case x.Tries == 0: // the API takes it for none given
		return wrong("tries", "0 is not a number of tries (1 to 100)")
	}
	out, err := r.CreateTest(c.Ctx, wire.NewTest{
		Name: x.Name, Tenant: tenant, Template: wire.Template(form), Questions: string(text), Format: string(table.FormatOf(x.Questions)), Delimiter: x.Delimiter.String(),
		PassMark: x.PassMark, Draw: draw, Tries: x.Tries, Grants: x.Grants,
		WaitSeconds: int64(x.Wait.Seconds()), TimeLimitSeconds: int64(x.TimeLimit.Seconds()), Open: x.Open,
	})
	if err != nil {
		return ofFile(x.Questions, err)
	}
	return x.print(c, out, func(w io.Writer) {
		say(w, "%d %s: %d of %s, %d %% to pass, grants %s\n", out.ID, clean(out.Name), out.Questions, format.Count(out.File, "question"), out.PassMark, clean(out.Grants))
	})
}

// TestList is "throng test list".
type TestList struct {
	Tenant string `help:"Those of this tenant and of the installation; not needed by a requester of one."`
	Remote
}

// Run lists the tests.
func (x *TestList) Run(c *Context, r *remote) error {
	tenant, err := r.tenant(x.Tenant)
	if err != nil {
		return err
	}
	list, err := r.Tests(c.Ctx, tenant)
	return printTable(r, list, err, "ID|NAME|TENANT|GRANTS|QUESTIONS|TO PASS|TRIES|STATE", func(t wire.GivenTest) []any {
		return []any{t.ID, t.Name, cmp.Or(when(t.Tenant != 0, t.Tenant.String()), "all"), t.Grants, fmt.Sprintf("%d of %d", t.Questions, t.File),
			fmt.Sprintf("%d %%", t.PassMark), t.Tries, testState(&t)}
	})
}

// ownedName is what a test is called where owners have tests of one name: that of its tenant stands before it.
func ownedName(t *wire.GivenTest) string {
	if owner, _, is := strings.Cut(t.Grants, "/"); is && t.Tenant != 0 {
		return owner + "/" + t.Name
	}
	return t.Name
}

// test finds a test by number, or by name, alone or behind its owner's: north/birds. A name alone that
// several have is nobody's.
func (r *remote) test(text string, tenant crowd.TenantID) (wire.GivenTest, error) {
	list, err := r.Tests(r.c.Ctx, tenant)
	if err != nil {
		return wire.GivenTest{}, err
	}
	var called []wire.GivenTest
	names := make([]string, len(list))
	for i, t := range list {
		if strconv.FormatInt(t.ID, 10) == text || t.Tenant != 0 && ownedName(&t) == text {
			return t, nil
		}
		if t.Name == text {
			called = append(called, t)
		}
		names[i] = ownedName(&t)
	}
	if len(called) == 1 {
		return called[0], nil
	}
	if len(called) > 1 {
		which := lists.Map(called, func(t wire.GivenTest) string {
			if t.Tenant == 0 {
				return fmt.Sprintf("%d (of the installation)", t.ID)
			}
			return fmt.Sprintf("%d (%s)", t.ID, ownedName(&t))
		})
		return wire.GivenTest{}, &crowd.Error{Code: crowd.Conflict, Field: "test", Message: fmt.Sprintf("several tests are called %s: %s; say which by its number, or with its owner's name", text, strings.Join(which, ", "))}
	}
	message := "no such test: " + text + " (make it first: throng test create NAME --questions FILE --template FILE)"
	if len(names) > 0 {
		message += "; there are " + strings.Join(names, ", ")
	}
	return wire.GivenTest{}, &crowd.Error{Code: crowd.NotFound, Field: "test", Message: message}
}

// TestShow is "throng test show".
type TestShow struct {
	Test string `arg:"" help:"The test: its name, alone or behind its owner's (north/birds), or its number."`
	Remote
}

func outcomeOf(t *wire.Try) string {
	switch {
	case t.Passed:
		return "passed"
	case t.Late:
		return "too late"
	case t.SubmittedAt.IsZero():
		return "not submitted"
	}
	return "not passed"
}

// Run shows the test.
func (x *TestShow) Run(c *Context, r *remote) error {
	t, err := r.test(x.Test, 0)
	if err == nil {
		t, err = r.Test(c.Ctx, t.ID) // lists have no templates
	}
	if err != nil {
		return err
	}
	out := struct {
		wire.GivenTest
		List []wire.Try `json:"tried"`
	}{t, []wire.Try{}}
	if list, err := r.Tries(c.Ctx, t.ID); err == nil {
		out.List = list
	} else if crowd.CodeOf(err) != crowd.NotFound {
		return err // not found: it is the installation's, and how people fared is for admins
	}
	return x.print(c, out, func(w io.Writer) {
		pairs(w, "test", fmt.Sprintf("%d %s", t.ID, t.Name), "grants", t.Grants, "questions", fmt.Sprintf("%d of %d", t.Questions, t.File),
			"to pass", fmt.Sprintf("%d %%", t.PassMark), "tries", strconv.Itoa(t.Tries), "between", inSeconds(t.WaitSeconds), "time", inSeconds(t.TimeLimitSeconds), "state", testState(&t))
		if len(out.List) == 0 {
			return
		}
		say(w, "\n")
		writeTable(w, out.List, "WHO|TRY|BEGUN|RIGHT|SCORE|OUTCOME", func(x wire.Try) []any {
			return []any{calledBy(x.Worker, x.Name), x.Try, x.StartedAt, x.Right, fmt.Sprintf("%d %%", x.Score), outcomeOf(&x)}
		})
		if slices.ContainsFunc(out.List, func(x wire.Try) bool { return x.Try >= t.Tries && !x.Passed && !x.SubmittedAt.IsZero() }) {
			say(w, "\nwho has no try left is invited again without the test, and accepts with the account that they have: throng worker invite --mail ADDRESS --pool POOL\n")
		}
	})
}

// inSeconds writes a number of them for people; "" for none.
func inSeconds(n int64) string {
	if n == 0 {
		return ""
	}
	return (time.Duration(n) * time.Second).String()
}

// TestRetire is "throng test retire".
type TestRetire struct {
	Test string `arg:"" help:"The test: its name, alone or behind its owner's (north/birds), or its number."`
	Undo bool   `help:"Take it up again."`
	Remote
}

// Run retires the test.
func (x *TestRetire) Run(c *Context, r *remote) error {
	t, err := r.test(x.Test, 0)
	if err != nil {
		return err
	}
	out, err := r.RetireTest(c.Ctx, t.ID, !x.Undo)
	return r.tell(out, err, "%d %s: %s\n", out.ID, clean(out.Name), cmp.Or(testState(&out), "in use"))
}
