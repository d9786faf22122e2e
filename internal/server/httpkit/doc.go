// Package httpkit is what the HTTP edges (api and web) share: the one table
// from error codes to HTTP statuses, the headers that every answer has, and the
// middleware that logs and recovers.
//
// It knows no use case and no form of an answer: the API writes its errors as
// JSON and the web as pages, each by its own hand.
package httpkit
