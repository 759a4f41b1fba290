# countersign: build, tests, lint, measurements. `make help` lists the targets.
#
#   BUILD=dir       where everything built goes (default: build)
#   SANITIZE=1      AddressSanitizer with leak detection, and UndefinedBehaviorSanitizer
#   WERROR=1        warnings are errors (CI)
#   ONLY=folder     `make test` builds and runs the tests of one folder of tests/
#   LEAVE_OUT=...   `make test` does without these tests (suite/test ..., also with *), and names them
#   THESE=...       `make test` runs these alone

BUILD ?= build
CC = gcc
AR = ar
PKGS_records = libprotobuf-c libcrypto jansson
PKGS_verify = libsodium sqlite3
PKGS_harness = libcurl
PKGS_gate = libgit2 expat
PKGS_localdaemon = libmicrohttpd libseccomp
PKG = pkg-config

CPPFLAGS += -D_GNU_SOURCE -I. -I$(BUILD)/gen
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes \
       -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wundef -Wimplicit-fallthrough
HARDEN = -fstack-protector-strong -fstack-clash-protection
# The sanitizers look at the same things at -O1, which compiles in half the time.
CFLAGS ?= $(if $(filter 1,$(SANITIZE)),-O1,-O2) -g
ALL_CFLAGS = -std=c17 $(CFLAGS) $(WARN) $(HARDEN) -MMD -MP
LDFLAGS += -Wl,-z,relro,-z,now -Wl,--as-needed
ifeq ($(SANITIZE),1)
# At a fixed address: what the sanitizers note of each global would have to be relocated at every start, and each test is one.
HARDEN += -fno-pie
LDFLAGS += -no-pie
ALL_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
else
HARDEN += -fPIE
LDFLAGS += -pie
CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
ifeq ($(WERROR),1)
ALL_CFLAGS += -Werror
endif

# ---- sources -------------------------------------------------------------------------------------

