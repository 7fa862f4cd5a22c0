# etcd-autopsy: one target per habit. `make check` is what CI runs.

GO        ?= go
FUZZTIME  ?= 20s
BENCH     ?= .
BENCHSIZE ?= 256MiB
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS    = -s -w -X main.version=$(VERSION)

export CGO_ENABLED ?= 0

.PHONY: help build test race lint fuzz bench golden demo check clean

help: ## show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' Makefile

build: ## build bin/etcd-autopsy
	$(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/etcd-autopsy ./cmd/etcd-autopsy

test: ## run all tests, and those against the API server's own encryption and etcdutl
	$(GO) test ./...
	cd snapshot/apiservertest && $(GO) test ./...
	cd snapshot/peertest && $(GO) test ./...

race: ## run the quick tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short ./...

lint: ## gofmt, vet, staticcheck, errcheck
	@unformatted="$$(gofmt -l .)"; [ -z "$$unformatted" ] || { echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) tool errcheck -ignoretests -exclude .ci/errcheck.txt ./...

fuzz: ## run each fuzz target for FUZZTIME (20s)
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
	  done; \
	done

bench: ## run the benchmarks (BENCH=regexp picks some), then those beside peers, on a store and logs of BENCHSIZE (256MiB)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $$($(GO) list ./... | grep -v /peertest)
	$(GO) test -run '^$$' -bench '$(BENCH)' -timeout 1h ./logparse/peertest -log.size $(BENCHSIZE)
	cd snapshot/peertest && $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 1h -store.size $(BENCHSIZE)

golden: ## rewrite the expected outputs of the tests; look at the diff before you commit it
	@for dir in $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n1 dirname | sort -u); do \
	  $(GO) test $$dir -update || exit 1; \
	done

demo: build ## write a postmortem of a recorded incident into demo/
	@rm -rf demo && mkdir demo
	@$(GO) run ./fixtures/cmd/unpack hiccup-not-guilty demo >/dev/null
	@bin/etcd-autopsy report demo/hiccup-not-guilty -o demo/postmortem.html
	@bin/etcd-autopsy report demo/hiccup-not-guilty -o demo/postmortem.md --quiet
	@echo "wrote demo/postmortem.html and demo/postmortem.md"

# The state of the working copy, or nothing where there is none.
TREE = git status --porcelain 2>/dev/null; git diff 2>/dev/null | cksum

check: ## lint, test, build; then see that the working copy was left as it was
	@before="$$($(TREE))"; \
	$(MAKE) --no-print-directory lint test build || exit 1; \
	[ "$$before" = "$$($(TREE))" ] || { echo "check changed the working copy:"; git status --short; exit 1; }

clean: ## remove what the other targets made
	rm -rf bin demo
