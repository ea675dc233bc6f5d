# SPDX-License-Identifier: Apache-2.0
#
# `make` alone lists the targets. Everything works on a machine that has Swift, git, make and apt.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

CONFIG ?= config.yaml
PREFIX ?= /usr/local
DESTDIR ?=
BINARY ?= .build/release/bearerd
# What is packed is built first, unless it is another BINARY.
BUILT := $(if $(filter file,$(origin BINARY)),release)
FUZZ_SECONDS ?= 60
SOAK ?= 50
SOAK_REQUESTS ?= 10000000
TESTS ?=
PARTS ?=
PROVIDERS ?=
PLATFORM ?=
BUILDER ?=
DAEMONS ?=
FUZZERS ?= $(patsubst Tests/Fuzz/%Fuzzer.swift,%,$(wildcard Tests/Fuzz/*Fuzzer.swift))

STRICT := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error
VERSION := $(shell sed -n 's/.*let text = "\(.*\)".*/\1/p' Sources/bearerd/Version.swift)
# The package is optimised as one: without that no call from one module to another is inlined, as all is `package`. A module
# is written where it is compiled: a job of its own would skip the bodies that are to be inlined, or warn that it may not.
# lld's packed relocations keep 0.7 MiB of tables out of memory; glibc reads them since 2.36. Every symbol is bound before
# the first line runs, so that all tables of addresses are read-only; libraries come from the system's places alone.
OPTIMISED := -c release --static-swift-stdlib --product bearerd \
	-Xswiftc -enforce-exclusivity=checked -Xswiftc -enable-library-evolution \
	-Xswiftc -Xfrontend -Xswiftc -package-cmo -Xswiftc -Xfrontend -Xswiftc -allow-non-resilient-access \
	-Xswiftc -no-emit-module-separately-wmo \
	-Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now \
	-Xlinker -z -Xlinker noexecstack --disable-local-rpath -Xswiftc -no-toolchain-stdlib-rpath \
	-Xcc -fstack-protector-strong -Xswiftc -Xllvm -Xswiftc -static-func-full-module-prefix=false
# What the loads of `count` run often is laid out for that (`make profile`), wherever it is built: no function is named by its
# object's directory. A compiler that cannot read the profile goes without, and so does PROFILE= .
PROFILE ?= Tests/Benchmark/release.profdata
PROFDATA = $(dir $(shell readlink -f "$$(command -v swiftc)"))llvm-profdata
RELEASE = $(OPTIMISED) $(shell "$(PROFDATA)" show $(PROFILE) >/dev/null 2>&1 \
	&& echo -Xswiftc -Xfrontend -Xswiftc -ir-profile-use=$(abspath $(PROFILE)))

RUN_TESTS := swift test --skip-build --disable-xctest --no-parallel $(STRICT)
# Of a long run only the end is seen.
SHOW_FAILURES := tee .build/test.log \
	|| { printf '\nWhat failed:\n'; grep -E '^✘|^↳|error:|Fatal error' .build/test.log; exit 1; }

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: release ## builds the release binary and serves CONFIG (config.yaml)
	@# With umask 002 the group may write to what git has made, which bearerd refuses.
	@$(if $(filter file,$(origin CONFIG)),chmod go-w $(CONFIG))
	exec .build/release/bearerd run -c $(CONFIG)

.PHONY: build
build: bootstrap ## builds everything, tests too, for debugging; a warning is an error
	swift build --build-tests $(STRICT)

.PHONY: release
release: bootstrap ## builds .build/release/bearerd, which needs no Swift to run
	swift build $(RELEASE)

.PHONY: test
test: build ## runs all tests; TESTS=name runs those that match
	@deploy/bootstrap nginx || echo "nginx could not be installed: its tests are skipped"
	@deploy/bootstrap libqrencode4 || echo "libqrencode could not be installed: its tests are skipped"
	@deploy/bootstrap redis-server || echo "redis-server could not be installed: its tests are skipped"
	@deploy/bootstrap gnome-keyring-daemon secret-tool dbus-daemon dbus-send python3-dbus || echo "gnome-keyring could not be installed: its tests are skipped"
	@$(if $(TESTS),$(RUN_TESTS) --filter '$(TESTS)' 2>&1 | $(SHOW_FAILURES),Tests/run)

.PHONY: test-release
test-release: build release ## the end-to-end tests with the release binary
	@BEARERD_BINARY=$(CURDIR)/.build/release/bearerd Tests/run '^EndToEnd'

.PHONY: browser
browser: build ## web pages in Chromium try to use bearerd: strangers must not, access.origins may; its status page
	@deploy/bootstrap python3 openssl && deploy/bootstrap chromium-headless-shell || echo "Chromium could not be installed"
	@if command -v python3 >/dev/null; then Tests/Browser/run; else echo "browser: SKIPPED, there is no python3"; fi

.PHONY: check
check: lint test browser examples ## everything a change has to pass: lint, build, test, the pages in Chromium, examples

.PHONY: examples
examples: build ## builds the programs that use the library products, runs them against the development provider, checks their documents
	swift build --package-path Examples --scratch-path .build/examples $(STRICT)
	.ci/names
	.ci/links .build/examples/debug/OwnHTTP
	@deploy/bootstrap python3 || echo "python3 could not be installed"
	@if command -v python3 >/dev/null; then .ci/docs && Examples/run .build/examples/debug .build/debug/bearerd; else echo "examples: SKIPPED, there is no python3"; fi

.PHONY: lint
lint: ## format, forbidden calls, unsafe code outside the bridges, file sizes
	.ci/lint

.PHONY: lines
lines: ## writes how many lines each target has into .ci/line-limits
	.ci/lines

.PHONY: format
format: ## formats all Swift code in place
	swift format --in-place --parallel --recursive Sources Tests Package.swift

.PHONY: interop
interop: build ## bearerd with real identity providers; PROVIDERS=name, and KEYCLOAK_HOME for Keycloak
	deploy/bootstrap python3 python3-venv openssl glewlwyd
	Tests/Interop/run $(PROVIDERS)

.PHONY: websocket
websocket: build ## a WebSocket library's client and server through bearerd, and frames byte by byte
	deploy/bootstrap python3 python3-venv
	Tests/WebSocket/run

.PHONY: grpc
grpc: build ## a gRPC library's client and server through bearerd: each kind of call, the interoperability tests, health checks
	deploy/bootstrap python3 python3-venv
	@deploy/bootstrap grpc-proto || echo "grpc-proto could not be installed: its tests are skipped"
	Tests/GRPC/run

.PHONY: deploy-test
deploy-test: release ## what deploy/ holds, built and used; PARTS=name
	deploy/bootstrap python3
	Tests/Deploy/run $(PARTS)

.PHONY: deploy-test-all
deploy-test-all: ## the parts of deploy-test that take minutes too: roots and systems of their own
	$(MAKE) deploy-test PARTS=all

.PHONY: version
version: ## prints the version, which Sources/bearerd/Version.swift has
	@echo $(VERSION)

.PHONY: bench
bench: release ## bearerd beside nginx, haproxy, nghttpx and the least there can be; BENCH_SECONDS=2 for a quick look
	deploy/bootstrap nginx haproxy wrk h2load nghttpx python3 openssl
	Tests/Benchmark/run $(BENCH)

.PHONY: count
count: release ## user instructions of each request, by callgrind; COUNT_FUNCTIONS=20 tells where they are spent
	deploy/bootstrap nginx haproxy wrk h2load python3 openssl strip valgrind
	Tests/Benchmark/count $(COUNT)

.PHONY: profile
profile: bootstrap ## measures again what the release binary runs often (Tests/Benchmark/release.profdata)
	deploy/bootstrap wrk h2load python3 openssl
	swift build --scratch-path .build/profile $(OPTIMISED) -Xswiftc -Xfrontend -Xswiftc -ir-profile-generate \
	    -Xswiftc -Xclang-linker -Xswiftc -fprofile-generate
	Tests/Benchmark/train .build/profile/release/bearerd $(or $(PROFILE),Tests/Benchmark/release.profdata)

.PHONY: bench-fleet
bench-fleet: release ## token requests, and commands to Redis, of 1 to 64 daemons that share a session
	deploy/bootstrap python3 redis-server
	Tests/Benchmark/fleet $(DAEMONS)

.PHONY: soak
soak: build release ## SOAK_REQUESTS (10 million) while all breaks; kills and shared stores SOAK (50) times as long
	BEARERD_SOAK=$(SOAK) BEARERD_SOAK_REQUESTS=$(SOAK_REQUESTS) BEARERD_BINARY=$(CURDIR)/.build/release/bearerd \
	    $(RUN_TESTS) --filter 'takes no refresh token twice|SIGKILL at any moment|Under load'

.PHONY: soak-fleet
soak-fleet: build release ## eight daemons that share a session in Redis rotate its refresh token 8,000 times
	BEARERD_SOAK=200 BEARERD_BINARY=$(CURDIR)/.build/release/bearerd \
	    $(RUN_TESTS) --filter 'and rotates each refresh token once'

.PHONY: fuzz
fuzz: $(FUZZERS:%=fuzz-%) ## each fuzzer for FUZZ_SECONDS (60); with 0 it replays its inputs; -j2 has two at a time
fuzz-%: bootstrap
	Tests/Fuzz/run $* $(FUZZ_SECONDS)

# Daemons are asked for leaks; the tests' own process, which never stops the sessions of unit tests, is not.
.PHONY: test-asan
test-asan: bootstrap ## all tests under AddressSanitizer
	LSAN_OPTIONS=leak_check_at_exit=0 swift test --sanitize address --scratch-path .build/asan --disable-xctest --no-parallel

.PHONY: test-tsan
test-tsan: bootstrap ## all tests under ThreadSanitizer
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/tsan-suppressions.txt \
	    swift test --sanitize thread --scratch-path .build/tsan --disable-xctest --no-parallel

.PHONY: man
man: $(BUILT) ## the manual, made from the help of the BINARY, in .build/man
	@rm -rf .build/man
	@deploy/man '$(BINARY)' .build/man

.PHONY: dist
dist: $(BUILT) ## tarballs of the source and of what is installed, with checksums, in .build; the same input makes the same bytes
	@$(if $(BUILT),deploy/bootstrap strip)
	@deploy/dist $(VERSION) '$(BINARY)'

.PHONY: image
image: $(if $(BUILDER),,$(BUILT)) ## bearerd:VERSION of the BINARY, by docker, podman or buildah, else a tar; PLATFORM=linux/arm64 with BUILDER=IMAGE
	@$(if $(BUILDER),,$(if $(BUILT),deploy/bootstrap python3 strip update-ca-certificates))
	@PLATFORM='$(PLATFORM)' BUILDER='$(BUILDER)' deploy/image/build '$(BINARY)' $(VERSION)

.PHONY: deb
deb: $(BUILT) ## .build/bearerd_VERSION_ARCH.deb of the BINARY that was built
	@$(if $(BUILT),deploy/bootstrap dh dpkg-buildpackage strip)
	@deploy/deb '$(BINARY)' $(VERSION)

.PHONY: install
install: ## installs the BINARY that was built to DESTDIR/PREFIX (/usr/local), stripped; builds nothing
	@deploy/install '$(BINARY)' '$(DESTDIR)$(PREFIX)'

.PHONY: uninstall
uninstall: ## removes what install put there
	@deploy/install --remove '$(DESTDIR)$(PREFIX)'

.PHONY: bootstrap
bootstrap: ## installs the libraries that are missing, with apt
	@deploy/bootstrap

.PHONY: clean
clean: ## removes what was built
	rm -rf .build
