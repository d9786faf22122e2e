package examples

import (
	"fmt"
	"math"
	"strings"
)

// manyClaims is how many claims there are to handle.
const manyClaims = 80

// premium is the share of the claims of premium customers, missing that of the
// claims in which something is missing; both conditions of the published process
// hold in 70 of 100 cases, and so does the decision to pay.
const (
	premium = 0.25
	missing = 0.7
	covered = 0.7
)

var (
	causes = map[string][]string{
		"accident":  {"hit a lamp post while parking", "was rammed from behind at a light", "slid into a fence on ice"},
		"vandalism": {"found long scratches along both doors", "found a mirror kicked off", "found the windscreen broken"},
		"storm":     {"a branch fell on the roof", "hail left dents all over the bonnet", "water came in through the sunroof"},
		"theft":     {"the wheels were gone in the morning", "the radio was torn out", "a window was smashed and a bag taken"},
	}
	causeNames = strings.Fields("accident vandalism storm theft")
	excluded   = []string{"it happened during a race", "the contract had ended before", "the same damage was paid last year"}
	firstNames = strings.Fields("Ada Ben Cleo Dan Eva Finn Gia Hugo Ida Jon Kim Leo Mia Ned Ola Pia")
	lastNames  = strings.Fields("Abel Birch Cole Dorn Ember Frost Grove Hale Ives Juno Kern Lund")
)

// claims makes claims of a car insurance: what the customer tells, and what good
// clerks and experts would find.
func claims(seed uint64) File {
	d := newDice(seed, "claims")
	s := newSheet("claim", "customer", "plan", "cause", "story", "declared", "true_missing", "true_decision", "true_cost")
	for i := range manyClaims {
		plan, lacks, decision := "regular", "nothing", "reject"
		if d.chance(premium) {
			plan = "premium"
		}
		if d.chance(missing) {
			lacks = d.pick([]string{"photos", "police report", "repair bill"})
		}
		if d.chance(covered) {
			decision = "reimburse"
		}
		cause := d.pick(causeNames)
		story := d.pick(causes[cause])
		if decision == "reject" {
			story += "; " + d.pick(excluded)
		}
		cost := math.Round(20 * math.Exp(3.6+0.7*d.Normal()))
		declared := math.Round(cost * (1.05 + 0.3*d.Float64()))
		s.add(fmt.Sprintf("n%03d", i+1), d.pick(firstNames)+" "+d.pick(lastNames), plan, cause, story, fmt.Sprint(declared), lacks, decision, fmt.Sprint(cost))
	}
	return s.file("insurance-claims/data/claims.csv")
}
