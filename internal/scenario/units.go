package scenario

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/poolsim"
	"github.com/throng-dev/throng/pool"
)

// Bounds of what a scenario may ask for. They are far beyond what makes sense,
// and keep a slip of the pen from taking all memory or from running over.
const (
	oneNanosecond = time.Nanosecond
	maxDuration   = 3650 * 24 * time.Hour
	maxReps       = 100_000
	maxSeed       = math.MaxUint64
	maxPeople     = 10_000_000
	maxBatches    = 5_000_000 // of one flow or trace
	maxAlpha      = 100
	maxPerSecond  = 100_000
	maxNumber     = 1e12
	maxAnswers    = engine.MaxBatchAnswers - 1 // to one batch
	maxSize       = 10_000_000                 // tasks in a drawn batch, where nothing is said
	maxName       = 100
	maxTitle      = 200
	maxOptions    = 1000
)

// maxItems is how many items a list may have. What is compared with each other
// is short.
var maxItems = map[string]int{
	"policies": 50, "alpha": 100, "expect": 500, "of": 50, "tenants": 1000, "kinds": 1000, "crowd": 1000,
	"flows": 1000, "faults": 1000, "classes": 100, "answers": maxOptions, "confusion": maxOptions,
	"batches": 100_000,

	"pools": poolsim.MaxPools, "arrivals": 10_000, "bursts": 10_000, "rules": pool.MaxRules, "compare": 50,
}

// maxExpected is how many expectations the entries may make, one for each policy
// and α that they are about.
const maxExpected = 10_000

const (
	wantDuration = "a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m"
	wantRate     = "a rate is a number for each s, m, h or d, like 2/s, 80/m or 500/d"
	wantShare    = "a share is from 0 to 1, like 0.5 or 50%"
	wantCount    = "a count is a whole number, like 200"
	wantNumber   = "a number is wanted, like 0.5"
	wantMoney    = "an amount has at most six places, like 0.05"
)

var (
	durationForm = regexp.MustCompile(`^(?:([0-9.]+)d)?(?:([0-9.]+)h)?(?:([0-9.]+)m)?(?:([0-9.]+)s)?(?:([0-9.]+)ms)?$`)
	decimalForm  = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	countForm    = regexp.MustCompile(`^([0-9]+|[0-9]{1,3}(_[0-9]{3})+)$`)
)

var durationUnits = []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}

// parseDuration reads a duration with its unit. Only 0 needs none. The error
// says what is wrong.
func parseDuration(text string) (time.Duration, error) {
	s := strings.ReplaceAll(text, " ", "")
	if f, err := parseNumber(s); err == nil {
		if f == 0 {
			return 0, nil
		}
		return 0, fmt.Errorf("%s lacks a unit: %s", quoted(text), wantDuration)
	}
	if strings.HasPrefix(s, "-") {
		return 0, fmt.Errorf("%s is negative: it must not be less than 0", quoted(text))
	}
	parts := durationForm.FindStringSubmatch(s)
	if s == "" || parts == nil {
		return 0, fmt.Errorf("%s is not a duration: %s", quoted(text), wantDuration)
	}
	sum := 0.0
	for i, part := range parts[1:] {
		if part == "" {
			continue
		}
		f, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0, fmt.Errorf("%s is not a duration: %s", quoted(text), wantDuration)
		}
		sum += f * float64(durationUnits[i])
	}
	if !(sum <= float64(maxDuration)) {
		return 0, fmt.Errorf("%s is too long (at most %s)", quoted(text), inWords(maxDuration))
	}
	return time.Duration(math.Round(sum)), nil
}

// parseSeconds is parseDuration for the cells of a table, where a number
// without a unit is in seconds.
func parseSeconds(text string) (time.Duration, error) {
	f, err := parseNumber(text)
	switch {
	case err != nil:
		return parseDuration(text)
	case f < 0:
		return 0, fmt.Errorf("%s is negative: it must not be less than 0", quoted(text))
	case f > maxDuration.Seconds():
		return 0, fmt.Errorf("%s seconds are too long (at most %s)", quoted(text), inWords(maxDuration))
	}
	return time.Duration(math.Round(f * float64(time.Second))), nil
}

// parseRate reads a rate as a figure per second.
func parseRate(text string) (float64, error) {
	number, unit, found := strings.Cut(strings.ReplaceAll(text, " ", ""), "/")
	f, err := parseNumber(number)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[unit]
	switch {
	case err == nil && !found:
		return 0, fmt.Errorf("%s lacks a unit: %s", quoted(text), wantRate)
	case err != nil || per == 0:
		return 0, fmt.Errorf("%s is not a rate: %s", quoted(text), wantRate)
	}
	return f / per.Seconds(), nil
}

// parseShare reads a share.
func parseShare(text string) (float64, error) {
	s, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	f, err := parseNumber(strings.TrimSpace(s))
	if err != nil {
		return 0, fmt.Errorf("%s is not a share: %s", quoted(text), wantShare)
	}
	if percent {
		f /= 100
	}
	return f, nil
}

// parseNumber reads a finite decimal number.
func parseNumber(text string) (float64, error) {
	s := strings.TrimSpace(text)
	f, err := strconv.ParseFloat(s, 64)
	if !decimalForm.MatchString(s) || err != nil || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%s is not a number: %s", quoted(text), wantNumber)
	}
	return f, nil
}

// parseCount reads a whole number between two bounds.
func parseCount(text string, least, most uint64) (uint64, error) {
	s := strings.TrimSpace(text)
	if !countForm.MatchString(s) {
		if f, err := parseNumber(s); err == nil && f < 0 {
			return 0, fmt.Errorf("%s is negative: a whole number from %d to %d is wanted", quoted(text), least, most)
		}
		return 0, fmt.Errorf("%s is not a count: %s", quoted(text), wantCount)
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("%s is too much (at most %d)", quoted(text), most)
	}
	if n < least {
		return 0, fmt.Errorf("%s is too little (at least %d)", quoted(text), least)
	}
	return n, nil
}

// parseMoney reads an amount of more than 0.
func parseMoney(text string) (crowd.Money, error) {
	m, err := crowd.ParseMoney(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s is not an amount: %s, and is at most %s", quoted(text), wantMoney, crowd.MaxMoney)
	case m == 0:
		return 0, fmt.Errorf("an answer costs more than 0")
	}
	return m, nil
}

// parseBool reads true or false.
func parseBool(text string) (bool, error) {
	switch strings.TrimSpace(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s is neither true nor false", quoted(text))
}

// inWords is a duration as a scenario writes it.
func inWords(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'g', 6, 64) + "ms"
	}
	var b strings.Builder
	for i, unit := range []string{"d", "h", "m"} {
		if n := d / durationUnits[i]; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit)
			d -= n * durationUnits[i]
		}
	}
	if d > 0 {
		fmt.Fprintf(&b, "%ss", strconv.FormatFloat(d.Seconds(), 'g', 6, 64))
	}
	return b.String()
}
