//go:build race

package app_test

// slow says that the race detector makes everything several times slower.
const slow = true
