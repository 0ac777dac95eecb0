# Trainyard: plain GNU make. `make help` lists the targets.
#
# Everything that is built goes below $(BUILD), in the shape of the source
# tree: src/base/err.c becomes $(BUILD)/src/base/err.o, tests/unit/test_err.c
# becomes $(BUILD)/tests/unit/test_err. The flags that the language needs are in
# compile_flags.txt, where clang's tools find them too; CFLAGS is the user's.

BUILD ?= build
ifeq ($(origin CC),default)
CC = gcc
endif
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60

ifeq ($(CI),true)
WERROR = 1
endif
COMPILE = $(CC) @compile_flags.txt -MMD -MP $(CPPFLAGS) $(CFLAGS) $(if $(WERROR),-Werror)
LINK = $(CC) $(CFLAGS) $(LDFLAGS)
# Each program is linked with just those that it uses.
LIBS = -Wl,--as-needed -lmicrohttpd -lcurl -ljansson -lyaml -lsqlite3 -luv -lpcre2-8 -lhwloc -lm
# One short line for each step; V=1 shows the commands.
Q = $(if $(V),,@echo '  $(1)  $(2)';)

ASAN_BUILD = $(BUILD)-asan
ASAN_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_BUILD = $(BUILD)-fuzz
FUZZ_FLAGS = $(ASAN_FLAGS) -fsanitize=fuzzer-no-link

# The conductor and the malleable library are programs of their own.
SEPARATE = src/conductor/% src/malleable/%
SRC := $(filter-out $(SEPARATE),$(wildcard src/*/*.c))
WEB := $(patsubst src/web/%/page.html,$(BUILD)/src/web/%_page.o,$(wildcard src/web/*/page.html))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(WEB)
SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))

all: $(BUILD)/trainyard ## build the program, build/trainyard

$(BUILD)/trainyard: $(BUILD)/src/main.o $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -o $@ $^ $(LIBS)

# An archive, so that each test is linked with just what it uses.
$(BUILD)/libtrainyard.a: $(OBJ)
$(BUILD)/libsupport.a: $(SUPPORT)
$(BUILD)/%.a:
	$(call Q,AR  ,$@)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/needs
	@mkdir -p $(@D)
	$(call Q,CC  ,$@)$(COMPILE) -c -o $@ $<

