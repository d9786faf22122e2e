package workflow

import (
	"errors"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/sla"
)

// MaxFile is how long a file may be, in bytes.
const MaxFile = 1 << 20

// Bounds of what a file may say. They are far beyond what makes sense, and keep
// a slip of the pen from taking all memory.
const (
	maxMarks      = 150_000 // of a file, which bounds the memory that reading it takes: 1 MiB of SQL has some 100,000
	maxNodes      = 500     // inputs; steps
	maxEdges      = 2000    // sources of all steps together
	maxColumns    = 500     // of a node
	maxAllColumns = 25_000  // of all inputs and steps together
	maxPatterns   = 20_000  // instructions of the patterns of all responses together, about 6 MB
	maxColumnName = 256     // bytes
	maxText       = 200     // characters of a name for people
	maxDuration   = yamlfile.MaxDuration
)

// Bounds and defaults of steps.
const (
	MaxQuery       = 20_000 // bytes of an SQL query
	MaxTimeout     = 10 * time.Minute
	MaxTries       = 100
	MaxBackoff     = 5 * time.Minute
	MaxConcurrency = 1000
	MaxRows        = 100_000_000 // of an SQL step
	MaxTime        = 24 * time.Hour

	DefaultTimeout     = 10 * time.Second
	DefaultTries       = 5
	DefaultBackoff     = time.Second
	DefaultConcurrency = 10
	DefaultAccuracy    = 0.9 // of model workers
	DefaultSpread      = 0.5
	DefaultFormat      = "csv"
)

// money is an amount of more than 0.
var money = fields.Scalar(yamlfile.WantMoney, func(text string) (crowd.Money, error) {
	m, err := yamlfile.Money(text)
	if err == nil && m == 0 {
		err = errors.New("an amount of more than 0 is wanted")
	}
	return m, err
}, "type", []string{"number", "string"}, "exclusiveMinimum", 0, "pattern", yamlfile.MoneyForm)

var instant = fields.Scalar("a time with its zone is wanted, like 2026-12-24T12:00:00Z", func(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s is not a time with its zone, like 2026-12-24T12:00:00Z or 2026-12-24T13:00:00+01:00", yamlfile.Quote(text))
	}
	return t.UTC(), nil
}, "type", "string", "format", "date-time")

// newFile is what a file is, whatever it says, and keptFile what that of a run is:
// earlier versions took longer ones.
var (
	newFile  = yamlfile.Language{Name: "workflow", Begin: "workflow: match products", Most: MaxFile, Marks: maxMarks}
	keptFile = yamlfile.Language{Name: newFile.Name, Begin: newFile.Begin, Most: 4 << 20}
)

// language is the shape of a file.
var language = fields.Object("A workflow: inputs, and steps of people, SQL and services, joined by edges.",
	fields.Must("workflow", fields.Text(1, maxText).Doc("Its name, for people.")),
	fields.May("budget", money.Doc("The most that a run pays for answers, over all its crowd steps. Left out: what the tenant has.")),
	fields.May("corrections", fields.Choice("keep", "redo").Doc("What becomes of a run in which labels were corrected that its steps have used: what they made of them stays, or another run goes on from it when it is done, with the right labels. Default: keep.")),
	fields.May("sla", slaShape),
	fields.May("inputs", fields.Map(maxNodes, tableName, inputShape).Doc("Files that a run is given, by name.")),
	fields.Must("steps", fields.Map(maxNodes, tableName, stepShape).Doc("What is done, by name, in any order.")),
	fields.May("outputs", fields.Map(maxNodes, word, outputShape).Doc("Files that a run writes, by name. Left out: one CSV file for each step that nothing reads.")),
)

