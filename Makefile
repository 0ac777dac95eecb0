# Trainyard: plain GNU make. `make help` lists the targets.
#
# Everything that is built goes below $(BUILD), in the shape of the source
# tree: src/base/err.c becomes $(BUILD)/src/base/err.o, tests/unit/test_err.c
# becomes $(BUILD)/tests/unit/test_err. The flags that the language needs are in
# compile_flags.txt, where clang's tools find them too; CFLAGS is the user's.
# tests/tests.mk has the tests, the lint and the fuzzers.

BUILD ?= build
ifeq ($(origin CC),default)
CC = gcc
endif
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

ifeq ($(CI),true)
WERROR = 1
endif
# Hardened as Debian's packages are. Sanitizers check more, and do not go with it.
SANITIZED = $(findstring -fsanitize,$(CFLAGS))
HARDEN = $(if $(SANITIZED),,-fstack-protector-strong -D_FORTIFY_SOURCE=2)
HARDEN_LINK = $(if $(SANITIZED),,-Wl,-z,relro,-z,now)
COMPILE = $(CC) @compile_flags.txt -MMD -MP $(HARDEN) $(CPPFLAGS) $(CFLAGS) $(if $(WERROR),-Werror)
LINK = $(CC) $(CFLAGS) $(HARDEN_LINK) $(LDFLAGS)
# Each program is linked with just those that it uses.
LIBS = -Wl,--as-needed -lmicrohttpd -lgnutls -lcurl -ljansson -lyaml -lsqlite3 -luv -lpcre2-8 -lhwloc \
    -lwslay -lnettle -lz -lm
# One short line for each step; V=1 shows the commands.
Q = $(if $(V),,@echo '  $(1)  $(2)';)

# What is preloaded lives in other people's processes: nothing else goes there.
SRC := $(filter-out src/%/main.c src/malleable/% src/preload/%,$(wildcard src/*/*.c src/*/*/*.c))
WEB := $(patsubst src/web/%/page.html,$(BUILD)/src/web/%_page.o,$(wildcard src/web/*/page.html))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(WEB) $(BUILD)/src/web/assets.o
MALLEABLE := $(BUILD)/libtrainyard-malleable.so
MALLEABLE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/malleable/*.c))
LINES := $(BUILD)/libtrainyard-lines.so
LINES_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/preload/*.c))
EXAMPLES := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))

all: $(BUILD)/trainyard $(BUILD)/trainyard-conductor $(MALLEABLE) $(LINES) $(EXAMPLES) ## build the programs, below build/

$(BUILD)/trainyard: $(BUILD)/src/main.o $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -o $@ $^ $(LIBS)

# Static, so that it runs inside any image; a sanitizer's run-time cannot be.
STATIC = $(if $(SANITIZED),,-static-pie)
$(BUILD)/trainyard-conductor: $(BUILD)/src/conductor/main.o $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) $(STATIC) -o $@ $^ -ljansson -lpcre2-8 -lm

# Preloaded into jobs: exports only the functions that it wraps, and needs the C library alone.
$(MALLEABLE_OBJ) $(LINES_OBJ): private CPPFLAGS += -fPIC -fvisibility=hidden -ftls-model=initial-exec
$(MALLEABLE): $(MALLEABLE_OBJ)
$(LINES): $(LINES_OBJ)
$(MALLEABLE) $(LINES):
	$(call Q,LINK,$@)$(LINK) -shared -o $@ $^

# An example is a program of its own, with nothing of ours in it.
$(BUILD)/examples/%: examples/%.c $(BUILD)/flags | $(BUILD)/needs
	@mkdir -p $(@D)
	$(call Q,CC  ,$@)$(COMPILE) -fopenmp -o $@ $< $(LDFLAGS) -lm

# An archive, so that each test is linked with just what it uses.
$(BUILD)/libtrainyard.a: $(OBJ)
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

# The dashboard: the files of src/web/dashboard, and the chart library of Debian's
# libjs-dygraphs. Scripts are joined: the words that all use, the pages, what starts them.
DYGRAPHS ?= /usr/share/javascript/dygraphs
plus = $(subst $() $(),+,$(strip $(1)))
DASHBOARD = src/web/dashboard
DASHBOARD_CSS = $(DYGRAPHS)/dygraph.min.css src/web/shared/tokens.css $(DASHBOARD)/style.css
DASHBOARD_JS = src/web/shared/format.js $(DASHBOARD)/words.js \
    $(sort $(filter-out %/words.js %/start.js,$(wildcard $(DASHBOARD)/*.js))) $(DASHBOARD)/start.js
$(BUILD)/src/web/assets.c: tools/pack Makefile $(wildcard $(DASHBOARD)/* src/web/shared/*) | $(BUILD)/needs
	@mkdir -p $(@D)
	$(call Q,GEN ,$@)tools/pack index.html text/html $(DASHBOARD)/index.html \
	    icon.svg image/svg+xml $(DASHBOARD)/icon.svg style.css text/css $(call plus,$(DASHBOARD_CSS)) \
	    theme.js text/javascript src/web/shared/theme.js \
	    charts.js text/javascript $(call plus,$(DYGRAPHS)/dygraph.min.js $(DYGRAPHS)/src-es5/extras/synchronizer.js) \
	    app.js text/javascript $(call plus,$(DASHBOARD_JS)) >$@
$(BUILD)/src/web/assets.o: $(BUILD)/src/web/assets.c $(BUILD)/flags
	$(call Q,CC  ,$@)$(COMPILE) -c -o $@ $<

# A program that is not ours and follows the malleable library: an OpenMP job.
job_flags = @compile_flags.txt -MMD -MP $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS)) -fopenmp
job = @mkdir -p $(@D); echo '  CC    $@'; $(1) $(job_flags) $(2) -o $@ $< -lm
job++ = @mkdir -p $(@D); echo '  CXX   $@'; $(1) -std=gnu++17 -Wall -Wextra -O2 -MMD -MP -fopenmp $(2) -o $@ $< -pthread

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

# Another make, after the set-up, on all cores unless the user said how many.
again = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

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

image: all ## build an image of Trainyard without a daemon: build/image.tar
	@tools/image $(BUILD) $(BUILD)/image.tar

DOCS = $(wildcard README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE data/README.md examples/* \
    docs/*.md docs/*/*.md docs/*/*.svg docs/*/*.png docs/*/*.csv docs/*/*/*.csv)
share = $(DESTDIR)$(PREFIX)/share

install: all ## install below PREFIX (/usr/local), inside DESTDIR
	install -D -m 755 $(BUILD)/trainyard $(DESTDIR)$(PREFIX)/bin/trainyard
	install -D -m 755 $(BUILD)/trainyard-conductor $(DESTDIR)$(PREFIX)/bin/trainyard-conductor
	install -D -m 644 $(MALLEABLE) $(DESTDIR)$(PREFIX)/lib/trainyard/$(notdir $(MALLEABLE))
	install -D -m 644 $(LINES) $(DESTDIR)$(PREFIX)/lib/trainyard/$(notdir $(LINES))
	install -D -m 644 include/trainyard.h $(DESTDIR)$(PREFIX)/include/trainyard.h
	install -D -m 644 -t $(share)/trainyard/python $(wildcard python/*.py)
	install -D -m 644 -t $(share)/trainyard/python/trainyard $(wildcard python/trainyard/*)
	@chmod 755 $(share)/trainyard/python/trainyard_hosts.py
	install -D -m 644 -t $(share)/trainyard/monitoring $(wildcard packaging/monitoring/*)
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
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' Makefile tests/tests.mk

include tests/tests.mk
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

.PHONY: all demo bench image install uninstall clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