# A page of src/web with all its parts becomes one string, NAME_page.
$(BUILD)/src/web/%_page.c: src/web/%/page.html $(wildcard src/web/*/*) tools/embed
	@mkdir -p $(@D)
	$(call Q,GEN ,$@)tools/embed $*_page $< >$@
$(WEB): $(BUILD)/%.o: $(BUILD)/%.c $(BUILD)/flags | $(BUILD)/needs
	$(call Q,CC  ,$@)$(COMPILE) -c -o $@ $<

# Changes when the compiler or its flags do, so that objects follow.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(COMPILE)' | cat - compile_flags.txt | cmp -s - $@ || \
	    echo '$(COMPILE)' | cat - compile_flags.txt >$@

# Says what is missing before the compiler does.
$(BUILD)/needs: tools/setup
	@tools/setup --check build
	@mkdir -p $(@D)
	@touch $@

# ---- tests ----------------------------------------------------------------
# A test has a name: unit/test_err, cli/sim, check/layers (tools/run-tests says
# what each kind is). T selects some of them: make test T='unit/* cli/sim'.

PROGRAMS := $(patsubst tests/%.c,%,$(wildcard tests/unit/*.c tests/property/*.c tests/golden/*.c))
CLI := $(patsubst tests/%.sh,%,$(filter-out %/lib.sh,$(wildcard tests/cli/*.sh)))
BROWSER := $(patsubst tests/%.sh,%,$(wildcard tests/browser/*.sh))
BROWSER_PROGRAMS := $(patsubst tests/%.c,%,$(wildcard tests/browser/*.c))
PROOFS := $(patsubst tests/%.sh,%,$(wildcard tests/lint/*.sh))
CHECKS := $(patsubst tools/lint/%,check/%,$(filter-out %.txt %.sh,$(wildcard tools/lint/*)))
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
TESTS := $(CHECKS) $(PROOFS) $(PROGRAMS) $(CLI) $(BROWSER)
# Tests that would not run the sanitizers' build say "run-tests: no asan".
NO_ASAN := $(patsubst tests/%.sh,%,$(shell grep -ls 'run-tests: no asan' tests/cli/*.sh))
ASAN_TESTS := $(addprefix asan/,$(PROGRAMS) $(filter-out $(NO_ASAN),$(CLI)))

select = $(if $(T),$(filter $(subst *,%,$(T)),$(1)),$(1))
run = BUILD='$(BUILD)' ASAN_BUILD='$(ASAN_BUILD)' FUZZ_BUILD='$(FUZZ_BUILD)' CC='$(CC)' \
    JOBS='$(JOBS)' tools/run-tests
# A make of its own, after the set-up, on all cores unless the user said how many.
again = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

test: ## install what is missing, build, lint, run every test, also under sanitizers
	@tools/setup test
	+@$(again) prepare NAMES='$(call select,$(TESTS) $(ASAN_TESTS) $(FUZZERS))'
	@FUZZ_SECONDS=5 $(run) $(call select,$(TESTS) $(ASAN_TESTS) $(FUZZERS))

lint: ## layers, purity, headers, format, static analysis
	@tools/setup --check test
	+@$(again) prepare NAMES='$(call select,$(CHECKS))'
	@$(run) $(call select,$(CHECKS))

format: ## write the sources as the lint wants them
	clang-format -i $(shell find src tests -name '*.[ch]')

asan: ## the tests under AddressSanitizer and UBSan
	@tools/setup --check test
	+@$(again) prepare NAMES='$(ASAN_TESTS)'
	@$(run) $(ASAN_TESTS)

fuzz: ## each fuzzer for FUZZ_SECONDS (60)
	@tools/setup --check test
	+@$(again) prepare NAMES='$(call select,$(FUZZERS))'
	@FUZZ_SECONDS='$(FUZZ_SECONDS)' $(run) $(call select,$(FUZZERS))

# Builds what the tests in NAMES run.
NAMED_PROGRAMS = $(filter $(PROGRAMS),$(NAMES))
NAMED_ASAN = $(patsubst asan/%,%,$(filter asan/%,$(NAMES)))
NAMED_FUZZERS = $(filter fuzz/%,$(NAMES))
OBJECTS = $(OBJ) $(SUPPORT) $(patsubst %,$(BUILD)/tests/%.o,$(PROGRAMS) $(BROWSER_PROGRAMS))

prepare: $(NAMED_PROGRAMS:%=$(BUILD)/tests/%) $(if $(filter cli/%,$(NAMES)),$(BUILD)/trainyard) \
    $(if $(filter check/%,$(NAMES)),$(OBJECTS)) $(if $(filter lint/%,$(NAMES)),$(OBJ)) \
    $(if $(filter browser/%,$(NAMES)),$(BROWSER_PROGRAMS:%=$(BUILD)/tests/%)) \
    $(if $(NAMED_ASAN),prepare-asan) $(if $(NAMED_FUZZERS),prepare-fuzz)
	@:
prepare-asan:
	@$(MAKE) --no-print-directory BUILD=$(ASAN_BUILD) CFLAGS='$(ASAN_FLAGS)' \
	    NAMES='$(NAMED_ASAN)' prepare
prepare-fuzz:
	@$(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) CC=clang CFLAGS='$(FUZZ_FLAGS)' \
	    $(NAMED_FUZZERS:fuzz/%=$(FUZZ_BUILD)/tests/fuzz/fuzz_%)

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBS)
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libsupport.a $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -o $@ $^ -lcmocka $(LIBS)

# ---- the rest -------------------------------------------------------------

demo: ## install what is missing, build, and compare three policies on a trace
	@tools/setup build
	+@$(again) all
	$(BUILD)/trainyard sim data/demo.csv --nodes 4x4 --policy fifo --policy las --policy afs-l

BENCHES = $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))
$(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -o $@ $^ $(LIBS)

bench: all $(BENCHES) ## measure: each bench/*.sh prints a table
	@set -e; for b in $(sort $(wildcard bench/*.sh)); do \
	    echo "== $$b"; BUILD='$(abspath $(BUILD))' TRAINYARD='$(abspath $(BUILD))/trainyard' "$$b"; \
	    echo; done

DOCS = $(wildcard README.md CHANGELOG.md LICENSE docs/*.md docs/*/*.md docs/*/*/*.csv)
share = $(DESTDIR)$(PREFIX)/share

install: all ## install below PREFIX (/usr/local), inside DESTDIR
	install -D -m 755 $(BUILD)/trainyard $(DESTDIR)$(PREFIX)/bin/trainyard
	@set -e; install -d $(share)/man/man1 $(share)/bash-completion/completions \
	    $(share)/zsh/site-functions $(share)/fish/vendor_completions.d; t=$(BUILD)/trainyard; \
	echo '  pages and completion below $(share)'; \
	$$t man >$(share)/man/man1/trainyard.1; \
	for c in $$($$t man --names); do $$t man $$c >$(share)/man/man1/trainyard-$$c.1; done; \
	$$t completion bash >$(share)/bash-completion/completions/trainyard; \
	$$t completion zsh >$(share)/zsh/site-functions/_trainyard; \
	$$t completion fish >$(share)/fish/vendor_completions.d/trainyard.fish
	@$(foreach f,$(DOCS),install -D -m 644 $(f) $(share)/doc/trainyard/$(f) &&) true

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/trainyard $(share)/man/man1/trainyard.1 \
	    $(share)/man/man1/trainyard-*.1 $(share)/bash-completion/completions/trainyard \
	    $(share)/zsh/site-functions/_trainyard $(share)/fish/vendor_completions.d/trainyard.fish
	rm -rf $(share)/doc/trainyard

clean: ## remove everything that was built
	rm -rf $(BUILD) $(ASAN_BUILD) $(FUZZ_BUILD)

help: ## print this
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' Makefile

-include $(OBJ:.o=.d) $(SUPPORT:.o=.d) $(BUILD)/src/main.d \
    $(patsubst %,$(BUILD)/tests/%.d,$(PROGRAMS) $(BROWSER_PROGRAMS)) $(FUZZERS:fuzz/%=$(BUILD)/tests/fuzz/fuzz_%.d)

.PHONY: all test lint format asan fuzz prepare prepare-asan prepare-fuzz demo bench install uninstall \
    clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
