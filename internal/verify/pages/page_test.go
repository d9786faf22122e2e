package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../.."

// block is one block of shell commands on a page.
type block struct {
	page   string // from the repository's root
	line   int    // of its first command
	server bool   // it goes on while the rest of the page runs: marked "sh server"
	text   string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// first returns the block's first command line, by which notRun names it.
func (b block) first() string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
	return strings.TrimSpace(line)
}

// blocks returns the shell blocks of a page: fenced, and marked sh.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	var list []block
	var open *block
	for i, line := range strings.Split(string(data), "\n") {
		switch mark, fence := strings.CutPrefix(line, "```"); {
		case fence && open != nil:
			list = append(list, *open)
			open = nil
		case fence:
			if words := strings.Fields(mark); len(words) > 0 && words[0] == "sh" {
				open = &block{page: page, line: i + 2, server: len(words) > 1 && words[1] == "server"}
			}
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		t.Fatalf("%s: a block is not closed", *open)
	}
	return list
}

// allPages returns every page of the documentation, from the repository's root.
func allPages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "workflows/*/*.md", "examples/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			page, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, filepath.ToSlash(page))
		}
	}
	if len(list) < 20 {
		t.Fatalf("only %d pages found", len(list))
	}
	return list
}

// anyCommand is a command of throng within a block that is not run as shell.
var anyCommand = regexp.MustCompile(`(?m)^(\$ )?throng [a-z]`)

// TestCommandsStandInShellBlocks: a command in a block without a mark would be
// run by nobody. Sessions that show output are marked console.
func TestCommandsStandInShellBlocks(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, page := range allPages(t) {
		data, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		mark, inside, text := "", false, ""
		for i, line := range strings.Split(string(data), "\n") {
			rest, fence := strings.CutPrefix(line, "```")
			switch {
			case fence && inside:
				looked++
				if mark == "" && anyCommand.MatchString(text) {
					t.Errorf("%s:%d: commands in a block without a mark: sh, if they can be run as they are, or console", page, i+1)
				}
				inside, text = false, ""
			case fence:
				mark, inside = strings.TrimSpace(rest), true
			case inside:
				text += line + "\n"
			}
		}
	}
	if looked < 50 {
		t.Errorf("only %d blocks were looked at", looked)
	}
}

// linked is a link to a file of the repository, with or without a heading.
var linked = regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)

// TestLinks: each link leads to a file that is there, and to a heading in it.
func TestLinks(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, page := range allPages(t) {
		data, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linked.FindAllStringSubmatch(string(data), -1) {
			looked++
			target := filepath.Join(root, page)
			if m[1] != "" {
				target = filepath.Join(root, filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", page, m[0], err)
				continue
			}
			if m[2] != "" && strings.HasSuffix(target, ".md") && !headings(t, target)[m[2][1:]] {
				t.Errorf("%s: the link %s leads to no heading", page, m[0])
			}
		}
	}
	if looked < 100 {
		t.Errorf("only %d links were looked at", looked)
	}
}

// quoted is a text in the first column of a table, as the user sees it.
var (
	quoted = regexp.MustCompile(`(?m)^\| \*([^*|]+)\* \|`)
	varied = regexp.MustCompile(`http://\S+|\d+`)
	field  = regexp.MustCompile(`^(code|passkey): `)
)

// TestQuotedMessages: each message that the page of troubles quotes is one that
// the program has. What differs each time, a number or an address, is a verb there; what is
// left out, "…", is anything; and the name of a field stands apart from its message.
func TestQuotedMessages(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	for _, dir := range []string{"internal", "crowd"} {
		err = filepath.WalkDir(filepath.Join(root, dir), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			program.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	list := quoted.FindAllStringSubmatch(string(page), -1)
	for _, m := range list {
		want := strings.ReplaceAll(varied.ReplaceAllString(regexp.QuoteMeta(m[1]), `%[a-z]`), "…", `[^"\n]*`)
		want = field.ReplaceAllString(want, `"$1", (?:Message: )?"`)
		if !regexp.MustCompile(want).MatchString(program.String()) {
			t.Errorf("%q is quoted, but no message reads %s", m[1], want)
		}
	}
	if len(list) < 7 {
		t.Errorf("only %d messages are quoted", len(list))
	}
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// headings returns the anchors of a page's headings, as they are made by the
// common viewers of Markdown.
func headings(t *testing.T, path string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]bool{}
	for _, line := range strings.Split(string(data), "\n") {
		if text := strings.TrimLeft(line, "#"); text != line && strings.HasPrefix(text, " ") {
			anchor := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(text)), "")
			list[strings.ReplaceAll(anchor, " ", "-")] = true
		}
	}
	return list
}