LAYERS = records verify harness replay gate report
SRC_records = $(wildcard records/*.c)
SRC_verify = $(wildcard verify/*.c)
SRC_harness = $(wildcard harness/*.c)
SRC_replay = $(wildcard replay/*.c)
SRC_gate = $(wildcard gate/*.c)
SRC_report = $(wildcard report/*.c)
SRC_localdaemon = $(filter-out examples/localdaemon/main.c,$(wildcard examples/localdaemon/*.c))
SRC_cli = $(filter-out cli/main.c cli/verify_main.c,$(wildcard cli/*.c))
# What the reviewer's small program is made of: no harness, no network, no private key.
SRC_cli_verify = cli/verify.c cli/expectation.c cli/findings.c cli/output.c cli/options.c cli/progress.c cli/trust.c

GEN_C = $(BUILD)/gen/plimsoll/v1/sandbox.pb-c.c
VERSION_H = $(BUILD)/gen/cli/version.h
GEN_H = $(GEN_C:.c=.h) $(VERSION_H)

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
lib = $(BUILD)/lib/libcs_$(1).a

LIBS_BASE = $(shell $(PKG) --libs $(PKGS_records))
LIBS_VERIFY = $(shell $(PKG) --libs $(PKGS_verify)) $(LIBS_BASE)
LIBS_HARNESS = $(shell $(PKG) --libs $(PKGS_harness)) $(LIBS_VERIFY)
LIBS_GATE = $(shell $(PKG) --libs $(PKGS_gate)) $(LIBS_HARNESS) -lm
LIBS_DAEMON = $(shell $(PKG) --libs $(PKGS_localdaemon)) $(LIBS_BASE) -lpthread

BINARIES = $(BUILD)/countersign $(BUILD)/countersign-verify $(BUILD)/localdaemon $(BUILD)/vm/agent

.PHONY: all help test test-run lint lint-includes lint-tidy lint-cppcheck bench memcheck interop install clean cartpole
.DELETE_ON_ERROR:

all: $(BINARIES) cartpole

help:
	@echo 'make            build everything below $(BUILD)/'
	@echo 'make test       build and run all tests (ONLY=records: one folder)'
	@echo 'make lint       include directions, clang-tidy, cppcheck'
	@echo 'make fuzz       libFuzzer on every parser, SECONDS=20 each (TARGET=line: one; needs clang)'
	@echo 'make coverage   lines of records/ and verify/ that the tests reach, 95 % of each or it fails'
	@echo 'make memcheck   valgrind on verify and run'
	@echo 'make interop    exchange with what others wrote (docs/INTEROP.md; needs the Python and npm package registries once)'
	@echo 'make bench      measure, each figure beside its limit'
	@echo 'make install    DESTDIR, PREFIX (default /usr/local); make uninstall takes it away again'
	@echo 'make deb        Debian packages: countersign, libcountersign-verify-dev'
	@echo 'make packaging  install, use and uninstall all that; try the completion scripts; look at the packages'

# ---- generated -----------------------------------------------------------------------------------

$(GEN_C): proto/plimsoll/v1/sandbox.proto
	@mkdir -p $(BUILD)/gen
	protoc-c --proto_path=proto --c_out=$(BUILD)/gen plimsoll/v1/sandbox.proto
$(GEN_C:.c=.h): $(GEN_C) ;

# The one place of the version is the file VERSION.
$(VERSION_H): VERSION
	@mkdir -p $(@D)
	printf '/* Made of the file VERSION. */\n#define CS_VERSION "%s"\n' "$$(cat VERSION)" > $@

$(BUILD)/obj/gen/sandbox.pb-c.o: $(GEN_C)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=c17 $(CFLAGS) $(HARDEN) $(if $(filter 1,$(SANITIZE)),-fsanitize=address) -c $< -o $@

# ---- libraries and programs ----------------------------------------------------------------------

$(BUILD)/obj/%.o: %.c | $(GEN_H)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

$(call lib,records): $(call obj,$(SRC_records)) $(BUILD)/obj/gen/sandbox.pb-c.o
$(call lib,verify): $(call obj,$(SRC_verify))
$(call lib,harness): $(call obj,$(SRC_harness))
$(call lib,replay): $(call obj,$(SRC_replay))
$(call lib,gate): $(call obj,$(SRC_gate))
$(call lib,report): $(call obj,$(SRC_report))
$(call lib,localdaemon): $(call obj,$(SRC_localdaemon))
$(call lib,cli): $(call obj,$(SRC_cli))
$(BUILD)/lib/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

VERIFY_LIBS = $(call lib,verify) $(call lib,records)
HARNESS_LIBS = $(call lib,harness) $(VERIFY_LIBS)
REPLAY_LIBS = $(call lib,replay) $(HARNESS_LIBS)
GATE_LIBS = $(call lib,gate) $(REPLAY_LIBS)
REPORT_LIBS = $(call lib,report) $(GATE_LIBS)

$(BUILD)/countersign: $(call obj,cli/main.c $(SRC_cli)) $(REPORT_LIBS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_GATE)
$(BUILD)/countersign-verify: $(call obj,cli/verify_main.c $(SRC_cli_verify)) $(VERIFY_LIBS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VERIFY)
$(BUILD)/localdaemon: $(call obj,examples/localdaemon/main.c) $(call lib,localdaemon) $(call lib,records)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_DAEMON)

include examples/cartpole/cartpole.mk
include examples/localdaemon/vm/vm.mk
include harness/probe/probe.mk

# ---- tests ---------------------------------------------------------------------------------------

