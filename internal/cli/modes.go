package cli

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/workflow"
)

// given lists the flags of a group that were given to a command, in the order of its help, as
// they are written. A flag that belongs to one way of using a command is in the group of that,
// and has no default: so no other way ignores it without a word.
func given(command any, group string) (flags []string) {
	v := reflect.Indirect(reflect.ValueOf(command))
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("group") == group && !v.Field(i).IsZero() {
			flags = append(flags, "--"+flagName(&f))
		}
	}
	return flags
}

// flagName is the name of a flag, by its field.
func flagName(f *reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var out strings.Builder
	for i, r := range f.Name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('-')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// areAbout is how a sentence goes on about flags.
func areAbout(flags []string) string {
	if len(flags) == 1 {
		return flags[0] + " is about"
	}
	return strings.Join(flags, ", ") + " are about"
}

// fits checks flags before anything is done.
func (x *WorkflowRun) fits(w *workflow.Workflow) error {
	simulated := x.SimulateWorkers != nil
	served, simulates := slices.Concat(given(x, "served"), x.Remote.given()), lists.Filter(given(x, "simulated"), func(flag string) bool { return flag != "--simulate-workers" })
	switch {
	case simulated && len(served) > 0:
		return wrong("simulate-workers", "%s a server: leave %s out", areAbout(served), cmp.Or(when(len(served) == 1, "it"), "them"))
	case x.Detach && len(x.Follow) > 0:
		return wrong("follow", "goes without --detach: add rows later with throng workflow rows add RUN --file FILE")
	case !simulated && len(simulates) > 0:
		return wrong("simulate-workers", "is missing: %s simulations", areAbout(simulates))
	case x.Detach && x.Every != nil:
		return wrong("every", "goes without --detach, which looks once")
	case !simulated && x.Force && x.Out == "":
		return wrong("force", "goes with --out: without it nothing is written")
	case len(x.Input)+len(x.Follow) == 0 && x.RowsOfFile.given() != "":
		return wrong(x.RowsOfFile.given(), "goes with --input%s: no file is read", when(!simulated, " or --follow"))
	case x.AskAgain && x.FromRun == 0:
		return wrong("from-run", "is missing: --ask-again is about the labels of that run")
	case x.RenewAges && x.FromRun == 0:
		return wrong("from-run", "is missing: --renew-ages is about the items of that run")
	case x.From != "" && x.FromRun == 0:
		return wrong("from-run", "is missing: --from is a step of that run")
	case x.Detach && x.Out != "":
		return wrong("out", "goes without --detach: get the outputs later with throng workflow results RUN --out FILE")
	case x.Budget.check() != nil:
		return x.Budget.check()
	}
	if simulated && (*x.SimulateWorkers < 1 || *x.SimulateWorkers > 100_000) {
		return wrong("simulate-workers", "must be from 1 to 100000, not %d", *x.SimulateWorkers)
	}
	return x.inputsFit(w)
}
