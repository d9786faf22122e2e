package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// configFlag names the file of settings. A command that has it takes each of its flags that
// is a setting of a server from there, too.
type configFlag struct {
	Config string `type:"path" placeholder:"FILE" env:"THRONG_CONFIG" help:"File of settings in YAML: the flags of throng serve without their hyphens, as in listen: 127.0.0.1:8080. Flags and variables come before it."`
}

// config is the name of configFlag.
const config = "config"

// secretTag marks the flags whose values hold passwords: they can be in a file that a
// variable names, and are not shown whole.
const secretTag = "secret"

// fileVariable is the variable that names the file with the value of another variable.
func fileVariable(name string) string { return name + "_FILE" }

// settings finds the values of flags that are not on the command line: in the environment,
// in a file that a variable names, in the file of settings. It is a kong.Resolver.
type settings struct {
	c       *Context
	values  map[string]fromFile // of the file of settings, by flag
	origins map[string]string   // where a value was found, by flag
}

// fromFile is a value of the file of settings, as kong reads it.
type fromFile struct {
	value  any
	origin string
}

// options has kong find values there.
func (s *settings) options() kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		return errors.Join(kong.Resolvers(s).Apply(k), kong.WithBeforeResolve(s.load).Apply(k), kong.ValueFormatter(helpOfValue).Apply(k))
	})
}

// takeVariables has kong read no variables: it takes an empty one for a value, and knows no
// files. Their names stay in Flag.Envs.
func takeVariables(k *kong.Kong) error {
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if f, ok := node.(*kong.Flag); ok {
			f.Tag.Envs = nil
		}
		return next(nil)
	})
}

// helpOfValue is the help of a flag or an argument, with its variables.
func helpOfValue(v *kong.Value) string {
	if v.Flag == nil || len(v.Flag.Envs) == 0 {
		return v.Help
	}
	names := lists.Map(v.Flag.Envs, func(name string) string { return "$" + name })
	if v.Tag.Has(secretTag) {
		names = append(names, "$"+fileVariable(v.Flag.Envs[0]))
	}
	return fmt.Sprintf("%s (%s).", strings.TrimSuffix(v.Help, "."), strings.Join(names, ", "))
}

// Validate makes it a kong.Resolver.
func (*settings) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag that is not on the command line; nil: it has none.
func (s *settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	text, origin, err := fromEnvironment(flag)
	if err != nil {
		return nil, err
	}
	if origin != "" {
		if err := fits(flag, text); err != nil {
			return nil, fmt.Errorf("%s: %w", origin, err)
		}
		s.origins[flag.Name] = origin
		return text, nil
	}
	found, ok := s.values[flag.Name]
	if !ok {
		return nil, nil
	}
	s.origins[flag.Name] = found.origin
	return found.value, nil
}

// fromEnvironment returns what a variable says, or a file that a variable names. A variable
// that is empty is as one that is not set.
func fromEnvironment(flag *kong.Flag) (text, origin string, err error) {
	for _, name := range flag.Envs {
		if text := os.Getenv(name); text != "" {
			return text, variable(name), nil
		}
	}
	if !flag.Tag.Has(secretTag) {
		return "", "", nil
	}
	for _, name := range flag.Envs {
		if file := os.Getenv(fileVariable(name)); file != "" {
			text, err := readSecret(file)
			if err != nil {
				return "", "", fmt.Errorf("%s: %w", fileVariable(name), err)
			}
			return text, variable(fileVariable(name)), nil
		}
	}
	return "", "", nil
}

func variable(name string) string { return "environment " + name }

// maxSecret is how long the file of a secret may be.
const maxSecret = 64 << 10

// readSecret returns the only line of a file.
func readSecret(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", err
	}
	line := strings.TrimSpace(string(text))
	switch {
	case line == "":
		return "", crowd.Errorf(crowd.Invalid, "%s is empty: it holds the value, in one line", file)
	case len(text) > maxSecret || strings.ContainsAny(line, "\r\n\x00"):
		return "", crowd.Errorf(crowd.Invalid, "%s has more than one line: it holds the value and nothing else", file)
	}
	return line, nil
}

// fits reports whether a flag takes a value.
func fits(flag *kong.Flag, value any) error {
	scan := kong.Scan().PushTyped(value, kong.FlagValueToken)
	return flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, reflect.New(flag.Target.Type()).Elem())
}

