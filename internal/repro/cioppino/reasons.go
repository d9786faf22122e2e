package cioppino

// Why a figure of ours is not the published one, as a code. docs/papers/cioppino.md has a
// paragraph for each.
const (
	whyCarryTheLoad      = "carry-the-load"
	whyIdleBeforeStep    = "idle-before-step"
	whyStaticFallsBehind = "static-falls-behind"
	whyRuleCarries       = "rule-carries"
	whyHybridBelow       = "hybrid-below"
	whyNobodyLeft        = "nobody-left"
	whyRandomWalk        = "random-walk"
	whyMedianZero        = "median-zero"
	whyRandomFills       = "random-fills"
	whyBalanceCannotSave = "balance-cannot-save"
	whyWholeRunMean      = "whole-run-mean"
	whyEachMove          = "each-move"
	whyOpenSetting       = "open-setting"
	whyPreferenceBound   = "preference-bound"
	whyGeneratedWork     = "generated-work"
)
