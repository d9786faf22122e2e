package workflow

import (
	"time"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// Bounds of what a file may say. They are far beyond what makes sense, and keep
// a slip of the pen from taking all memory.
const (
	maxFile       = 4 << 20 // bytes
	maxNodes      = 500     // inputs; steps
	maxColumns    = 500     // of a node
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

	DefaultTaskTime    = 30 * time.Second
	DefaultLease       = 30 * time.Minute
	DefaultPriority    = 1
	DefaultTimeout     = 10 * time.Second
	DefaultTries       = 5
	DefaultBackoff     = time.Second
	DefaultConcurrency = 10
	DefaultAccuracy    = 0.9 // of model workers
	DefaultSpread      = 0.5
	DefaultFormat      = "csv"
)

func text(doc string, most int) *shape {
	return &shape{form: aText, doc: doc, least: 1, most: float64(most)}
}

func duration(doc string, least, most time.Duration) *shape {
	s := &shape{form: aDuration, doc: doc, least: least.Seconds(), most: most.Seconds()}
	if least == 0 {
		s.least = 0
	}
	return s
}

func number(doc string, least, most float64) *shape {
	return &shape{form: aNumber, doc: doc, least: least, most: most}
}

func count(doc string, least, most int) *shape {
	return &shape{form: aCount, doc: doc, least: float64(least), most: float64(most)}
}

func money(doc string) *shape { return &shape{form: aMoney, doc: doc} }
func truth(doc string) *shape { return &shape{form: aBool, doc: doc} }

func choice(doc string, choices ...string) *shape {
	return &shape{form: aChoice, doc: doc, choices: choices}
}

func listOf(doc string, least, most int, of *shape) *shape {
	return &shape{form: aList, doc: doc, least: float64(least), most: float64(most), of: of}
}

func mapOf(doc string, key form, least, most int, of *shape) *shape {
	return &shape{form: aMap, doc: doc, key: key, least: float64(least), most: float64(most), of: of}
}

func object(doc string, fields ...field) *shape {
	return &shape{form: anObject, doc: doc, fields: fields}
}

func either(doc string, of ...*shape) *shape { return &shape{form: anEither, doc: doc, either: of} }

func may(name string, s *shape) field  { return field{name: name, shape: s} }
func must(name string, s *shape) field { return field{name: name, shape: s, must: true} }

// workflowFile is what a file is, whatever it says.
var workflowFile = yamlfile.Language{Name: "workflow", Begin: "workflow: match products", Most: maxFile}

// language is the shape of a file.
var language = object("A workflow: inputs, and steps of people, SQL and services, joined by edges.",
	must("workflow", text("Its name, for people.", maxText)),
	may("budget", money("The most that a run pays for answers, over all its crowd steps. Left out: what the tenant has.")),
	may("sla", slaShape),
	may("inputs", mapOf("Files that a run is given, by name.", aName, 1, maxNodes, inputShape)),
	must("steps", mapOf("What is done, by name, in any order.", aName, 1, maxNodes, stepShape)),
	may("outputs", mapOf("Files that a run writes, by name. Left out: one CSV file for each step that nothing reads.", aWord, 1, maxNodes, outputShape)),
)

var slaShape = object("What it costs to end late.",
	may("per", choice("Whether each item has its own age, or the run as a whole. Default: item.", "item", "run")),
	must("penalty", choice("The form of the penalty over the age: steps of equal height, one step, or a slope.", "staged", "constant", "linear")),
	may("after", duration("The age from which ending late costs something.", 0, maxDuration)),
	may("deadline", &shape{form: anInstant, doc: "Per run, instead of after: the time from which it costs."}),
	may("every", duration("Staged and linear: the time for which cost is due.", time.Nanosecond, maxDuration)),
	must("cost", money("What is due: once, or for each every.")),
	may("at_most", money("The most that one item, or the run, costs.")),
)

var typeShape = choice("The type of a column.", "text", "number", "bool")

var inputShape = object("A file.",
	may("columns", listOf("The columns that are read, in order; a bare name is text. Left out: all that the file has, as text.", 1, maxColumns,
		either("", text("A column of texts.", maxColumnName), mapOf("A column and its type.", aText, 1, maxColumns, typeShape)))),
)

var stepShape = func() *shape {
	s := object("A step. It is one of crowd, sql and service.",
		must("from", either("What it reads: the names of inputs and steps, each with its edge (default: batch).",
			&shape{form: aText, doc: "The one source, by a batch edge.", least: 1, most: maxText},
			listOf("Sources by batch edges.", 1, maxNodes, &shape{form: aText, least: 1, most: maxText}),
			mapOf("Sources and their edges: all rows at once when the source has ended, or each as it is made.", aText, 1, maxNodes, choice("", "batch", "stream")))),
		may("when", text("The condition under which it takes an item, over the columns of its sources.", 1000)),
		may("join", choice("With several sources, which items it takes: those that have been through every branch that they took (default), or only those that came through all.", "taken", "all")),
		may("on_error", choice("What becomes of an item that the step cannot deal with: it waits until somebody says retry or skip (default), or it goes on as failed.", "hold", "drop")),
		may("expect", duration("How long one item takes here, until that has been observed.", time.Nanosecond, maxDuration)),
	)
	for _, k := range kinds {
		s.fields = append(s.fields, k.fields...)
	}
	for _, k := range kinds {
		s.fields = append(s.fields, may(string(k.name), k.shape))
		s.exactlyOne = append(s.exactlyOne, string(k.name))
	}
	return s
}()

var outputShape = object("A file that a run writes.",
	must("from", text("The input or step whose rows it has.", maxText)),
	may("format", choice("Default: csv.", "csv", "jsonl", "parquet")),
	may("columns", listOf("The columns that it has, in order. Left out: all.", 1, maxColumns, text("", maxColumnName))),
)
