# Few targets, each with one purpose. `make` alone lists them.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help build release demo test check bench vuln

help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

build: ## Build bin/throng
	@mkdir -p bin
	go build -trimpath -ldflags "-X main.version=$(VERSION)" -o bin/throng ./cmd/throng

release: ## Build bin/throng without debug symbols, for installing elsewhere
	@mkdir -p bin
	go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/throng ./cmd/throng

demo: build ## Run the main job: a server, two tenants, dozens of workers, labels out
	./bin/throng demo

test: ## Run the tests (what needs shared data, Chromium or long runs says so and is left out)
	go test ./...

check: ## Everything that CI runs: format, vet, lint, tests with the race detector
	bash .ci/run

bench: build ## Print the figures: scheduling decisions and the live server
	./bin/throng bench sched --json
	./bin/throng bench live --workers 16,64,256 --for 10s --json

vuln: ## Look for known vulnerabilities (needs the network)
	go run golang.org/x/vuln/cmd/govulncheck@latest ./...
