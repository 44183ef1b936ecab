# Two commands to begin with: `make demo` and `make test`. `make help` lists the others.

GO          ?= go
PYTHON      ?= python3
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TPCH_SF     ?= 1
TPCDS_SF    ?= 0.1
HITS        ?= 4000000
BIN         := bin/tributary
BUF         := $(GO) run github.com/bufbuild/buf/cmd/buf@v1.75.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
PURE        := ./pushdown/... ./codec/... ./scanner ./scanner/memory ./scanner/sourcetest
RESULTS     := .cache/results
JDBC        := .cache/jdbc
JARS        := $(JDBC)/flight-sql-jdbc-driver-18.3.0.jar $(JDBC)/sqlline-1.12.0-jar-with-dependencies.jar
MVN         ?= mvn
# The ways into a server that the client tests take, each with its own results.
WAYS        := plain basic bearer
CLIENT_RESULTS := $(RESULTS)/clients.xml $(foreach way,$(WAYS),$(RESULTS)/go-$(way).json $(RESULTS)/jdbc-$(way).xml)
CLIENT_ENV  := TRIBUTARY_BIN=$(CURDIR)/$(BIN) TPCH_DIR=$(CURDIR)/.cache/tpch-$(TPCH_SF) TPCDS_DIR=$(CURDIR)/.cache/tpcds-$(TPCDS_SF) CLIENTS_DIR=$(CURDIR)/.cache GO=$(GO)

# `make test` does with Go, a C compiler, Python 3 and a JDK, and says what it leaves out for want of another tool; `make check` needs all.
LACKING     := $(strip $(if $(shell command -v $(MVN)),,maven) $(if $(shell command -v npm),,node))
space       := $(subst ,, )

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

.PHONY: build
build: ## build bin/tributary
	$(GO) build -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN) ./cmd/tributary

.PHONY: demo
demo: build ## run the main job on generated data
	$(BIN) demo

.PHONY: test
test: test-go test-clients ## run all tests

.PHONY: test-go
test-go:
	$(GO) test ./...

.PHONY: test-clients
test-clients: build python sqlalchemy tpch tpcds $(if $(filter maven,$(LACKING)),,jdbc) $(if $(filter node,$(LACKING)),,node) ## run the tests with real clients and real servers
	$(CLIENT_ENV) .venv/bin/pytest -q cmd/e2e/python $(if $(LACKING),-m "not ($(subst $(space), or ,$(LACKING)))")
	@$(if $(LACKING),echo "LEFT OUT: the clients that need $(LACKING)",:)

.PHONY: check
check: format vet lint proto-check pure race clients summary ## everything that CI runs

.PHONY: format
format:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt -w is needed for: $$unformatted"; exit 1; }

.PHONY: vet
vet:
	$(GO) vet ./...
	$(GO) vet -tags clients ./cmd/e2e/goclient

.PHONY: lint
lint:
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(STATICCHECK) -tags clients ./cmd/e2e/goclient

.PHONY: proto
proto: ## generate codec/pb from codec/proto
	cd codec && $(BUF) generate

.PHONY: proto-check
proto-check: ## the generated code is current
	cd codec && $(BUF) format -d --exit-code && $(BUF) lint
	tmp=$$(mktemp -d) && (cd codec && $(BUF) generate -o $$tmp && diff -r -x doc.go pb $$tmp/pb) && rm -r $$tmp

.PHONY: pure
pure: ## the packages that must work without cgo
	mkdir -p $(RESULTS)
	CGO_ENABLED=0 $(GO) build $(PURE)
	CGO_ENABLED=0 $(GO) test -json $(PURE) > $(RESULTS)/pure.json || true

.PHONY: race
race: ## all Go tests under the race detector
	mkdir -p $(RESULTS)
	$(GO) test -race -timeout 40m -json ./... > $(RESULTS)/race.json || true

.PHONY: clients
clients: build python jdbc sqlalchemy node tpch tpcds
	mkdir -p $(RESULTS)
	rm -f $(CLIENT_RESULTS)
	$(CLIENT_ENV) RESULTS_DIR=$(CURDIR)/$(RESULTS) .venv/bin/pytest -q --junitxml=$(RESULTS)/clients.xml cmd/e2e/python || true

.PHONY: summary
summary: ## count what passed; fails if anything failed or is missing
	$(PYTHON) .ci/summary.py $(RESULTS)/pure.json $(RESULTS)/race.json $(CLIENT_RESULTS)

.PHONY: python
python: .venv/.complete ## the environment of the client tests

.venv/.complete: cmd/e2e/python/requirements.txt
	$(PYTHON) -m venv .venv
	.venv/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

