# Shortcuts for the commands of .ci/run, which defines CI.
.PHONY: help test race lint openapi fuzz bench cover generate docs ci
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 10

test: ## run all tests
	go test ./...

race: ## run all tests under the race detector, in random order
	go test -race -vet=off -short -shuffle=on ./...

lint: ## vet and lint with the pinned linter
	go vet ./...
	go build -C .ci -o ../bin/ tool
	bin/golangci-lint run ./...

openapi: ## lint docs/openapi.yaml
	npm ci --prefix .ci/openapi --ignore-scripts --no-audit --no-fund
	node .ci/openapi/lint.mjs docs/openapi.yaml

fuzz: ## fuzz one target: make fuzz TARGET=FuzzDecodeRequest PKG=./systemone FUZZTIME=1m
	go test -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime $(or $(FUZZTIME),1m) $(PKG)

bench: ## run all benchmarks
	go test -run '^$$' -bench . ./...

cover: ## show the statements of systemone that its tests do not reach
	go test -coverprofile=cover.out ./systemone
	go tool cover -func=cover.out

generate: ## regenerate code
	go generate ./...

docs: ## check the code blocks and links of the documentation
	go test ./internal/docs

ci: ## run everything that CI runs
	.ci/run
