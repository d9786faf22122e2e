package crowd

import (
	"regexp"
	"strconv"
	"strings"
)

// Qualification is what a worker holds with a score from 0 to 100, or what a batch asks
// for with its least score. Its Name is the full one: north/birds is the qualification
// birds of the tenant north, birds that of the installation.
type Qualification struct {
	Name  string
	Score int
}

// MaxScore is the highest score.
const MaxScore = 100

// scoredForm is a name with its score, divided by >=, =, a colon or blanks.
var scoredForm = regexp.MustCompile(`^(.*?)[ \t]*(?:>=|[=: \t])[ \t]*(-?[0-9]+)$`)

// ParseQualification reads a qualification as people type it, of a worker or a batch:
// "birds>=80", "birds=80", "birds: 80" or "birds 80". A name alone has the score
// otherwise.
func ParseQualification(text string, otherwise int) (Qualification, error) {
	q := Qualification{strings.TrimSpace(text), otherwise}
	if m := scoredForm.FindStringSubmatch(q.Name); m != nil {
		score, err := strconv.Atoi(m[2])
		if err != nil {
			return q, Errorf(Invalid, "%q has no score from 0 to 100", text)
		}
		q = Qualification{m[1], score}
	}
	return q, q.Validate()
}

// SplitQualification takes the full name of a qualification apart. A name without an owner
// is the installation's.
func SplitQualification(full string) (owner, name string) {
	owner, name, owned := strings.Cut(full, "/")
	if !owned || owner == "" {
		return "", full
	}
	return owner, name
}

// JoinQualification makes the full name of a qualification; owner "" is the installation.
func JoinQualification(owner, name string) string {
	if owner == "" {
		return name
	}
	return owner + "/" + name
}

// Validate returns what is wrong with the full name or the score. The characters <, > and
// = divide names from scores, and so stand in no name; / divides a name from its owner.
func (q Qualification) Validate() error {
	owner, name := SplitQualification(q.Name)
	switch {
	case name == "" || len(name) > 100 || len(owner) > 100 || strings.ContainsAny(q.Name, "\x00\n"):
		return Errorf(Invalid, "%q is not a name (1 to 100 characters)", q.Name)
	case strings.ContainsAny(q.Name, "<>="):
		return Errorf(Invalid, "%q is not the name of a qualification (like birds, with a score like birds>=80)", q.Name)
	case strings.Contains(name, "/"):
		return Errorf(Invalid, "%q is not the name of a qualification (birds, or north/birds for that of the tenant north; a name has no other /)", q.Name)
	case q.Score < 0 || q.Score > MaxScore:
		return Errorf(Invalid, "%s: the score %d is not between 0 and 100", q.Name, q.Score)
	}
	return nil
}