var settingsFile = yamlfile.Language{Name: "file of settings", Begin: "listen: 127.0.0.1:8080", Most: 1 << 20, Marks: 10_000}

// settingsOf returns the flags of a command that are settings of a server.
func settingsOf(command *kong.Node) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(command.Flags), func(f *kong.Flag) bool { return len(f.Envs) == 0 || f.Name == config })
}

// load reads the file of settings, if the command has one.
func (s *settings) load(k *kong.Context) error {
	command := k.Selected()
	if command == nil {
		return nil
	}
	at := slices.IndexFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == config })
	if at < 0 {
		return nil
	}
	flag := command.Flags[at]
	name, _ := k.FlagValue(flag).(string)
	if name == "" {
		if name, _, _ = fromEnvironment(flag); name == "" {
			return nil
		}
		name = kong.ExpandPath(name)
	}
	text, err := s.c.read(name, settingsFile.Most)
	if err != nil {
		return ofFile("config", err)
	}
	notes := &yamlfile.Notes{File: name}
	top := settingsFile.Parse(text, notes)
	if top != nil {
		s.values = readSettings(name, k.Model, notes, top)
	}
	if notes.Count() > 0 {
		return withNames(notes.Problems(), top)
	}
	return nil
}

// withNames puts before each problem the setting that it is about.
func withNames(list yamlfile.Problems, top *yamlfile.Node) yamlfile.Problems {
	for i, p := range list {
		name := ""
		for j := 0; top != nil && j < len(top.Fields) && top.Fields[j].Key.Line <= p.Line; j++ {
			name = yamlfile.Clip(top.Fields[j].Key.Text)
		}
		if !strings.Contains(p.Message, name) {
			list[i].Message = name + ": " + p.Message
		}
	}
	return list
}

// readSettings reads the tree of a file of settings, which are those of throng serve.
func readSettings(name string, model *kong.Application, notes *yamlfile.Notes, top *yamlfile.Node) map[string]fromFile {
	serve := model.Children[slices.IndexFunc(model.Children, func(n *kong.Node) bool { return n.Name == "serve" })]
	known := settingsOf(serve)
	file := fields.Read(notes, top, lists.Map(known, func(f *kong.Flag) fields.Field { return fields.May(f.Name, settingType(f)) }))
	values := make(map[string]fromFile)
	for _, f := range known {
		part := file.Get(f.Name)
		if part == nil {
			continue
		}
		values[f.Name] = fromFile{settingValue(f, part, filepath.Dir(name)), fmt.Sprintf("%s:%d", name, part.Key.Line)}
	}
	return values
}

// settingType is what may stand in a file of settings as the value of a flag.
func settingType(flag *kong.Flag) *fields.Type {
	const mostItems, longest = 1000, 4096
	switch {
	case flag.IsBool():
		return fields.Bool
	case flag.IsSlice():
		return fields.List(0, mostItems, fields.Text(1, longest))
	case flag.Target.CanInt():
		return fields.Count(0, math.MaxInt32)
	}
	return fields.Scalar("a text is wanted", func(text string) (string, error) {
		if text == "" {
			return "", errors.New("this text is empty: leave the line out")
		}
		return text, fits(flag, text)
	})
}

// settingValue is the value that kong is given for what a file of settings says. A path is
// relative to the file's folder.
func settingValue(flag *kong.Flag, part *fields.Part, folder string) any {
	switch v := part.Scalar.(type) {
	case nil:
		return lists.Map(part.Parts(), func(p *fields.Part) any { return p.Text() })
	case bool:
		return strconv.FormatBool(v)
	case string:
		if flag.Tag.Type == "path" && !filepath.IsAbs(v) && !strings.HasPrefix(v, "~/") {
			return filepath.Join(folder, v)
		}
		return v
	default:
		return fmt.Sprint(v)
	}
}

// explain says where a setting with which something is wrong was found, unless that was on
// the command line.
func (s *settings) explain(err error) error {
	for _, e := range crowd.ErrorsOf(err) {
		name, _, _ := strings.Cut(e.Field, ":")
		if origin := s.origins[name]; origin != "" {
			return &noted{err, name + " is set by " + origin}
		}
	}
	return err
}
