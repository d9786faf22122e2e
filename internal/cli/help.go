package cli

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/pool"
)

// helpTexts are the long helps, a file for each command of Root. A line
// "# throng batch list" begins the help of that command. What stands in {{ }} is
// computed.
//
//go:embed help/*.txt
var helpTexts embed.FS

// addHelp gives every command its long help.
func addHelp(k *kong.Kong) error {
	texts, err := readHelp()
	if err != nil {
		return err
	}
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if n, ok := node.(*kong.Node); ok {
			n.Detail = texts[n.FullPath()]
		}
		return next(nil)
	})
}

// readHelp returns the long helps by command, such as "throng batch list".
func readHelp() (map[string]string, error) {
	computed := strings.NewReplacer(
		"{{policies}}", strings.Join(policies(), ", "),
		"{{rule names}}", ruleNames(),
		"{{elasticities}}", forms(pool.Elasticities()),
		"{{stabilities}}", forms(pool.Stabilities()),
		"{{balancers}}", forms(pool.Balancers()),
	)
	texts := make(map[string]string)
	return texts, fs.WalkDir(helpTexts, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := helpTexts.ReadFile(name)
		if err != nil {
			return err
		}
		for section := range strings.SplitSeq(strings.TrimPrefix(string(data), "# "), "\n# ") {
			command, text, _ := strings.Cut(section, "\n")
			texts[command] = computed.Replace(strings.TrimSpace(text))
		}
		return nil
	})
}
