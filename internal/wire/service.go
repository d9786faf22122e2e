package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Service is a service that is declared, as it stands.
type Service struct {
	Name            string           `json:"name"`
	URL             string           `json:"url"`
	Concurrency     int              `json:"concurrency" doc:"calls under way at a time, of all tenants together"`
	Rate            string           `json:"rate,omitempty" doc:"the most calls that are begun in a time, such as 10/s or 5000/h; left out: no limit"`
	AllTenants      bool             `json:"all_tenants" doc:"every tenant may use it"`
	Tenants         []crowd.TenantID `json:"tenants" doc:"that may use it, if not all; to requesters, those of theirs that may"`
	CreatedAt       time.Time        `json:"created_at"`
	UnderWay        int              `json:"under_way" doc:"calls, of all tenants together"`
	Waiting         int              `json:"waiting" doc:"calls, of all tenants together"`
	ResponseSeconds float64          `json:"response_seconds,omitempty" doc:"of a call, the mean of those since it was last idle, the server's start or longer"`
	Opens           time.Time        `json:"opens,omitzero" doc:"when it takes the next call at the earliest, if it takes none now whatever its concurrency"`
	Warning         string           `json:"warning,omitempty" doc:"why its calls are refused, for people: its address is not public, and the operator does not allow it"`
	Load            []ServiceShare   `json:"load" doc:"the calls by tenant; to requesters, those of their tenants"`
}

// ServiceShare are the calls of a tenant at a service.
type ServiceShare struct {
	Tenant   crowd.TenantID `json:"tenant"`
	UnderWay int            `json:"under_way"`
	Waiting  int            `json:"waiting"`
}

// NewService declares a service.
type NewService struct {
	Name string `json:"name" doc:"a letter and then letters, digits and _, at most 63: workflows name it so"`
	ServiceEdit
}

// ServiceEdit changes a service; what is left out stays as it is.
type ServiceEdit struct {
	URL         *string           `json:"url,omitempty" doc:"http or https; the paths of steps go below it"`
	Concurrency *int              `json:"concurrency,omitempty" doc:"from 1 to 1000"`
	Rate        *string           `json:"rate,omitempty" doc:"a number and a unit, s, m, h or d, such as 10/s; empty: no limit"`
	AllTenants  *bool             `json:"all_tenants,omitempty" doc:"every tenant may use it"`
	Tenants     *[]crowd.TenantID `json:"tenants,omitempty" doc:"that may use it, if not all" maxItems:"10000"`
}

// RunService is the declared service of a step, as its tenant sees it.
type RunService struct {
	Name        string    `json:"name"`
	Concurrency int       `json:"concurrency" doc:"calls at a time, of all tenants together; 0: it cannot be used"`
	Rate        string    `json:"rate,omitempty"`
	UnderWay    int       `json:"under_way" doc:"calls, of all tenants together; of a service that cannot be used, of the run's tenant alone"`
	Waiting     int       `json:"waiting" doc:"calls, of all tenants together; of a service that cannot be used, of the run's tenant alone"`
	OwnUnderWay int       `json:"own_under_way" doc:"calls of the run's tenant"`
	OwnWaiting  int       `json:"own_waiting" doc:"calls of the run's tenant"`
	Opens       time.Time `json:"opens,omitzero" doc:"when it takes the next call at the earliest, if it takes none now whatever its concurrency"`
	Text        string    `json:"text,omitempty" doc:"the same for people"`
}