var (
	penaltyKind = fields.Choice("staged", "constant", "linear").Doc("The form of the penalty over the age: steps of equal height, one step, or a slope.")

	penaltyFields = fields.Fields{
		fields.May("after", fields.Duration(0, maxDuration).Doc("The age from which ending late costs something.")),
		fields.May("every", fields.Duration(time.Nanosecond, maxDuration).Doc("Staged and linear: the time for which cost is due.")),
		fields.May("cost", money.Doc("What is due: once, or for each every.")),
		fields.May("at_most", money.Doc("The most that one item, or the run, costs.")),
	}
)

var slaShape = fields.Object("What it costs to end late: the same for all, or by classes of items.", append(fields.Fields{
	fields.May("per", fields.Choice("item", "run").Doc("Whether each item has its own age, or the run as a whole. Default: item.")),
	fields.May("penalty", penaltyKind),
	fields.May("deadline", instant.Doc("Per run, instead of after: the time from which it costs.")),
	fields.May("classes", fields.Map(sla.MaxClasses, word, classShape).Doc("Classes of items, by name. An item is of the first one whose condition holds where it begins; the last one has none.")),
}, penaltyFields...)...).ExactlyOne("what it costs to end late", "penalty", "classes")

var classShape = fields.Object("A class of items.", append(fields.Fields{
	fields.May("when", fields.Text(1, 1000).Doc("The condition under which an item is of the class, over the columns of the inputs and queries in which items begin. Left out, in the last one: all other items.")),
	fields.Must("penalty", penaltyKind),
}, penaltyFields...)...)

var typeShape = fields.Choice("text", "number", "bool").Doc("The type of a column.")

var inputShape = fields.Object("A file.",
	fields.May("columns", fields.List(1, maxColumns,
		fields.Either(fields.Text(1, maxColumnName).Doc("A column of texts."), fields.Map(maxColumns, anyName, typeShape).Doc("A column and its type."))).Doc("The columns that are read, in order; a bare name is text. Left out: all that the file has, as text.")),
	fields.May("open", fields.Bool.Doc("Whether rows are added to it while a run goes, until it is sealed. Its file may then be left out. Default: false.")),
)

var stepShape = func() *fields.Type {
	list := fields.Fields{
		fields.Must("from", fields.Either(
			fields.Text(1, maxText).Doc("The one source, by a batch edge."),
			fields.List(1, maxNodes, fields.Text(1, maxText)).Doc("Sources by batch edges."),
			fields.Map(maxNodes, anyName, fields.Choice("batch", "stream")).Doc("Sources and their edges: all rows at once when the source has ended, or each as it is made.")).Doc("What it reads: the names of inputs and steps, each with its edge (default: batch).")),
		fields.May("when", fields.Text(1, 1000).Doc("The condition under which it takes an item, over the columns of its sources.")),
		fields.May("join", fields.Choice("taken", "all").Doc("With several sources, which items it takes: those that have been through every branch that they took (default), or only those that came through all.")),
		fields.May("on_error", fields.Choice("hold", "drop").Doc("What becomes of an item that the step cannot deal with: it waits until somebody says retry or skip (default), or it goes on as failed.")),
		fields.May("expect", fields.Duration(time.Nanosecond, maxDuration).Doc("How long one item takes here, until that has been observed.")),
	}
	var names []string
	for _, k := range kinds {
		list = append(list, k.fields...)
		names = append(names, string(k.name))
	}
	for _, k := range kinds {
		list = append(list, fields.May(string(k.name), k.shape))
	}
	return fields.Object("A step. It is one of "+yamlfile.Enumerate(names)+".", list...).ExactlyOne("the kind of the step", names...)
}()

var outputShape = fields.Object("A file that a run writes.",
	fields.Must("from", fields.Text(1, maxText).Doc("The input or step whose rows it has.")),
	fields.May("format", fields.Choice("csv", "jsonl", "parquet").Doc("Default: csv.")),
	fields.May("columns", fields.List(1, maxColumns, fields.Text(1, maxColumnName)).Doc("The columns that it has, in order. Left out: all.")),
)

// Schema returns the JSON Schema of the language.
func Schema() []byte { return language.Schema("Throng workflow") }
