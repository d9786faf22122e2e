package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/label"
)

// A QualityRule acts on somebody whose answers to a batch give reason to: when the condition
// holds of their figures, the action is taken. It acts once on each person, and again only
// after one of the actions on them was undone.
type QualityRule struct {
	When string `json:"when"` // a condition over FigureNames
	Do   string `json:"do"`   // `warn "TEXT"`, `pause`, `train N` or `weight W`
}

// The bounds of the rules of one batch.
const (
	MaxQualityRules = 20
	MaxWarning      = 500 // characters of the text of a warning
	MaxTrain        = 20  // lessons of one action
)

// Figures is what somebody's answers to a batch have shown, since the last time that an
// action on them was undone. Nil: there is nothing yet to tell it from.
type Figures struct {
	Answers      int      `json:"answers"` // that count
	Checks       int      `json:"checks"`  // of them, to checks
	Wrong        int      `json:"wrong"`   // of the checks
	Drift        float64  `json:"drift"`
	Accuracy     *float64 `json:"accuracy,omitempty"`
	AccuracyLow  *float64 `json:"accuracy_low,omitempty"`
	AccuracyHigh *float64 `json:"accuracy_high,omitempty"`
	Agreement    *float64 `json:"agreement,omitempty"`
	Seconds      *float64 `json:"seconds,omitempty"`
}

// FigureNames lists what the conditions of quality rules may use.
func FigureNames() []condition.Name {
	number := func(name, unit, doc string) condition.Name {
		return condition.Name{Name: name, Type: condition.Number, Unit: unit, Doc: doc}
	}
	return []condition.Name{
		number("answers", "answers", "of the person to the batch that count, those to checks among them"),
		number("seconds", "s", "mean time from getting a task to answering it; not known before the first answer counts"),
		number("agreement", "0 to 1", "share of the tasks with a label that they answered in which they gave the label, checks left out; not known before there is one"),
		number("checks", "answers", "to checks that count"),
		number("wrong", "answers", "to checks that are not the known answer"),
		number("accuracy", "0 to 1", "share of the answers to checks that are right; not known before the first"),
		number("accuracy_low", "0 to 1", "the lower bound of accuracy (Wilson, 95 %)"),
		number("accuracy_high", "0 to 1", "the upper bound of accuracy (Wilson, 95 %)"),
		number("drift", "answers", "how much more often than one time in four they were wrong lately: each wrong answer to a check adds 0.75, each right one takes 0.25, never below 0 (CUSUM)"),
	}
}

// String lists what is known.
func (f Figures) String() string {
	list := []string{format.Count(f.Answers, "answer")}
	if f.Checks > 0 {
		list = append(list, fmt.Sprintf("%d of %s wrong, accuracy %s (%s to %s), drift %s", f.Wrong, format.Count(f.Checks, "check"), rounded(f.Accuracy), rounded(f.AccuracyLow), rounded(f.AccuracyHigh), format.Number(f.Drift)))
	}
	if f.Agreement != nil {
		list = append(list, "agreement "+rounded(f.Agreement))
	}
	if f.Seconds != nil {
		list = append(list, rounded(f.Seconds)+" s an answer")
	}
	return strings.Join(list, ", ")
}

func rounded(x *float64) string { return strconv.FormatFloat(*x, 'f', 2, 64) }

// needsChecks are the figures that only checks tell.
var needsChecks = []string{"checks", "wrong", "accuracy", "accuracy_low", "accuracy_high", "drift"}

// values gives each name its value.
func (f *Figures) values() map[string]any {
	known := func(x *float64) float64 {
		if x == nil {
			return condition.NotKnown()
		}
		return *x
	}
	return map[string]any{
		"answers": f.Answers, "seconds": known(f.Seconds), "agreement": known(f.Agreement), "checks": f.Checks, "wrong": f.Wrong,
		"accuracy": known(f.Accuracy), "accuracy_low": known(f.AccuracyLow), "accuracy_high": known(f.AccuracyHigh), "drift": f.Drift,
	}
}

// ActionKind is what a quality rule does.
type ActionKind string

// The kinds of action.
const (
	Warn        ActionKind = "warn"   // the person is shown a text, once
	PausePerson ActionKind = "pause"  // they get no more tasks of the batch
	Train       ActionKind = "train"  // their next tasks of the batch are lessons
	LowerWeight ActionKind = "weight" // their answers to the batch count less
)

// qualityRule is a rule, ready to use.
type qualityRule struct {
	QualityRule
	when *condition.Condition
	qualityAction
}

// qualityAction is what a rule does.
type qualityAction struct {
	do      ActionKind
	text    string       // of a warning
	lessons int          // of Train
	weight  label.Weight // of LowerWeight
}

