package label

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// Answer is one worker's answer to one task.
type Answer struct {
	Task, Worker, Label string
}

// Class is the index of a class in Dataset.Classes.
type Class int32

// None is the Class of "not known".
const None Class = -1

// Dataset is a set of answers, ready for a Method: small integers with
// dictionaries, ordered by task and then by worker. Tasks, workers and classes
// are numbered in the byte order of their names, so equal answers make equal
// data sets in whatever order they came. It does not change once built and may
// be shared.
//
// It takes 8 bytes an answer and 8 a task next to the names.
type Dataset struct {
	tasks, workers, classes []string

	start  []int   // task i has the answers start[i] to start[i+1]-1; T+1 long
	worker []int32 // of each answer
	label  []Class // of each answer

	stop func() bool // see FitUntil; nil: never
}

// Tasks returns the names of the tasks, sorted; each has an answer. The caller
// must not change it, nor any other slice that a Dataset returns.
func (d *Dataset) Tasks() []string { return d.tasks }

// Workers returns the names of the workers, sorted; each gave an answer.
func (d *Dataset) Workers() []string { return d.workers }

// Classes returns the names of the classes, sorted: all labels that occur, and
// those named to Builder.Class.
func (d *Dataset) Classes() []string { return d.classes }

// Len returns the number of answers.
func (d *Dataset) Len() int { return len(d.label) }

// Answers returns the answers to a task: who gave each, and what it was.
func (d *Dataset) Answers(task int) (workers []int32, labels []Class) {
	from, to := d.start[task], d.start[task+1]
	return d.worker[from:to], d.label[from:to]
}

// Redundancy returns the mean number of answers a task, Σ_i n_i / T, or 0
// where there is no task.
func (d *Dataset) Redundancy() float64 {
	if len(d.tasks) == 0 {
		return 0
	}
	return float64(d.Len()) / float64(len(d.tasks))
}

// Answered returns the number of answers that each worker gave.
func (d *Dataset) Answered() []int {
	n := make([]int, len(d.workers))
	for _, j := range d.worker {
		n[j]++
	}
	return n
}

// classOf finds a class by name.
func (d *Dataset) classOf(name string) (Class, bool) {
	k, found := slices.BinarySearch(d.classes, name)
	return Class(k), found
}

// Builder collects answers for a Dataset. The zero Builder is ready for use.
type Builder struct {
	// KeepRepeats keeps every answer of a worker to the same task, for studies
	// in which people rate a thing several times. Without it there is one
	// answer for each task and worker: the last one replaces those before.
	KeepRepeats bool

	tasks, workers, classes dictionary
	task, worker, label     []int32 // of each answer, in the order they came
	extra                   []string
}

// Add adds an answer.
func (b *Builder) Add(a Answer) {
	b.task = append(b.task, b.tasks.index(a.Task))
	b.worker = append(b.worker, b.workers.index(a.Worker))
	b.label = append(b.label, b.classes.index(a.Label))
}

// Class makes sure that the data set has a class of this name, though nobody
// may have answered it.
func (b *Builder) Class(name string) { b.extra = append(b.extra, name) }

// Build makes the data set of all answers so far. The builder may be used on.
func (b *Builder) Build() *Dataset {
	d := &Dataset{}
	var taskRank, workerRank, labelRank []int32
	d.tasks, taskRank = b.tasks.sorted()
	d.workers, workerRank = b.workers.sorted()
	labels, labelRank := b.classes.sorted()

	// Two stable counting sorts leave the answers ordered by task, then worker,
	// then arrival; repeats that are kept are ordered by label, not arrival.
	order := lists.Indices(len(b.task))
	if b.KeepRepeats {
		order = sortBy(order, b.label, labelRank)
	}
	order = sortBy(order, b.worker, workerRank)
	order = sortBy(order, b.task, taskRank)
	if !b.KeepRepeats {
		order = b.lastOfEach(order)
	}

	// A label that was replaced everywhere is no class.
	classes := slices.Clone(b.extra)
	occurs := make([]bool, len(labels))
	for _, a := range order {
		if k := labelRank[b.label[a]]; !occurs[k] {
			occurs[k] = true
			classes = append(classes, labels[k])
		}
	}
	slices.Sort(classes)
	d.classes = slices.Compact(classes)
	class := make([]Class, len(labels))
	for k, name := range labels {
		class[k], _ = d.classOf(name)
	}

	d.start = make([]int, len(d.tasks)+1)
	d.worker = make([]int32, len(order))
	d.label = make([]Class, len(order))
	for n, a := range order {
		d.start[taskRank[b.task[a]]+1]++
		d.worker[n] = workerRank[b.worker[a]]
		d.label[n] = class[labelRank[b.label[a]]]
	}
	for i := range d.tasks {
		d.start[i+1] += d.start[i]
	}
	return d
}

// lastOfEach keeps, of neighbours with the same task and worker, the last.
func (b *Builder) lastOfEach(order []int) []int {
	kept := order[:0]
	for n, a := range order {
		if n+1 < len(order) && b.task[order[n+1]] == b.task[a] && b.worker[order[n+1]] == b.worker[a] {
			continue
		}
		kept = append(kept, a)
	}
	return kept
}

// sortBy returns order, stably sorted by rank[key[a]]; ranks are 0 to
// len(rank)-1. O(len(order) + len(rank)).
func sortBy(order []int, key, rank []int32) []int {
	next := make([]int, len(rank)+1)
	for _, k := range key {
		next[rank[k]+1]++
	}
	for r := range rank {
		next[r+1] += next[r]
	}
	sorted := make([]int, len(order))
	for _, a := range order {
		r := rank[key[a]]
		sorted[next[r]] = a
		next[r]++
	}
	return sorted
}

// dictionary numbers names in the order in which they are first seen.
type dictionary struct {
	names []string
	at    map[string]int32
}

func (d *dictionary) index(name string) int32 {
	if n, seen := d.at[name]; seen {
		return n
	}
	if d.at == nil {
		d.at = make(map[string]int32)
	}
	n := int32(len(d.names))
	d.names = append(d.names, name)
	d.at[name] = n
	return n
}

// sorted returns the names in order, and the place in it of each number.
func (d *dictionary) sorted() (names []string, rank []int32) {
	byName := make([]int32, len(d.names))
	for n := range byName {
		byName[n] = int32(n)
	}
	slices.SortFunc(byName, func(a, b int32) int { return cmp.Compare(d.names[a], d.names[b]) })
	names, rank = make([]string, len(byName)), make([]int32, len(byName))
	for place, n := range byName {
		names[place] = d.names[n]
		rank[n] = int32(place)
	}
	return names, rank
}
