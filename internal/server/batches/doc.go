// Package batches is the work of requesters: drafts, uploads, launches, changes of
// running batches, previews, results with their quality, and forecasts. The
// batches of workflow steps are driven by the orchestrator, through Steps.
//
// Its tests are in server/app, through package app: drafts, edits, upload, money,
// quality, forecast and failure (_test.go).
package batches
