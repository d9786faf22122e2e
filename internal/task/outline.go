package task

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// outline is what is found in a requester's HTML. Places are byte offsets.
type outline struct {
	document                                     bool    // it has a doctype, html, head or body
	htmlStart, htmlEnd, headStart, headEnd       int     // after the start tags, of the end tags; -1: none
	bodyStart, bodyEnd, doctype                  int     // the same; doctype: after it
	form                                         *formAt // the one that holds the answer
	hasSubmit, hasAssignment, hasBase, crowdTags bool    //
	hasFile                                      bool    // an <input type="file">
	names                                        []string
	types                                        map[string]ControlType // of the first control of each name, as it looks
	opaque                                       [][2]int               // ranges without placeholders that are kept as they are
	drop                                         [][2]int               // ranges that are left out
}

// formAt is where a form stands.
type formAt struct {
	id    string
	name  int // after "<form"
	start int // after the start tag
	end   int // of the end tag; -1: none
}

// outliner reads a requester's HTML token by token.
type outliner struct {
	outline
	source   string
	from, to int     // of the token
	open     *formAt // the form that is open
	raw      string  // "script" or "style" while such an element is open
	rawFrom  int     // where it begins
	rawDrop  bool    // it is left out
}

func outlineOf(source string) outline {
	o := outliner{source: source, outline: outline{htmlStart: -1, htmlEnd: -1, headStart: -1, headEnd: -1, bodyStart: -1, bodyEnd: -1, doctype: -1}}
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		kind := z.Next()
		o.from, o.to = o.to, o.to+len(z.Raw())
		switch kind {
		case html.ErrorToken:
			return o.outline
		case html.CommentToken:
			o.keep(o.from)
		case html.DoctypeToken:
			o.document, o.doctype = true, o.to
		case html.EndTagToken:
			o.endTag(z.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			o.startTag(z.Token())
		}
	}
}

func (o *outliner) endTag(name string) {
	switch name {
	case "html":
		o.htmlEnd = o.from
	case "head":
		o.headEnd = o.to
	case "body":
		o.bodyEnd = o.from
	case "form":
		if o.open != nil {
			o.open.end, o.open = o.from, nil
		}
	case o.raw:
		if o.rawDrop {
			o.drop = append(o.drop, [2]int{o.rawFrom, o.to})
		} else {
			o.keep(o.rawFrom)
		}
		o.raw = ""
	}
}

func (o *outliner) startTag(token html.Token) {
	attr := attributes(token)
	switch token.Data {
	case "html", "head", "body":
		o.document = true
		at := map[string]*int{"html": &o.htmlStart, "head": &o.headStart, "body": &o.bodyStart}[token.Data]
		if *at < 0 {
			*at = o.to
		}
	case "base":
		o.hasBase = true
	case "script", "style":
		o.raw, o.rawFrom = token.Data, o.from
		src, _, _ := strings.Cut(attr["src"], "?")
		o.rawDrop = strings.HasSuffix(src, "/externalHIT_v1.js")
	case "form":
		if o.open == nil {
			o.open = &formAt{id: attr["id"], name: o.from + len("<form"), start: o.to, end: -1}
			if o.form == nil || o.form.id != "mturk_form" && o.open.id == "mturk_form" {
				o.form = o.open
			}
		}
	case "input", "select", "textarea", "button":
		o.control(token.Data, attr)
	}
	if strings.HasPrefix(token.Data, "crowd-") {
		o.crowdTags = true
	}
}

// keep makes the range up to the end of the token opaque if nothing is to be put
// into it.
func (o *outliner) keep(from int) {
	if len(Columns(o.source[from:o.to])) == 0 {
		o.opaque = append(o.opaque, [2]int{from, o.to})
	}
}

func (o *outliner) control(tag string, attr map[string]string) {
	kind := strings.ToLower(attr["type"])
	name := attr["name"]
	answers := true
	switch {
	case tag == "input" && (kind == "submit" || kind == "image"):
		o.hasSubmit = true
	case tag == "input" && (kind == "button" || kind == "reset"), tag == "button" && (kind == "button" || kind == "reset"):
		answers = false
	case tag == "button":
		o.hasSubmit = true
	case tag == "input" && kind == "file":
		o.hasFile, answers = true, false
	}
	if name == "assignmentId" {
		o.hasAssignment = true
	}
	if answers && name != "" && !isReserved(name) && !slices.Contains(o.names, name) {
		o.names = append(o.names, name)
		if o.types == nil {
			o.types = make(map[string]ControlType)
		}
		o.types[name] = looks(tag, kind, attr)
	}
}

// looks returns the type of control that an element is most like.
func looks(tag, kind string, attr map[string]string) ControlType {
	_, multiple := attr["multiple"]
	switch {
	case tag == "select" && multiple, tag == "input" && kind == "checkbox":
		return ControlCheckboxes
	case tag == "select", tag == "button", tag == "input" && (kind == "radio" || kind == "hidden"):
		return ControlRadio
	case tag == "textarea":
		return ControlTextArea
	case kind == "number" || kind == "range":
		return ControlNumber
	case kind == "date":
		return ControlDate
	}
	return ControlText
}

func attributes(token html.Token) map[string]string {
	out := make(map[string]string, len(token.Attr))
	for _, a := range token.Attr {
		if _, twice := out[a.Key]; !twice {
			out[a.Key] = a.Val
		}
	}
	return out
}
