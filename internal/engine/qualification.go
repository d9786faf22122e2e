package engine

import (
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// Requirement is one condition on the workers of a batch: the qualification
// must be held with at least the score Min (0 to 100).
type Requirement struct {
	Name string `json:"name"`
	Min  int    `json:"min"`

	// Owner names the batch's tenant if the qualification is its own; "": it is the
	// installation's. As somebody has written it, before OwnRequirements, it is any text.
	Owner string `json:"owner,omitempty"`
}

// ParseRequirement reads what is asked for by its full name, such as north/birds.
func ParseRequirement(q crowd.Qualification) Requirement {
	owner, name := crowd.SplitQualification(q.Name)
	return Requirement{Name: name, Min: q.Score, Owner: owner}
}

// FullName returns the name with its owner.
func (r *Requirement) FullName() string { return crowd.JoinQualification(r.Owner, r.Name) }

// Scored returns the full name with the least score.
func (r *Requirement) Scored() crowd.Qualification {
	return crowd.Qualification{Name: r.FullName(), Score: r.Min}
}

// Owner is the tenant for which qualifications are named.
type Owner struct {
	ID   crowd.TenantID
	Name string
}

// Owns reports whether an owner that somebody has written is the tenant: by its name or
// its id. Nothing else is looked at, so that the answer tells nothing of other tenants.
func (o Owner) Owns(written string) bool {
	return written != "" && (written == o.Name || written == o.ID.String())
}

// OwnRequirements returns what a batch or step of a tenant asks for, as somebody has
// written it: qualifications of the installation and of the tenant, no others.
func OwnRequirements(of Owner, written []Requirement) ([]Requirement, error) {
	list := slices.Clone(written)
	for i := range list {
		r := &list[i]
		if err := r.Scored().Validate(); err != nil {
			return nil, crowd.Fieldf("qualifications", "%s", err)
		}
		if r.Owner == "" {
			continue
		}
		if !of.Owns(r.Owner) {
			return nil, crowd.Fieldf("qualifications", "%s", of.Foreign(r))
		}
		r.Owner = of.Name
	}
	return list, ValidRequirements(list)
}

// Foreign says why a tenant may not ask for a qualification of another owner.
func (o Owner) Foreign(r *Requirement) string {
	own := Requirement{Name: r.Name, Owner: o.Name}
	return r.FullName() + " is not a qualification that " + o.Name + " may ask for: write " + own.FullName() + " for its own, or " + r.Name + " for the installation's"
}

// ValidRequirements checks the qualifications that a batch asks for. Batches of earlier
// versions may have a / in their names.
func ValidRequirements(list []Requirement) error {
	if len(list) > MaxRules {
		return crowd.Fieldf("qualifications", "%d are too many (at most %d)", len(list), MaxRules)
	}
	if len(list) == 0 {
		return nil
	}
	seen := make(map[string]bool, len(list))
	for _, r := range list {
		if err := (crowd.Qualification{Name: strings.ReplaceAll(r.Name, "/", "."), Score: r.Min}).Validate(); err != nil {
			return crowd.Fieldf("qualifications", "%s", err)
		}
		if seen[r.FullName()] {
			return crowd.Fieldf("qualifications", "%s stands there twice", r.FullName())
		}
		seen[r.FullName()] = true
	}
	return nil
}

// Grant is a qualification of a tenant that somebody holds.
type Grant struct {
	Tenant crowd.TenantID `json:"tenant"`
	Name   string         `json:"name"`
	Score  int            `json:"score"`
}

// Meets reports whether somebody with these qualifications of the installation and
// of tenants may do what a tenant requires.
func Meets(held map[string]int, granted []Grant, tenant crowd.TenantID, list []Requirement) bool {
	for _, r := range list {
		score, met := held[r.Name]
		met = met && score >= r.Min
		if r.Owner != "" {
			met = slices.ContainsFunc(granted, func(g Grant) bool {
				return g.Tenant == tenant && g.Name == r.Name && g.Score >= r.Min
			})
		}
		if !met {
			return false
		}
	}
	return true
}
