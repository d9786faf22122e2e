package workflow

// Reserved returns the words that no input or step may have as a name.
func Reserved() []string { return reserved }
