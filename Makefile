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
SOAK_MINUTES ?= 60

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

# The malleable library lives in other people's processes: nothing else goes there.
SRC := $(filter-out src/%/main.c src/malleable/%,$(wildcard src/*/*.c src/*/*/*.c))
WEB := $(patsubst src/web/%/page.html,$(BUILD)/src/web/%_page.o,$(wildcard src/web/*/page.html))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(WEB)
SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))
MALLEABLE := $(BUILD)/libtrainyard-malleable.so
MALLEABLE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/malleable/*.c))
EXAMPLES := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))

all: $(BUILD)/trainyard $(BUILD)/trainyard-conductor $(MALLEABLE) $(EXAMPLES) ## build the programs, below build/

$(BUILD)/trainyard: $(BUILD)/src/main.o $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -o $@ $^ $(LIBS)

# Static, so that it runs inside any image; a sanitizer's run-time cannot be.
STATIC = $(if $(findstring -fsanitize,$(CFLAGS)),,-static)
$(BUILD)/trainyard-conductor: $(BUILD)/src/conductor/main.o $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) $(STATIC) -o $@ $^ -ljansson -lpcre2-8 -lm

# Preloaded into jobs: it shows them only what it stands before, and needs the C library alone.
$(MALLEABLE_OBJ): private CPPFLAGS += -fPIC -fvisibility=hidden -ftls-model=initial-exec
$(MALLEABLE): $(MALLEABLE_OBJ)
	$(call Q,LINK,$@)$(LINK) -shared -Wl,-z,now,-z,relro -o $@ $^

# An example is a program of its own, with nothing of ours in it.
$(BUILD)/examples/%: examples/%.c $(BUILD)/flags | $(BUILD)/needs
	@mkdir -p $(@D)
	$(call Q,CC  ,$@)$(COMPILE) -fopenmp -o $@ $< $(LDFLAGS) -lm

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

PROGRAMS := $(patsubst tests/%.c,%,$(foreach d,unit property golden http store runtime conductor,\
    $(wildcard tests/$(d)/*.c)))
# Scripts run the programs; what they share is called lib.
scripts = $(filter-out %/lib,$(basename $(patsubst tests/%,%,$(wildcard $(1:%=tests/%/*.sh) \
    $(1:%=tests/%/*.py)))))
CLI := $(call scripts,cli conductor elastic faults malleable torch)
MACHINE := $(call scripts,runtime)
BROWSER := $(call scripts,browser)
# Jobs for the malleable library, by both compilers; instrumented is the library alone.
JOB := $(BUILD)/tests/malleable/jobs
MALLEABLE_JOBS := $(addprefix $(JOB)/,job-gcc job-clang job-static trainer-gcc trainer-clang old late \
    late_region-gcc.so late_region-clang.so weak)
BROWSER_PROGRAMS := $(patsubst tests/%.c,%,$(wildcard tests/browser/*.c))
PROOFS := $(patsubst tests/%.sh,%,$(wildcard tests/lint/*.sh))
CHECKS := $(patsubst tools/lint/%,check/%,$(filter-out %.txt %.sh,$(wildcard tools/lint/*)))
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
TESTS := $(CHECKS) $(PROOFS) $(PROGRAMS) $(CLI) $(MACHINE) $(BROWSER)
# Tests that would not run the sanitizers' build say "run-tests: no asan".
NO_ASAN := $(basename $(patsubst tests/%,%,$(shell grep -rls 'run-tests: no asan' tests)))
ASAN_TESTS := $(addprefix asan/,$(filter-out $(NO_ASAN),$(PROGRAMS) $(CLI)))

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

# Those whose every run is another: kills at random instants, orders at random times.
SOAKED := faults/kills faults/jobs elastic/restarts elastic/sizes cli/replay malleable/flips malleable/pytorch \
    torch/kills torch/sizes property/engine store/crash

soak: ## what is drawn by lot, again and again until it fails, for SOAK_MINUTES (60)
	@tools/setup --check test
	+@$(again) prepare NAMES='$(call select,$(SOAKED))'
	@end=$$(($$(date +%s) + 60 * $(SOAK_MINUTES))); round=0; \
	while round=$$((round + 1)); echo "round $$round"; $(run) $(call select,$(SOAKED)) || exit 1; \
	    [ $$(date +%s) -lt $$end ]; do :; done

# Builds what the tests in NAMES run.
NAMED_PROGRAMS = $(filter $(PROGRAMS),$(NAMES))
NAMED_ASAN = $(patsubst asan/%,%,$(filter asan/%,$(NAMES)))
NAMED_FUZZERS = $(filter fuzz/%,$(NAMES))
OBJECTS = $(OBJ) $(MALLEABLE_OBJ) $(SUPPORT) $(patsubst %,$(BUILD)/tests/%.o,$(PROGRAMS) $(BROWSER_PROGRAMS))

prepare: $(NAMED_PROGRAMS:%=$(BUILD)/tests/%) $(if $(filter $(CLI) $(MACHINE),$(NAMES)),all) \
    $(if $(filter check/%,$(NAMES)),$(OBJECTS)) $(if $(filter lint/%,$(NAMES)),$(OBJ)) \
    $(if $(filter browser/%,$(NAMES)),$(BROWSER_PROGRAMS:%=$(BUILD)/tests/%)) \
    $(if $(filter malleable/%,$(NAMES)),$(MALLEABLE_JOBS)) \
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

job_flags = @compile_flags.txt -MMD -MP $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS)) -fopenmp
job = @mkdir -p $(@D); echo '  CC    $@'; $(1) $(job_flags) $(2) -o $@ $< -lm
$(JOB)/%-gcc: tests/malleable/jobs/%.c ; $(call job,gcc)
$(JOB)/%-clang: tests/malleable/jobs/%.c ; $(call job,clang)
$(JOB)/%-static: tests/malleable/jobs/%.c ; $(call job,gcc,-static)
$(JOB)/%-gcc.so: tests/malleable/jobs/%.c ; $(call job,gcc,-shared -fPIC)
$(JOB)/%-clang.so: tests/malleable/jobs/%.c ; $(call job,clang,-shared -fPIC)
$(JOB)/trainer-gcc: examples/trainer.c ; $(call job,gcc)
$(JOB)/trainer-clang: examples/trainer.c ; $(call job,clang)
$(JOB)/old: tests/malleable/jobs/old.c ; $(call job,gcc)
$(JOB)/late $(JOB)/weak: $(JOB)/%: tests/malleable/jobs/%.c ; $(call job,gcc,-fno-openmp)

# ---- the rest -------------------------------------------------------------

demo: ## install what is missing, build, and train some networks, static and elastic
	@tools/setup build
	+@$(again) all
	@tools/demo $(BUILD)

$(BUILD)/bench/malleable: bench/malleable.c ; $(call job,gcc)
$(BUILD)/bench/malleable-clang: bench/malleable.c ; $(call job,clang)
BENCHES = $(if $(shell command -v clang),$(BUILD)/bench/malleable-clang) $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))
$(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -o $@ $^ $(LIBS)

bench: all $(BENCHES) ## measure: each bench/*.sh prints a table; B='scale peers' only these
	@set -e; for b in $(if $(B),$(B:%=bench/%.sh),$(sort $(wildcard bench/*.sh))); do \
	    echo "== $$b"; BUILD='$(abspath $(BUILD))' TRAINYARD='$(abspath $(BUILD))/trainyard' "$$b"; \
	    echo; done

DOCS = $(wildcard README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE data/README.md examples/* \
    docs/*.md docs/*/*.md docs/*/*.svg docs/*/*.csv docs/*/*/*.csv)
