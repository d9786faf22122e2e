// Package scim is the edge by which providers of accounts keep people and groups here:
// SCIM 2.0 (RFC 7643 and 7644) under /scim/v2, in the forms that Okta and Microsoft Entra
// send too.
//
// A resource is a document: a map of the attributes in schema.go, by their names there.
// What a request says of others is left out. PUT and PATCH both make a new document of the
// one that there is, and the use case is given what differs.
package scim
