//go:build !race

package app_test

const slow = false
