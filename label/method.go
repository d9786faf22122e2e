package label

import (
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
)

// Method labels a whole data set. Gold is what is known beforehand, or nil; a
// method may learn from it.
type Method interface {
	// Name is the method's name in reports and settings, such as "majority".
	Name() string
	// UsesGold reports whether the method learns from gold.
	UsesGold() bool
	// Takes says what answers must be for the method.
	Takes() Answers
	// Fit returns a Result for every task. Its errors are of type *crowd.Error:
	// Invalid for a setting or for gold of another data set, TooLarge for a data
	// set with so many classes that the probabilities do not fit (see MaxCells).
	Fit(d *Dataset, gold Truth) (*Result, error)
}

// Answers says what answers are, as far as it matters to methods.
type Answers uint8

// What answers may be.
const (
	Anything Answers = iota // texts that are equal or not
	Classes                 // texts of a set that is small, so that everybody gives each now and then
	Numbers                 // decimal numbers
	Texts                   // texts that may be alike without being equal
	Sets                    // JSON lists of options
	Marks                   // JSON lists of regions
)

// Checker is a Method that not every text can be an answer for.
type Checker interface {
	// Check refuses a text that cannot be an answer, with an Invalid error.
	Check(label string) error
}

// Methods lists the methods with their usual settings, in the order in which they are
// offered.
func Methods() []Method {
	return []Method{Majority{}, Median{}, DefaultDawidSkene(), DefaultRobust(), DefaultOneCoin(), Wawa{}, DefaultIncremental(), PlainDawidSkene(),
		PlainMean(), TrimmedMean(), WeightedMean(), Central{}, PerOption{DefaultDawidSkene()}, DefaultRegions()}
}

// MethodNamed returns the method of this name with its usual settings. "dawid-skene"
// is what "ds-map" was called first.
func MethodNamed(name string) (Method, error) {
	if name == "dawid-skene" {
		name = DefaultDawidSkene().Name()
	}
	for _, m := range Methods() {
		if m.Name() == name {
			return m, nil
		}
	}
	names := lists.Map(Methods(), Method.Name)
	return nil, crowd.Fieldf("method", "%q is not known%s (%s)", name, similarity.DidYouMean(name, names), strings.Join(names, ", "))
}
