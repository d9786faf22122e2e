package workflow

// Reserved returns the words that no input or step may have as a name.
func Reserved() []string { return reserved }

// TemplateFields returns the fields of templates that the language knows.
func TemplateFields() (template, field []string) { return templateShape.Keys(), fieldShape.Keys() }
