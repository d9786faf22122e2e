//go:build !race

package service_test

const slow = false
