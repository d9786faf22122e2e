//go:build race

package service_test

// slow says that the race detector makes everything several times slower.
const slow = true