share = $(DESTDIR)$(PREFIX)/share

install: all ## install below PREFIX (/usr/local), inside DESTDIR
	install -D -m 755 $(BUILD)/trainyard $(DESTDIR)$(PREFIX)/bin/trainyard
	install -D -m 755 $(BUILD)/trainyard-conductor $(DESTDIR)$(PREFIX)/bin/trainyard-conductor
	install -D -m 644 $(MALLEABLE) $(DESTDIR)$(PREFIX)/lib/trainyard/$(notdir $(MALLEABLE))
	install -D -m 644 include/trainyard.h $(DESTDIR)$(PREFIX)/include/trainyard.h
	install -D -m 644 -t $(share)/trainyard/python $(wildcard python/*.py)
	@chmod 755 $(share)/trainyard/python/trainyard_hosts.py
	@install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|@PREFIX@|$(PREFIX)|' packaging/trainyard.service \
	    >$(DESTDIR)$(PREFIX)/lib/systemd/system/trainyard.service
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
	rm -f $(DESTDIR)$(PREFIX)/bin/trainyard $(DESTDIR)$(PREFIX)/bin/trainyard-conductor $(share)/man/man1/trainyard.1 \
	    $(share)/man/man1/trainyard-*.1 $(share)/bash-completion/completions/trainyard \
	    $(share)/zsh/site-functions/_trainyard $(share)/fish/vendor_completions.d/trainyard.fish
	rm -f $(DESTDIR)$(PREFIX)/lib/systemd/system/trainyard.service \
	    $(DESTDIR)$(PREFIX)/include/trainyard.h
	rm -rf $(share)/trainyard $(DESTDIR)$(PREFIX)/lib/trainyard
	rm -rf $(share)/doc/trainyard

clean: ## remove everything that was built
	rm -rf $(BUILD) $(ASAN_BUILD) $(FUZZ_BUILD)

help: ## print this
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' Makefile

-include $(OBJ:.o=.d) $(MALLEABLE_OBJ:.o=.d) $(wildcard $(JOB)/*.d) $(SUPPORT:.o=.d) $(BUILD)/src/main.d $(BUILD)/src/conductor/main.d \
    $(patsubst %,$(BUILD)/tests/%.d,$(PROGRAMS) $(BROWSER_PROGRAMS)) $(FUZZERS:fuzz/%=$(BUILD)/tests/fuzz/fuzz_%.d)

.PHONY: all test lint format asan fuzz soak prepare prepare-asan prepare-fuzz demo bench install uninstall \
    clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
