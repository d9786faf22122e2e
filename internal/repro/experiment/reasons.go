package experiment

// Why a row is not decided, as a code. docs/paper.md has a paragraph for each.
const (
	whyOneFigure = "one-figure"
	whyUndecided = "undecided"
)
