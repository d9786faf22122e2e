// Package access is who may do what: the permissions (permission.go), the roles as sets
// of them (role.go), people with their roles, and one table that has a line for each
// method of each use case with the permission that it needs (table.go), and one more for
// each part of a method that is for fewer people ("Tenants.Update: name and weight"). A
// use case asks Principal.May, MayFor or TenantFor with such a line; nothing else decides.
//
// Which tenant somebody means who names none is for Principal.Tenant to say.
//
// The edges ask for roles and groups only to choose what they show first: pages, menus,
// the roles that a token can have. The use cases decide all the same.
//
// What a principal may not see is "not found"; what they may see but not do is
// "forbidden".
package access
