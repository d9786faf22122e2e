package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Service is a software service that the steps of workflows call by its name: its
// capacity is shared by all who may.
type Service struct {
	Name        string // unique
	URL         string
	Concurrency int        // calls under way at a time, ≥ 1
	Rate        crowd.Rate // of calls that are begun
	AllTenants  bool       // every tenant may use it
	Tenants     []crowd.TenantID
	CreatedAt   time.Time

	Used ServiceUse
}

// ServiceUse bounds what was begun of a service: a server that ended without notice began
// nothing beyond it.
type ServiceUse struct {
	Next time.Time // when the rate allows the next call
	Ends time.Time // when all calls that were begun are over; zero: none is under way
}

// Allows reports whether a tenant may use the service.
func (s *Service) Allows(tenant crowd.TenantID) bool {
	return s.AllTenants || slices.Contains(s.Tenants, tenant)
}

// Services keeps the services that are declared.
type Services interface {
	// CreateService keeps a service; Conflict if the name is taken. If one of its name was
	// removed, what was used of that one is used of it.
	CreateService(ctx context.Context, s Service) error
	// UpdateService replaces what is kept of s.Name, but for CreatedAt and Used.
	UpdateService(ctx context.Context, s Service) error
	// DeleteService removes a service. What was used of it is kept by its name.
	DeleteService(ctx context.Context, name string) error
	Service(ctx context.Context, name string) (Service, error)
	// ListServices returns all services in order of name.
	ListServices(ctx context.Context) ([]Service, error)
	// UseService keeps up to when a service is used, or one that was removed. It is no error
	// if there was none of the name.
	UseService(ctx context.Context, name string, used ServiceUse) error
}

// NoService is the error about a service that is not there, or not to be seen.
func NoService(name string) error {
	return &crowd.Error{Code: crowd.NotFound, Field: "service", Message: fmt.Sprintf("there is no service %q: an administrator declares one with throng service set NAME --url URL --concurrency N", name)}
}
