// Package yamlfile reads the YAML that people write by hand: files of scenarios,
// of pools, of workflows. It is the part of reading that has nothing to do with
// what such a file says.
//
// Language.Parse makes a tree of a text. Every part of it knows its place, and
// texts know the place of each of their characters, however they are quoted or
// folded (Node.At). What no file of ours may have is refused there, once for all
// languages: aliases and merging, tags, a name twice in a mapping, a second
// document, text that is not UTF-8. An anchor that no alias uses says nothing and
// is taken. Aliases are not followed, so a tree is never larger than its text.
//
// Notes collects what is wrong, so that everything is reported at once, in the order
// of the file.
//
// Duration, Rate, Share, Number, Count, Money and Bool read texts with their
// units, and say what would be right.
//
// Which fields there are, and what they mean, is for the reader of each language;
// package fields reads a file by a declaration of them.
package yamlfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/internal/kit/format"
)

// A Language is a kind of file.
type Language struct {
	Name  string // of one file, such as scenario
	Begin string // how a file begins, such as scenario: rush hour
	Most  int    // bytes of a file

	// Marks bounds what marks values off in a text: line ends, commas, colons, opening
	// brackets, and hyphens and question marks before white space, wherever they
	// stand. A tree takes some 400 bytes of memory for each, so a file from the
	// network needs a bound. 0: none.
	Marks int
}

// A Place is where something stands in a file, both from 1, in characters. A
// mark of byte order at the beginning does not count.
type Place struct{ Line, Column int }

// A Kind is the form of a node.
type Kind uint8

// The kinds.
const (
	Nothing Kind = iota // null, or no value at all
	Scalar              // a text, quoted or not: it may be meant as a number
	List
	Mapping
	Refused // what may not stand in a file; it has been noted
)

// A Node is a part of a file.
type Node struct {
	Place
	Kind   Kind
	Text   string  // of a Scalar, without quotes; of Nothing, as it is written
	Items  []*Node // of a List
	Fields []Field // of a Mapping, in the order of the file

	file   *source
	style  yaml.Style
	tag    string
	places []Place // of the characters of Text, when they have been asked for
}

// A Field is one of a Mapping. The keys of a mapping are scalars, and all
// different.
type Field struct{ Key, Value *Node }

// Field returns the field of a name. Its key and value are nil if there is none,
// or no mapping.
func (n *Node) Field(name string) Field {
	if n != nil {
		for _, f := range n.Fields {
			if f.Key.Text == name {
				return f
			}
		}
	}
	return Field{}
}

// What names what stands at the node, for messages: its kind, or its text.
func (n *Node) What() string {
	switch n.Kind {
	case Nothing:
		return "nothing"
	case List:
		return "a list"
	case Mapping:
		return "a mapping"
	}
	return Quote(n.Text)
}

// Parse reads the only document of a text. What is wrong goes into notes; the
// node is nil if there is nothing to read at all, which has been noted.
func (l Language) Parse(text []byte, notes *Notes) *Node {
	p := &parser{notes: notes}
	if len(text) > l.Most {
		notes.Add(Place{1, 1}, "a %s has at most %s, not %d bytes", l.Name, format.Bytes(int64(l.Most)), len(text))
		return nil
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		notes.Add(Place{1, 1}, "the file is UTF-16 text: save it as UTF-8")
		return nil
	}
	if !utf8.Valid(text) {
		notes.Add(strange(text), "the file is not UTF-8 text")
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if at, more := l.crowded(text); more {
		notes.Add(at, "a %s has at most %d lines, commas, colons and brackets in all; this one has more from here on: make it shorter", l.Name, l.Marks)
		return nil
	}
	p.file = &source{text: string(text)}
	top, ok := p.document(l, text)
	if !ok {
		return nil
	}
	if top == nil || empty(top) {
		notes.Add(Place{1, 1}, "the file is empty; a %s begins like this: %s", l.Name, l.Begin)
		return nil
	}
	return p.node(top)
}

// crowded reports whether a text has more marks than the language allows, and where
// the first too many is. No text has more than three nodes for each mark, as in
// [a: b], so the tree is bounded before it is made.
func (l Language) crowded(text []byte) (at Place, more bool) {
	if l.Marks == 0 {
		return at, false
	}
	marks, line := 0, 0
	at = Place{1, 1}
	for i, c := range string(text) {
		switch next := text[min(i+1, len(text)-1)]; c {
		case '\n', '\u0085', '\u2028', '\u2029':
			marks, line = marks+1, i+1
		case '\r':
			if next != '\n' {
				marks++
			}
		case ',', ':', '[', '{':
			marks++
		case '-', '?':
			if next <= ' ' {
				marks++
			}
		}
		if marks > l.Marks {
			return Place{at.Line, utf8.RuneCount(text[min(line, i):i]) + 1}, true
		}
		if c == '\n' {
			at.Line++
		}
	}
	return at, false
}

// A parser makes nodes of those of the YAML library.
type parser struct {
	notes *Notes
	file  *source
}

// document returns the top of the only document, nil if that is empty; not ok if
// it could not be read.
func (p *parser) document(l Language, text []byte) (top *yaml.Node, ok bool) {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		p.notYAML(text, err)
		return nil, false
	}
	var doc, more yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, true
	case err != nil:
		p.notYAML(text, err)
		return nil, false
	}
	switch err := loader.Load(&more); {
	case err == nil:
		p.notes.Add(placeOf(&more), "a second document begins here; one file is one %s", l.Name)
	case !errors.Is(err, io.EOF):
		p.notYAML(text, err)
	}
	if len(doc.Content) == 0 {
		return nil, true
	}
	return doc.Content[0], true
}

