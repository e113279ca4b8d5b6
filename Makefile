# Everything here runs offline once the modules are there. .ci/run uses the same targets.
GO      ?= go
TOOL     = $(GO) tool -modfile=tools/go.mod
PKG     ?= ./...
TARGET  ?= FuzzSplitJoin
TIME    ?= 30s

.PHONY: build test lint fmt docs update fuzz bench e2e check

build: ## the program, as bin/inject
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -buildid=" -o bin/inject ./cmd/inject

test: ## every test that needs nothing but Go
	$(GO) test -timeout 30m ./...

lint: ## vet, staticcheck and gofumpt; nothing may be found
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	@out=$$($(TOOL) gofumpt -l cmd transform policy golden); if [ -n "$$out" ]; then echo "not gofumpt-ed:"; echo "$$out"; exit 1; fi

fmt: ## format the code
	$(TOOL) gofumpt -w cmd transform policy golden

docs: ## write the pages that are made from the program
	$(GO) test ./policy/lint ./policy/lifecycle -run 'Docs|Doc' -update

update: ## rewrite what golden cases expect; read the difference before you commit it
	$(GO) test ./golden ./cmd/internal/print ./policy/lint ./policy/lifecycle -update

fuzz: ## one fuzz target for a time: make fuzz PKG=./transform/manifest TARGET=FuzzSplitJoin TIME=60s
	$(GO) test $(PKG) -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime $(TIME)

bench: build ## the figures of DESIGN: per step, per document, whole process, and peers found on PATH
	$(GO) test ./golden ./transform/... -run '^$$' -bench . -benchmem

e2e: build ## the real kustomize, Helm and kubectl, the SARIF schema and a Markdown parser
	$(GO) test ./golden -run TestE2E -e2e -v -timeout 60m
	cd tools/formats && $(GO) test ./...

check: lint test ## all that must pass
