package workflow

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
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

	serviceTime = time.Second            // expected of a call
	queryTime   = 100 * time.Millisecond // expected of a query for one item
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
		may("columns", mapOf("The types of an SQL step's columns that are not as the query says.", aText, 1, maxColumns, typeShape)),
		may("crowd", crowdShape),
		may("sql", either("A query over the sources, which are its tables.", text("The query.", MaxQuery), sqlShape)),
		may("service", serviceShape),
	)
	s.exactlyOne = []string{"crowd", "sql", "service"}
	return s
}()

var sqlShape = object("A query and its limits.",
	must("query", text("The query.", MaxQuery)),
	may("time", duration("The most that it may take.", time.Millisecond, MaxTime)),
	may("rows", count("The most rows that it may give.", 1, MaxRows)),
)

var crowdShape = object("A job for people.",
	may("pool", text("The pool whose people do it. Left out: the first.", maxText)),
	must("template", templateShape),
	may("redundancy", redundancyShape),
	must("reward", money("What one counted answer is paid.")),
	may("budget", money("The most that the step pays. Left out: what the run has.")),
	may("priority", number("Its weight against other jobs. Default: 1.", engine.MinPriority, engine.MaxPriority)),
	may("production", truth("Deadline-aware policies put it before jobs that are not. Default: false.")),
	may("lease", duration("How long a worker may hold a task. Default: 30m.", engine.MinLease, engine.MaxLease)),
	may("task_time", duration("Your estimate for one answer. Default: 30s.", time.Nanosecond, engine.MaxLease)),
	may("qualifications", mapOf("What a worker must hold, each with its least score.", aText, 1, engine.MaxRules, count("", 0, 100))),
	may("truth", text("A column with the known answer, which no worker is shown.", maxColumnName)),
	may("output", &shape{form: aWord, doc: "The name of the column of labels, and the beginning of those that go with it. Default: the step's name."}),
	may("simulate", object("How model workers do it.",
		may("accuracy", number("The chance of the true answer. Default: 0.9.", 0, 1)),
		may("time", duration("The mean time of an answer (lognormal). Default: task_time.", time.Millisecond, maxDuration)),
		may("spread", number("Its standard deviation as a share of the mean. Default: 0.5.", 0, 100)),
	)),
)

var redundancyShape = object("How many answers a task gets: {count: n}, or {agree: k, of: n}. Default: {count: 1}.",
	may("count", count("Exactly so many.", 1, label.MaxAnswers)),
	may("agree", count("So many equal answers are enough.", 1, label.MaxAnswers)),
	may("of", count("The most answers that are asked for.", 1, label.MaxAnswers)),
)

var serviceShape = object("An HTTP call for each item.",
	must("url", text("The address, http or https.", 2048)),
	may("method", choice("Default: POST. GET puts the columns into the query.", "POST", "PUT", "PATCH", "GET")),
	may("headers", mapOf("Headers; ${secret:NAME} stands for a secret of the tenant.", aText, 1, 50, &shape{form: aText, most: 4096})),
	may("send", listOf("The columns that are sent. Left out: all.", 1, maxColumns, text("", maxColumnName))),
	may("timeout", duration("The most that one try may take. Default: 10s.", time.Millisecond, MaxTimeout)),
	may("tries", count("How often it is tried in all. Default: 5.", 1, MaxTries)),
	may("backoff", duration("The waiting before the second try; it doubles. Default: 1s.", 0, MaxBackoff)),
	may("concurrency", count("How many calls there are at a time. Default: 10.", 1, MaxConcurrency)),
	may("expect", duration("How long a call takes, until that has been observed. Default: 1s.", time.Nanosecond, maxDuration)),
	must("response", &shape{form: aValue, doc: "A JSON Schema of the answer: an object, whose properties become columns."}),
)

var outputShape = object("A file that a run writes.",
	must("from", text("The input or step whose rows it has.", maxText)),
	may("format", choice("Default: csv.", "csv", "jsonl", "parquet")),
	may("columns", listOf("The columns that it has, in order. Left out: all.", 1, maxColumns, text("", maxColumnName))),
)

// The shape of a template: see package template, which checks what it says.
var (
	words = &shape{form: aText, most: task.MaxTextBytes}
	bound = &shape{form: aNumber}

	showShape = either("A column that is shown; a bare name as text.", text("A column, as text.", maxColumnName), object("",
		must("column", text("The column.", maxColumnName)),
		may("as", choice("How. Default: text.", "text", "image", "link", "audio")),
		may("label", words),
	))
	optionShape = either("An answer to choose.", text("The answer, and what the worker reads.", task.MaxNameBytes), object("",
		must("value", text("The answer.", task.MaxNameBytes)),
		may("label", words),
	))
	fieldShape = object("A field of a form.",
		must("name", text("", task.MaxNameBytes)),
		may("label", words),
		may("type", choice("Default: text.", "text", "textarea", "number", "choice", "checkbox", "date")),
		may("help", words),
		may("required", truth("")),
		may("options", listOf("", 0, task.MaxOptions, optionShape)),
		may("max_length", count("", 0, task.MaxAnswerBytes)),
		may("pattern", words),
		may("min", bound),
		may("max", bound),
		may("integer", truth("")),
		may("unit", words),
	)
	templateShape = object("How a task is shown and answered.", slices.Concat([]field{
		must("kind", choice("How it is answered.", kinds()...)),
		may("title", words),
		may("instructions", words),
		may("question", words),
	}, settings())...)
)

// settings are the settings of all kinds of question.
func settings() []field {
	var list []field
	for _, s := range task.Settings() {
		doc := s.Doc
		var of *shape
		switch s.In(new(task.Template)).(type) {
		case *[]task.Show:
			of, doc = listOf("", 0, maxColumns, showShape), "The columns that are shown. Left out: all but truth."
		case *[]task.Option:
			of = listOf("", 0, task.MaxOptions, optionShape)
		case *[]task.Field:
			of = listOf("", 0, task.MaxFields, fieldShape)
		case **task.Show:
			of = showShape
		case **float64:
			of = bound
		case *int:
			of = count("", 0, task.MaxAnswerBytes)
		case *bool:
			of = truth("")
		case *string:
			of = &shape{form: aText, most: float64(cmp.Or(s.MaxBytes, task.MaxTextBytes))}
		}
		documented := *of
		if doc != "" {
			documented.doc = doc
		}
		list = append(list, may(s.Name, &documented))
	}
	return list
}

func kinds() []string {
	var list []string
	for _, k := range task.Kinds() {
		list = append(list, string(k))
	}
	return list
}