.PHONY: jdbc
jdbc: $(JDBC)/classes/.complete ## the JDBC driver, and the program that checks the server through it

$(JDBC)/flight-sql-jdbc-driver-18.3.0.jar: ARTIFACT := org.apache.arrow:flight-sql-jdbc-driver:18.3.0
$(JDBC)/sqlline-1.12.0-jar-with-dependencies.jar: ARTIFACT := sqlline:sqlline:1.12.0:jar:jar-with-dependencies

$(JARS): cmd/e2e/jdbc/jars.sha256
	mkdir -p $(JDBC)
	$(MVN) -q -B dependency:copy -Dartifact=$(ARTIFACT) -DoutputDirectory=$(CURDIR)/$(JDBC)/download
	cd $(JDBC)/download && grep '$(@F)$$' $(CURDIR)/$< | sha256sum -c -
	mv $(JDBC)/download/$(@F) $@
	touch $@

$(JDBC)/classes/.complete: $(JARS) $(wildcard cmd/e2e/jdbc/*.java)
	rm -rf $(JDBC)/classes
	javac -Xlint:all -Werror -cp $(JDBC)/flight-sql-jdbc-driver-18.3.0.jar -d $(JDBC)/classes cmd/e2e/jdbc/*.java
	touch $@

.PHONY: sqlalchemy node
sqlalchemy: .cache/venv-sqlalchemy/.complete ## the environment of SQLAlchemy's session
node: .cache/node/.complete ## what the session of Node.js needs

.cache/venv-sqlalchemy/.complete: cmd/e2e/python/requirements-sqlalchemy.txt
	mkdir -p .cache
	$(PYTHON) -m venv .cache/venv-sqlalchemy
	.cache/venv-sqlalchemy/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

.cache/node/.complete: cmd/e2e/node/package-lock.json cmd/e2e/node/package.json
	mkdir -p .cache/node
	cp $^ .cache/node
	cd .cache/node && npm ci --silent --ignore-scripts --no-audit --no-fund
	touch $@

.PHONY: tpch
tpch: .cache/tpch-$(TPCH_SF)/.complete ## TPC-H data for the client tests

.PHONY: tpcds
tpcds: .cache/tpcds-$(TPCDS_SF)/.complete ## TPC-DS data for the client tests and benchmarks

.cache/tpch-%/.complete: .cache/venv-tpc/.complete cmd/e2e/python/tpc_data.py
	.cache/venv-tpc/bin/python cmd/e2e/python/tpc_data.py tpch $(@D) $* 8
	touch $@

.cache/tpcds-%/.complete: .cache/venv-tpc/.complete cmd/e2e/python/tpc_data.py
	.cache/venv-tpc/bin/python cmd/e2e/python/tpc_data.py tpcds $(@D) $* 4
	touch $@

.PHONY: hits
hits: .cache/hits-$(HITS)/.complete ## a table like ClickBench's for the benchmarks

.cache/hits-%/.complete: cmd/e2e/python/hits_data.py cmd/e2e/testdata/hits.sql | python
	.venv/bin/python $< $(@D) $* 8
	touch $@

.PRECIOUS: .cache/tpch-%/.complete .cache/tpcds-%/.complete .cache/hits-%/.complete

.cache/venv-tpc/.complete: cmd/e2e/python/requirements-tpc.txt
	mkdir -p .cache
	$(PYTHON) -m venv .cache/venv-tpc
	.cache/venv-tpc/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

.PHONY: bench
bench: build python tpch hits ## benchmarks side by side; see bench/README.md
	$(GO) build -o bin/memscanner ./bench/memscanner
	TRIBUTARY_BIN=$(CURDIR)/$(BIN) .venv/bin/python bench/run.py
	TRIBUTARY_BIN=$(CURDIR)/$(BIN) .venv/bin/python bench/suite.py tpch .cache/tpch-$(TPCH_SF) --compare adaptive=off
	TRIBUTARY_BIN=$(CURDIR)/$(BIN) .venv/bin/python bench/suite.py clickbench .cache/hits-$(HITS) --compare pushdown=off
	$(GO) run ./bench/network

.PHONY: peers
peers: build python tpch ## the same queries by other engines, where they can be had
	PYTHON=$(PYTHON) MVN=$(MVN) bench/peers.sh
	TRIBUTARY_BIN=$(CURDIR)/$(BIN) .venv/bin/python bench/peers.py
	TRIBUTARY_BIN=$(CURDIR)/$(BIN) .venv/bin/python bench/peers.py --tpch .cache/tpch-$(TPCH_SF) --json .cache/bench-peers-tpch.json

.PHONY: clean
clean: ## remove what the other targets made
	rm -rf bin .venv .cache .tools