// CheckQuality checks the rules of a batch, with checks or without. The error is Invalid, its field
// "quality", or crowd.Errors with all that is wrong.
func CheckQuality(rules []QualityRule, checks bool) error {
	_, err := compileQuality(rules, checks)
	return err
}

func compileQuality(rules []QualityRule, checks bool) ([]qualityRule, error) {
	if len(rules) > MaxQualityRules {
		return nil, crowd.Fieldf("quality", "at most %d rules, not %d", MaxQualityRules, len(rules))
	}
	names := FigureNames()
	list := make([]qualityRule, len(rules))
	var wrong crowd.Errors
	refuse := func(i int, part, format string, args ...any) {
		wrong = append(wrong, crowd.Fieldf("quality", "rule %d, %q, %s", i+1, part, fmt.Sprintf(format, args...)))
	}
	for i, r := range rules {
		when, err := condition.Compile(r.When, names)
		if err == nil {
			err = when.Defined()
		}
		if err != nil {
			refuse(i, "when", "%s", err)
		} else if lacks := slices.IndexFunc(when.Uses(), func(n condition.Name) bool { return slices.Contains(needsChecks, n.Name) }); lacks >= 0 && !checks {
			refuse(i, "when", "%s is known by checks, and the batch has none: it has answers, seconds and agreement", when.Uses()[lacks].Name)
		}
		do, err := parseQualityAction(r.Do)
		if err != nil {
			refuse(i, "do", "%s", err)
		} else if do.do == Train && !checks {
			refuse(i, "do", "training tasks are known tasks with an explanation, which go with checks, and the batch has none")
		}
		list[i] = qualityRule{QualityRule: r, when: when, qualityAction: do}
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return list, nil
}

// parseQualityAction reads `warn "TEXT"`, in quotes of either kind, `pause`, `train N` or `weight W`.
func parseQualityAction(text string) (qualityAction, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch kind := ActionKind(word); {
	case kind == PausePerson && rest != "":
		return qualityAction{}, fmt.Errorf("%q is left over after %q", rest, word)
	case kind == PausePerson:
		return qualityAction{do: kind}, nil
	case kind == Warn:
		text, err := quoted(rest)
		return qualityAction{do: kind, text: text}, err
	case kind == Train:
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 || n > MaxTrain {
			return qualityAction{}, fmt.Errorf("train is followed by the number of training tasks, from 1 to %d, not by %q", MaxTrain, rest)
		}
		return qualityAction{do: kind, lessons: n}, nil
	case kind == LowerWeight:
		w, err := label.ParseWeight(rest)
		if err != nil {
			return qualityAction{}, fmt.Errorf("weight is followed by what an answer of theirs counts, from 0.01 to 0.99 with at most two decimals, not by %q", rest)
		}
		return qualityAction{do: kind, weight: w}, nil
	}
	if meant := similarity.DidYouMean(word, []string{string(Warn), string(PausePerson), string(Train), string(LowerWeight)}); meant != "" {
		return qualityAction{}, fmt.Errorf("there is no %q%s", word, meant)
	}
	return qualityAction{}, errors.New(`write warn "TEXT", pause, train N or weight W`)
}

// ParseQualityRule reads "CONDITION => ACTION".
func ParseQualityRule(text string) (QualityRule, error) {
	when, do, found := strings.Cut(text, "=>")
	if !found {
		return QualityRule{}, crowd.Errorf(crowd.Invalid, "%q is no rule: write CONDITION => ACTION, such as accuracy_high < 0.7 => pause", text)
	}
	return QualityRule{When: strings.TrimSpace(when), Do: strings.TrimSpace(do)}, nil
}

// String returns the rule as ParseQualityRule reads it, in one line.
func (r QualityRule) String() string {
	return strings.Join(strings.Fields(r.When), " ") + " => " + strings.TrimSpace(r.Do)
}

// quoted reads the text of a warning.
func quoted(text string) (string, error) {
	n := len(text)
	if n < 2 || text[0] != '"' && text[0] != '\'' || text[n-1] != text[0] {
		return "", errors.New(`the text of a warning stands in quotes: warn "TEXT"`)
	}
	text = strings.TrimSpace(text[1 : n-1])
	wrong, control := format.Unkeepable(text), strings.IndexFunc(text, unicode.IsControl)
	switch n := utf8.RuneCountInString(text); {
	case wrong != "":
		return "", errors.New("the text of a warning " + wrong)
	case control >= 0:
		return "", fmt.Errorf("the text of a warning is one line, without control characters: leave out %U, its character %d", []rune(text[control:])[0], utf8.RuneCountInString(text[:control])+1)
	case n < 1 || n > MaxWarning:
		return "", fmt.Errorf("the text of a warning has 1 to %d characters, not %d", MaxWarning, n)
	}
	return text, nil
}
