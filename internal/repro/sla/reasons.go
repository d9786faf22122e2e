package sla

// Why a figure of ours is not the published one, as a code. docs/papers/sla.md has a
// paragraph for each.
const (
	whyNobodyPays         = "nobody-pays"
	whyMoreThanPublished  = "more-than-published"
	whyAllAlike           = "all-alike"
	whyUnknownF0T0        = "unknown-f0-t0"
	whyPenaltiesBeginLate = "penalties-begin-late"
	whyNoGrowth           = "no-growth"
	whyOtherWayRound      = "other-way-round"
	whyGradualLimit       = "gradual-limit"
	whyOtherF0            = "other-f0"
	whyFresher            = "fresher"
	whyNoPoorer           = "no-poorer"
)
