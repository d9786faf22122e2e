package cli

import (
	"reflect"
	"strings"
	"testing"
)

// TestEveryFlagHasAMode: each flag of a command that goes on a server or simulates is about both,
// or in the group of one; those of the other are refused by name, so that none is ignored.
func TestEveryFlagHasAMode(t *testing.T) {
	t.Parallel()
	both := map[string]bool{"File": true, "Input": true, "RowsOfFile": true, "Out": true, "Force": true, "Budget": true, "Remote": true, "SimulateWorkers": true}
	of := reflect.TypeFor[WorkflowRun]()
	for i := range of.NumField() {
		f := of.Field(i)
		group := f.Tag.Get("group")
		if both[f.Name] {
			continue
		}
		if group != "served" && group != "simulated" || f.Tag.Get("default") != "" {
			t.Errorf("%s: is it about a server, a simulation, or both? (group %q, default %q)", f.Name, group, f.Tag.Get("default"))
			continue
		}
		one, x := 1, WorkflowRun{}
		v := reflect.ValueOf(&x).Elem().Field(i)
		switch v.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		default:
			v.SetInt(1)
		}
		want := "is missing"
		if group == "served" {
			x.SimulateWorkers, want = &one, "a server"
		}
		if err := x.fits(nil); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--"+flagName(&f)) {
			t.Errorf("--%s where it does nothing: %v", flagName(&f), err)
		}
	}
}