# One Criterion program holds the tests of all folders; ONLY=folder builds a smaller one.
TEST_FOLDERS = $(if $(ONLY),$(ONLY),records verify harness replay gate report hostile cli localdaemon cartpole alloc)
TEST_SRC = $(foreach f,$(TEST_FOLDERS),$(wildcard tests/$(f)/*.c)) $(if $(filter alloc cli,$(ONLY)),tests/verify/raw_ledger.c) $(if $(filter cli,$(ONLY)),tests/gate/gate_case.c tests/gate/repository.c) \
           $(if $(filter hostile,$(ONLY)),tests/harness/session_case.c) tests/runner/certificates.c
# A library, so that a program of one folder takes only what its tests use.
TEST_SUPPORT = $(call lib,testsupport)
$(TEST_SUPPORT): $(call obj,$(wildcard tests/support/*.c))
TEST_LIBS_records = $(call lib,records)
TEST_LIBS_verify = $(VERIFY_LIBS)
TEST_LIBS_harness = $(HARNESS_LIBS)
TEST_LIBS_replay = $(REPLAY_LIBS)
TEST_LIBS_gate = $(GATE_LIBS)
TEST_LIBS_report = $(REPORT_LIBS)
TEST_LIBS_hostile = $(REPLAY_LIBS)
TEST_LIBS_cli = $(REPORT_LIBS)
TEST_LIBS_localdaemon = $(call lib,localdaemon) $(call lib,records)
TEST_LIBS_alloc = $(call lib,cli) $(REPORT_LIBS)
TEST_LIBS_cartpole = $(call lib,records)
TEST_LIBS = $(if $(ONLY),$(TEST_LIBS_$(ONLY)),$(call lib,localdaemon) $(call lib,cli) $(REPORT_LIBS))
TEST_PROGRAM = $(BUILD)/tests/countersign-tests$(if $(ONLY),-$(ONLY))
# The programs that the tests of a folder start.
TEST_NEEDS = $(if $(filter harness,$(ONLY)),$(BUILD)/localdaemon, \
               $(if $(filter records verify gate report hostile alloc,$(ONLY)),,$(BINARIES) cartpole))

$(TEST_PROGRAM): $(call obj,$(TEST_SRC)) $(TEST_SUPPORT) $(TEST_LIBS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_GATE) $(shell $(PKG) --libs criterion libssl $(PKGS_localdaemon)) -lpthread

# -j1: two cores, and tests that start daemons; each test still runs in a process of its own. Criterion
# takes no notice of a leak that is reported when such a process ends, so the reports are looked for.
SPACE = $(subst x,,x x)
test_filter = $(if $(strip $(2)),--filter '$(1)($(subst $(SPACE),|,$(strip $(2))))')
SANITIZER_LOG = $(abspath $(BUILD))/sanitizer-report
test: $(TEST_PROGRAM) $(TEST_NEEDS)
	@rm -f $(SANITIZER_LOG).*
	@$(foreach test,$(LEAVE_OUT),echo 'left out, as told: $(test)';)
	COUNTERSIGN_BUILD=$(abspath $(BUILD)) COUNTERSIGN_FIXTURES="$${COUNTERSIGN_FIXTURES:-$(abspath ../shared/fixtures)}" \
	  $(if $(filter 1,$(SANITIZE)),ASAN_OPTIONS=log_path=$(SANITIZER_LOG)) $(TEST_PROGRAM) -j1 $(call test_filter,!,$(LEAVE_OUT)) $(call test_filter,@,$(THESE)) \
	  $(TEST_ARGS); status=$$?; if ls $(SANITIZER_LOG).* >/dev/null 2>&1; then cat $(SANITIZER_LOG).*; exit 1; fi; exit $$status

# ---- lint ----------------------------------------------------------------------------------------

LINT_SRC = $(SRC_records) $(SRC_verify) $(SRC_harness) $(SRC_replay) $(SRC_gate) $(SRC_report) $(wildcard cli/*.c) $(wildcard examples/localdaemon/*.c) \
           $(wildcard examples/localdaemon/vm/*.c)

lint: lint-includes lint-cppcheck lint-tidy

lint-includes:
	sh tests/lint/includes.sh

lint-cppcheck: $(GEN_H)
	sh tests/lint/cppcheck.sh $(BUILD) $(LINT_SRC)

lint-tidy: $(GEN_H)
	sh tests/lint/tidy.sh $(BUILD) $(LINT_SRC)

# ---- bench and memory ----------------------------------------------------------------------------

$(BUILD)/countersign-bench: $(call obj,$(wildcard bench/*.c)) $(call lib,localdaemon) $(GATE_LIBS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_GATE) $(LIBS_DAEMON)

bench: $(BUILD)/countersign-bench $(BINARIES)
	$(BUILD)/countersign-bench $(BUILD)

memcheck: $(BINARIES) cartpole
	sh tests/memcheck.sh $(BUILD)

# ---- exchange with others --------------------------------------------------------------------------

interop: $(BINARIES)
	sh tests/interop/peers.sh $(BUILD)/interop
	$(BUILD)/interop/venv/bin/python -B tests/interop/interop.py $(abspath $(BUILD)) $(abspath $(BUILD)/interop)

# ---- coverage ------------------------------------------------------------------------------------

COVERAGE = $(BUILD)/coverage

# Without optimisation, so that every line keeps code of its own. A process that a signal ends leaves no counts.
.PHONY: coverage
coverage:
	find $(COVERAGE)/obj -name '*.gcda' -delete 2>/dev/null || true
	$(MAKE) BUILD=$(COVERAGE) CFLAGS='-O0 -g --coverage -U_FORTIFY_SOURCE' test
	sh tests/coverage.sh $(COVERAGE) $(if $(ONLY),0,95) $(SRC_records) $(SRC_verify)

# ---- fuzzing --------------------------------------------------------------------------------------

include tests/fuzz/fuzz.mk

# ---- the rest ------------------------------------------------------------------------------------

include packaging/install.mk

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