// notYAML notes what the YAML library does not understand.
func (p *parser) notYAML(text []byte, err error) {
	var known *yaml.LoadError
	if !errors.As(err, &known) {
		p.notes.Add(Place{1, 1}, "this is not YAML: %v", err)
		return
	}
	at := Place{known.Mark.Line, known.Mark.Column}
	if strings.Contains(known.Message, "unexpected end of stream") && known.ContextMark.Line > 0 {
		at = Place{known.ContextMark.Line, known.ContextMark.Column} // where it begins what has no end
	}
	if at.Line == 0 {
		at = strange(text)
	}
	message := known.Message
	switch {
	case strings.Contains(message, "found a tab") || strings.Contains(message, "cannot start any token") && tabAt(text, at.Line):
		message += " (YAML is indented with spaces)"
	case strings.Contains(message, "incompatible YAML document"):
		message += " (leave the line %YAML out)"
	}
	if known.ContextMsg != "" {
		message += ", " + known.ContextMsg
	}
	p.notes.Add(at, "this is not YAML: %s", message)
}

// strange returns the place of the first character that no text has.
func strange(text []byte) Place {
	at := Place{1, 1}
	for _, c := range string(text) {
		if c == '\n' {
			at = Place{at.Line + 1, 1}
			continue
		}
		if c == unicode.ReplacementChar || c < ' ' && c != '\t' && c != '\r' {
			return at
		}
		at.Column++
	}
	return Place{1, 1}
}

// tabAt reports whether a line is indented with a tab.
func tabAt(text []byte, line int) bool {
	for range line - 1 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("\t"))
}

func placeOf(y *yaml.Node) Place { return Place{max(y.Line, 1), max(y.Column, 1)} }

func empty(y *yaml.Node) bool { return y.Kind == yaml.ScalarNode && y.ShortTag() == "!!null" }

// node makes a node with all that is in it.
func (p *parser) node(y *yaml.Node) *Node {
	n := &Node{Place: placeOf(y), Text: y.Value, file: p.file, style: y.Style, tag: y.ShortTag()}
	switch {
	case y.Kind == yaml.AliasNode:
		n.Kind = Refused
		p.notes.Add(n.Place, "*%s: aliases are not known here; write it out", Clip(y.Value))
	case y.Style&yaml.TaggedStyle != 0:
		n.Kind = Refused
		p.notes.Add(n.Place, "the tag %s means nothing here; leave it out", Quote(y.Tag))
	case y.Kind == yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			n.Items = append(n.Items, p.node(item))
		}
	case y.Kind == yaml.MappingNode:
		n.Kind = Mapping
		p.fields(n, y)
	case !empty(y):
		n.Kind = Scalar
	}
	return n
}

// fields makes the fields of a mapping.
func (p *parser) fields(n *Node, y *yaml.Node) {
	lines := map[string]int{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		at, first := placeOf(k), lines[k.Value]
		switch {
		case k.Kind == yaml.AliasNode:
			p.node(k) // which refuses it
		case k.Kind != yaml.ScalarNode:
			p.notes.Add(at, "the name of a field is a text, not %s", p.node(k).What())
		case k.Value == "<<" && k.Style == 0:
			p.notes.Add(at, "merging (<<) is not known here; write it out")
		case first > 0:
			p.notes.Add(at, "%s stands here twice, first in line %d", Quote(k.Value), first)
		default:
			lines[k.Value] = at.Line
			key := p.node(k)
			if key.Kind == Nothing {
				key.Kind = Scalar // null is a name like any other
			}
			n.Fields = append(n.Fields, Field{key, p.node(y.Content[i+1])})
		}
	}
}
