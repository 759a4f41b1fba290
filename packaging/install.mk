# `make install` and `make uninstall`, completion scripts, the verify library for others, `make deb`.
#
#   DESTDIR   goes before every path, for staging; PREFIX (/usr/local) and the folders below may be set, too

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share

# ---- what is made for it ---------------------------------------------------------------------------

COMPLETION = $(BUILD)/completion/countersign $(BUILD)/completion/_countersign
$(BUILD)/completion/countersign: $(BUILD)/countersign
	@mkdir -p $(@D)
	$(BUILD)/countersign completion bash > $@
$(BUILD)/completion/_countersign: $(BUILD)/countersign
	@mkdir -p $(@D)
	$(BUILD)/countersign completion zsh > $@

# One library for others, with all that `countersign-verify` is made of but its command line.
VERIFY_ARCHIVE = $(BUILD)/lib/libcountersign-verify.a
$(VERIFY_ARCHIVE): $(call obj,$(SRC_verify) $(SRC_records)) $(BUILD)/obj/gen/sandbox.pb-c.o

HEADERS_INTERNAL = records/jsonlex.h records/message_impl.h records/protojson_field.h records/statement_members.h \
  verify/internal.h verify/ledger_file.h verify/ledger_row.h verify/seen.h verify/source_impl.h verify/trust_keys.h
HEADERS_records = $(filter-out $(HEADERS_INTERNAL),$(wildcard records/*.h))
HEADERS_verify = $(filter-out $(HEADERS_INTERNAL),$(wildcard verify/*.h))
HEADERS_proto = $(BUILD)/gen/plimsoll/v1/sandbox.pb-c.h

VERIFY_PC = $(BUILD)/lib/countersign-verify.pc
below_prefix = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
# Made anew each time: the paths may be others.
.PHONY: $(VERIFY_PC)
$(VERIFY_PC): packaging/countersign-verify.pc.in
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(call below_prefix,$(LIBDIR))|' \
	  -e 's|@INCLUDEDIR@|$(call below_prefix,$(INCLUDEDIR))|' -e "s|@VERSION@|$$(cat VERSION)|" \
	  -e 's|@REQUIRES@|$(PKGS_records) $(PKGS_verify)|' $< > $@

# ---- where it goes ---------------------------------------------------------------------------------

MAN_PAGES = $(wildcard docs/man/*.1)
SCHEMAS = $(wildcard docs/schema/*.schema.json)
DOCS = $(wildcard docs/*.md)
DOCDIR = $(DATADIR)/doc/countersign
BASH_COMPLETION_DIR = $(DATADIR)/bash-completion/completions
ZSH_COMPLETION_DIR = $(DATADIR)/zsh/site-functions
VERIFY_INCLUDE = $(INCLUDEDIR)/countersign

INSTALLED_PROGRAMS = $(addprefix $(BINDIR)/,countersign countersign-verify) $(LIBEXECDIR)/countersign/localdaemon \
  $(addprefix $(DATADIR)/man/man1/,$(notdir $(MAN_PAGES))) \
  $(addprefix $(DATADIR)/countersign/schema/,$(notdir $(SCHEMAS))) \
  $(addprefix $(DOCDIR)/,$(notdir $(DOCS))) \
  $(addprefix $(BASH_COMPLETION_DIR)/,countersign countersign-verify) $(ZSH_COMPLETION_DIR)/_countersign
INSTALLED_LIBRARY = $(LIBDIR)/libcountersign-verify.a $(LIBDIR)/pkgconfig/countersign-verify.pc \
  $(addprefix $(VERIFY_INCLUDE)/,$(HEADERS_records) $(HEADERS_verify) plimsoll/v1/sandbox.pb-c.h)
# Folders that are ours alone, the innermost first.
INSTALLED_FOLDERS = $(LIBEXECDIR)/countersign $(DOCDIR) $(DATADIR)/countersign/schema $(DATADIR)/countersign \
  $(addprefix $(VERIFY_INCLUDE)/,records verify plimsoll/v1 plimsoll) $(VERIFY_INCLUDE)

# Folder or files below DESTDIR, each in quotes.
staged = $(foreach path,$(1),"$(DESTDIR)$(path)")

.PHONY: install-programs install-library uninstall completion packaging deb
completion: $(COMPLETION)

install: install-programs install-library

install-programs: $(BINARIES) $(COMPLETION)
	install -d $(call staged,$(sort $(dir $(INSTALLED_PROGRAMS))))
	install -m 0755 $(BUILD)/countersign $(BUILD)/countersign-verify $(call staged,$(BINDIR)/)
	install -m 0755 $(BUILD)/localdaemon $(call staged,$(LIBEXECDIR)/countersign/)
	install -m 0644 $(MAN_PAGES) $(call staged,$(DATADIR)/man/man1/)
	install -m 0644 $(SCHEMAS) $(call staged,$(DATADIR)/countersign/schema/)
	install -m 0644 $(DOCS) $(call staged,$(DOCDIR)/)
	install -m 0644 $(BUILD)/completion/countersign $(call staged,$(BASH_COMPLETION_DIR)/)
	ln -sf countersign $(call staged,$(BASH_COMPLETION_DIR)/countersign-verify)
	install -m 0644 $(BUILD)/completion/_countersign $(call staged,$(ZSH_COMPLETION_DIR)/)

install-library: $(VERIFY_ARCHIVE) $(HEADERS_proto) $(VERIFY_PC)
	install -d $(call staged,$(sort $(dir $(INSTALLED_LIBRARY))))
	install -m 0644 $(VERIFY_ARCHIVE) $(call staged,$(LIBDIR)/)
	install -m 0644 $(VERIFY_PC) $(call staged,$(LIBDIR)/pkgconfig/)
	install -m 0644 $(HEADERS_records) $(call staged,$(VERIFY_INCLUDE)/records/)
	install -m 0644 $(HEADERS_verify) $(call staged,$(VERIFY_INCLUDE)/verify/)
	install -m 0644 $(HEADERS_proto) $(call staged,$(VERIFY_INCLUDE)/plimsoll/v1/)

# What somebody else put into our folders stays, and the folder with it.
uninstall:
	rm -f $(call staged,$(INSTALLED_PROGRAMS) $(INSTALLED_LIBRARY))
	@for folder in $(call staged,$(INSTALLED_FOLDERS)); do \
	  [ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty "$$folder"; \
	done

# ---- packages --------------------------------------------------------------------------------------

deb: $(BINARIES) $(COMPLETION) $(VERIFY_ARCHIVE)
	sh packaging/deb.sh $(BUILD)

packaging: $(BINARIES) $(COMPLETION) $(VERIFY_ARCHIVE)
	python3 -B tests/packaging/completion.py $(BUILD)
	sh tests/packaging/install.sh $(BUILD)
	sh tests/packaging/deb.sh $(BUILD)
