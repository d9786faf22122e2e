// Package audit is the use case of reading who changed what: all of it for who runs the
// installation, and for others what was changed of their tenants, without addresses and
// without the names of who runs the installation. It also drops old entries, if the operator
// wants that.
//
// The entries are kept by the transactions of the changes: see access.Principal.Acting.
package audit
