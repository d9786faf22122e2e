package storetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// entity is a kind of thing that is kept under ids of its own, the field ID. What
// the store owes to every kind alike is demanded by check; what it owes to one
// kind only has a test of its own. What is nil the store does not do with the kind.
type entity[T any, ID ~int64] struct {
	// some can be created: the first has everything, the second nothing that may
	// be left out. The last is only created spoiled.
	some   []T
	create func(T) (ID, error)
	// completed fills in what follows from the id of a thing that is kept.
	completed func(*T)

	get    func(crowd.TenantID, ID) (T, error)
	tenant func(T) crowd.TenantID // who may get it; nil: it is no tenant's

	list   listing[T, ID]
	leaves func(*T)                 // takes away what lists leave out; nil: they have all
	of     []int64                  // whose lists are asked for; nil: those of the tenants, or the only one
	within func(x T, of int64) bool // whether it is in such a list; nil: if it is the tenant's, or there is no other

	update func(T) error // replaces all that is kept
	change []func(*T)    // one after the other, each of another thing
	remove func(T) error

	bad    map[string]spoiled[T] // refused when it is created and when it is changed
	badNew map[string]spoiled[T] // when it is created
	badNow map[string]spoiled[T] // when it is changed, and when it is taken away
}

// spoiled makes a thing one that is refused with the code.
type spoiled[T any] struct {
	by   func(*T)
	code crowd.Code
}

// listing is how things are listed: of an owner, after an id, so many.
type listing[T any, ID ~int64] struct {
	read  func(of int64, from ID, limit int) ([]T, error)
	paged bool
	order int // of ids: 1, or -1, the newest first
}

// What follows leaves the context of the test out of methods of the store.

func given[A, R any](w *world, f func(context.Context, A) (R, error)) func(A) (R, error) {
	return func(a A) (R, error) { return f(w.ctx, a) }
}

func changed[A any](w *world, f func(context.Context, A) error) func(A) error {
	return func(a A) error { return f(w.ctx, a) }
}

func owned[ID, T any](w *world, f func(context.Context, crowd.TenantID, ID) (T, error)) func(crowd.TenantID, ID) (T, error) {
	return func(tenant crowd.TenantID, id ID) (T, error) { return f(w.ctx, tenant, id) }
}

func unowned[ID, T any](w *world, f func(context.Context, ID) (T, error)) func(crowd.TenantID, ID) (T, error) {
	return func(_ crowd.TenantID, id ID) (T, error) { return f(w.ctx, id) }
}

func pages[T any, Owner, ID ~int64](w *world, order int, f func(context.Context, Owner, ID, int) ([]T, error)) listing[T, ID] {
	return listing[T, ID]{func(of int64, from ID, limit int) ([]T, error) { return f(w.ctx, Owner(of), from, limit) }, true, order}
}

func whole[ID ~int64, T any, Owner ~int64](w *world, f func(context.Context, Owner) ([]T, error)) listing[T, ID] {
	return listing[T, ID]{func(of int64, _ ID, _ int) ([]T, error) { return f(w.ctx, Owner(of)) }, false, 1}
}

func single[ID ~int64, T any](w *world, f func(context.Context) ([]T, error)) listing[T, ID] {
	return listing[T, ID]{func(int64, ID, int) ([]T, error) { return f(w.ctx) }, false, 1}
}

// id is the id of a thing. That of a batch is in its definition.
func (e entity[T, ID]) id(x *T) *ID {
	v := reflect.ValueOf(x).Elem()
	if spec := v.FieldByName("Spec"); spec.IsValid() {
		v = spec
	}
	return v.FieldByName("ID").Addr().Interface().(*ID)
}

// check takes things of the kind through their lives: what is kept must be what
// was given, under ids that grow, for those who may see it and in every page of
// every list; a refused change changes nothing.
func (e entity[T, ID]) check(t *testing.T, w *world) {
	t.Helper()
	if e.of == nil && e.tenant != nil {
		e.of = []int64{0, int64(w.mine), int64(w.other), 99}
	} else if e.of == nil {
		e.of = []int64{0}
	}
	if e.within == nil {
		e.within = func(x T, of int64) bool { return e.tenant == nil || of == 0 || int64(e.tenant(x)) == of }
	}
	kept := e.before(t) // in order of id
	old := len(kept)
	for _, x := range e.some[:len(e.some)-1] {
		kept = append(kept, e.make(t, x, kept))
	}
	e.look(t, w, "created", kept)
	if len(e.change) > len(kept)-old {
		t.Fatalf("%d changes of %d things", len(e.change), len(kept)-old)
	}
	for i, change := range e.change {
		x := &kept[old+i]
		change(x)
		ok(t, e.update(*x))
		e.look(t, w, fmt.Sprint("after change ", i), kept)
	}
	w.unchanged(t, func() { e.refusals(t, kept[old]) })
	if e.remove == nil {
		return
	}
	last := kept[len(kept)-1]
	ok(t, e.remove(last))
	refused(t, e.remove(last), crowd.NotFound)
	e.look(t, w, "after one was taken away", kept[:len(kept)-1])
	again := e.make(t, last, kept) // under an id that none ever had
	e.look(t, w, "after it was created again", append(kept[:len(kept)-1], again))
}

// before returns what the world has already.
func (e entity[T, ID]) before(t *testing.T) []T {
	t.Helper()
	found := make(map[ID]T)
	for _, of := range e.of {
		for _, x := range must(e.list.read(of, 0, all))(t) {
			found[*e.id(&x)] = x
		}
	}
	kept := slices.Collect(maps.Values(found))
	slices.SortFunc(kept, func(x, y T) int { return cmp.Compare(*e.id(&x), *e.id(&y)) })
	for i := range kept {
		if e.leaves != nil {
			kept[i] = must(e.get(0, *e.id(&kept[i])))(t)
		}
	}
	return kept
}

// make creates a thing, whose id must be above all that were given out.
func (e entity[T, ID]) make(t *testing.T, x T, kept []T) T {
	t.Helper()
	*e.id(&x) = 77 // not for the caller to say
	id := must(e.create(x))(t)
	if *e.id(&x) = id; len(kept) > 0 && id <= *e.id(&kept[len(kept)-1]) || id < 1 {
		t.Errorf("the id %v was given out after that of %+v", id, kept)
	}
	if e.completed != nil {
		e.completed(&x)
	}
	return x
}

// look compares all that can be seen of the kind with what must be kept.
func (e entity[T, ID]) look(t *testing.T, w *world, when string, kept []T) {
	t.Helper()
	if e.get != nil {
		e.lookAtEach(t, w, when, kept)
	}
	for _, of := range e.of {
		want := slices.DeleteFunc(slices.Clone(kept), func(x T) bool { return !e.within(x, of) })
		if e.list.order < 0 {
			slices.Reverse(want)
		}
		for i := range want {
			if e.leaves != nil {
				e.leaves(&want[i])
			}
		}
		what := fmt.Sprintf("%s: list of %d", when, of)
		same(t, what, must(e.list.read(of, 0, all))(t), want)
		if !e.list.paged {
			continue
		}
		same(t, what+", first page", must(e.list.read(of, 0, 2))(t), want[:min(2, len(want))])
		for i := range kept { // from one that may be in another list
			from := *e.id(&kept[i])
			rest := slices.DeleteFunc(slices.Clone(want), func(x T) bool { return e.list.order*cmp.Compare(*e.id(&x), from) <= 0 })
			for _, limit := range []int{1, 2, all} {
				same(t, fmt.Sprintf("%s, %d from %v", what, limit, from), must(e.list.read(of, from, limit))(t), rest[:min(limit, len(rest))])
			}
		}
	}
}

func (e entity[T, ID]) lookAtEach(t *testing.T, w *world, when string, kept []T) {
	t.Helper()
	none := func(tenant crowd.TenantID, id ID) {
		t.Helper()
		got, err := e.get(tenant, id)
		refused(t, err, crowd.NotFound)
		same(t, "what comes with the error", got, *new(T))
	}
	for i := range kept {
		id := *e.id(&kept[i])
		same(t, fmt.Sprintf("%s: %v", when, id), must(e.get(0, id))(t), kept[i])
		for _, tenant := range []crowd.TenantID{w.mine, w.other, 99} {
			switch {
			case e.tenant == nil:
			case e.tenant(kept[i]) == tenant:
				same(t, fmt.Sprintf("%s: %v, its own", when, id), must(e.get(tenant, id))(t), kept[i])
			default:
				none(tenant, id)
			}
		}
	}
	for _, id := range []ID{0, -1, 5000} {
		none(0, id)
	}
}

// refusals has the store refuse what it must refuse.
func (e entity[T, ID]) refusals(t *testing.T, kept T) {
	t.Helper()
	for _, list := range []map[string]spoiled[T]{e.bad, e.badNew} {
		for name, s := range list {
			x := e.some[len(e.some)-1]
			s.by(&x)
			_, err := e.create(x)
			refusedAs(t, "create "+name, err, s.code)
		}
	}
	for _, do := range []func(T) error{e.update, e.remove} {
		if do == nil {
			continue
		}
		unknown := kept
		*e.id(&unknown) = 5000
		refusedAs(t, "unknown", do(unknown), crowd.NotFound)
		for name, s := range e.badNow {
			x := kept
			s.by(&x)
			refusedAs(t, name, do(x), s.code)
		}
	}
	for name, s := range e.bad {
		if e.update != nil {
			x := kept
			s.by(&x)
			refusedAs(t, "change to "+name, e.update(x), s.code)
		}
	}
}

// refusedAs is refused, of something that has a name.
func refusedAs(t *testing.T, what string, err error, want crowd.Code) {
	t.Helper()
	if got := crowd.CodeOf(err); got != want {
		t.Errorf("%s: got the error %v of code %q, want code %q", what, err, got, want)
	}
}
