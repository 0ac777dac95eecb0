# The tests, the lint and the fuzzers; part of the Makefile.
#
# A test has a name: unit/test_err, cli/sim, check/layers (tools/run-tests says
# what each kind is). T selects some of them: make test T='unit/* cli/sim'.

FUZZ_SECONDS ?= 60
SOAK_MINUTES ?= 60

ASAN_BUILD = $(BUILD)-asan
# -g1 has what a stack trace needs, and compiles a fifth faster than -g.
ASAN_FLAGS = -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_BUILD = $(BUILD)-fuzz
FUZZ_FLAGS = $(ASAN_FLAGS) -fsanitize=fuzzer-no-link

SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))
$(BUILD)/libsupport.a: $(SUPPORT)

PROGRAMS := $(patsubst tests/%.c,%,$(foreach d,unit property golden http store runtime conductor server,\
    $(wildcard tests/$(d)/*.c)))
# Scripts run the programs; what they share is called lib.
scripts = $(filter-out %/lib %/lib_hosts,$(basename $(patsubst tests/%,%,$(wildcard $(1:%=tests/%/*.sh) \
    $(1:%=tests/%/*.py)))))
CLI := $(call scripts,cli conductor docker elastic faults malleable torch) kubernetes/short
MACHINE := $(call scripts,runtime)
BROWSER := $(call scripts,browser)
# Jobs for the malleable library, by both compilers; instrumented is the library alone.
JOB := $(BUILD)/tests/malleable/jobs
MALLEABLE_JOBS := $(addprefix $(JOB)/,job-gcc job-clang job-static trainer-gcc trainer-clang old late \
    late_region-gcc.so late_region-clang.so weak early-gcc.so machine-gcc machine-clang \
    $(if $(wildcard /usr/include/eigen3),pool) $(if $(wildcard /usr/include/oneapi/tbb.h),tbb))
BROWSER_PROGRAMS := $(patsubst tests/%.c,%,$(wildcard tests/browser/*.c))
PROOFS := $(patsubst tests/%.sh,%,$(wildcard tests/lint/*.sh))
CHECKS := $(patsubst tools/lint/%,check/%,$(filter-out %.txt %.sh,$(wildcard tools/lint/*)))
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
TESTS := $(CHECKS) $(PROOFS) $(PROGRAMS) $(CLI) $(MACHINE) $(BROWSER)
# Tests that would not run the sanitizers' build say "run-tests: no asan".
NO_ASAN := $(basename $(patsubst tests/%,%,$(shell grep -rls 'run-tests: no asan' tests)))
ASAN_TESTS := $(addprefix asan/,$(filter-out $(NO_ASAN),$(PROGRAMS) $(CLI)))

# The tests that T names, which must name some with each word.
unmatched = $(strip $(foreach t,$(T),$(if $(filter $(subst *,%,$(t)),$(1)),,$(t))))
select = $(if $(unmatched),$(error no test here is called $(unmatched); see tests/tests.mk for the \
    names))$(if $(T),$(filter $(subst *,%,$(T)),$(1)),$(1))
run = BUILD='$(BUILD)' ASAN_BUILD='$(ASAN_BUILD)' FUZZ_BUILD='$(FUZZ_BUILD)' CC='$(CC)' \
    JOBS='$(JOBS)' tools/run-tests

test: ## install what is missing, build, lint, run every test, also under sanitizers
	@tools/setup test
	+@$(again) prepare NAMES='$(call select,$(TESTS) $(ASAN_TESTS) $(FUZZERS))'
	@FUZZ_SECONDS=5 $(run) $(call select,$(TESTS) $(ASAN_TESTS) $(FUZZERS))

lint: ## layers, declarations, purity, headers, format, static analysis
	@tools/setup --check lint
	+@$(again) prepare NAMES='$(call select,$(CHECKS))'
	@$(run) $(call select,$(CHECKS))

format: ## format the sources with clang-format
	clang-format -i $(shell find src tests -name '*.[ch]')

asan: ## the tests under AddressSanitizer and UBSan
	@tools/setup --check test
	+@$(again) prepare NAMES='$(ASAN_TESTS)'
	@$(run) $(ASAN_TESTS)

fuzz: ## each fuzzer for FUZZ_SECONDS (60)
	@tools/setup --check test
	+@$(again) prepare NAMES='$(call select,$(FUZZERS))'
	@FUZZ_SECONDS='$(FUZZ_SECONDS)' $(run) $(call select,$(FUZZERS))

# Tests that are random in each run: kills at random instants, orders at random times, worlds
# from a seed, which is another one in each round.
SOAKED := faults/kills faults/jobs elastic/restarts elastic/sizes cli/api-bodies cli/replay malleable/flips \
    malleable/pools malleable/pytorch torch/kills torch/sizes property/engine server/simulation store/crash
CAMPAIGNS ?= kills memory year fuzz

soak: ## repeat the randomised tests for SOAK_MINUTES (60), then the long CAMPAIGNS; see docs/campaigns.md
	@tools/setup --check test
	+@$(again) all prepare NAMES='$(if $(filter 0,$(SOAK_MINUTES)),,$(call select,$(SOAKED))) \
	    server/simulation server/growth $(if $(filter fuzz,$(CAMPAIGNS)),$(FUZZERS))'
	@end=$$(($$(date +%s) + 60 * $(SOAK_MINUTES))); round=0; \
	while [ $$(date +%s) -lt $$end ]; do \
	    round=$$((round + 1)); seed=$$(date +%s); echo "round $$round, seed $$seed"; \
	    PROPERTY_SEED=$$seed SIMULATION_SEED=$${seed}000000 $(run) $(call select,$(SOAKED)) || exit 1; done
	@BUILD='$(BUILD)' FUZZ_BUILD='$(FUZZ_BUILD)' $(if $(CAMPAIGNS),tools/campaign $(CAMPAIGNS))

kubernetes-lab: ## build the Kubernetes that test-kubernetes runs on, into a cache (8 minutes)
	@tools/kubernetes-lab

# On the cluster that KUBECONFIG names, or else on one of the cache's own.
KUBERNETES := $(filter-out kubernetes/cluster,$(call scripts,kubernetes))
test-kubernetes: ## the tests on a real Kubernetes
	@tools/setup test
	+@$(again) prepare NAMES='$(call select,$(KUBERNETES))'
	@$(run) $(call select,$(KUBERNETES))

# Builds what the tests in NAMES run.
NAMED_PROGRAMS = $(filter $(PROGRAMS),$(NAMES))
NAMED_ASAN = $(patsubst asan/%,%,$(filter asan/%,$(NAMES)))
NAMED_FUZZERS = $(filter fuzz/%,$(NAMES))

prepare: $(NAMED_PROGRAMS:%=$(BUILD)/tests/%) $(if $(filter $(CLI) $(MACHINE),$(NAMES)),all) \
    $(if $(filter %/declarations %/purity %/unused,$(NAMES)),$(OBJ) $(MALLEABLE_OBJ) $(LINES_OBJ)) \
    $(if $(filter cli/campaign,$(NAMES)),$(BUILD)/tests/server/simulation) \
    $(if $(filter browser/%,$(NAMES)),$(BROWSER_PROGRAMS:%=$(BUILD)/tests/%)) \
    $(if $(filter malleable/%,$(NAMES)),$(MALLEABLE_JOBS)) \
    $(if $(NAMED_ASAN),prepare-asan $(MALLEABLE) $(LINES) $(BUILD)/trainyard-conductor) $(if $(NAMED_FUZZERS),prepare-fuzz)
	@:
prepare-asan:
	@$(MAKE) --no-print-directory BUILD=$(ASAN_BUILD) CFLAGS='$(ASAN_FLAGS)' \
	    NAMES='$(NAMED_ASAN)' prepare
prepare-fuzz:
	@$(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) CC=clang CFLAGS='$(FUZZ_FLAGS)' \
	    $(NAMED_FUZZERS:fuzz/%=$(FUZZ_BUILD)/tests/fuzz/fuzz_%)

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/libsupport.a $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -fsanitize=fuzzer -o $@ $^ -lcmocka $(LIBS)
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libsupport.a $(BUILD)/libtrainyard.a
	$(call Q,LINK,$@)$(LINK) -o $@ $^ -lcmocka $(LIBS)

$(JOB)/%-gcc: tests/malleable/jobs/%.c ; $(call job,gcc)
$(JOB)/%-clang: tests/malleable/jobs/%.c ; $(call job,clang)
$(JOB)/%-static: tests/malleable/jobs/%.c ; $(call job,gcc,-static)
$(JOB)/%-gcc.so: tests/malleable/jobs/%.c ; $(call job,gcc,-shared -fPIC)
$(JOB)/%-clang.so: tests/malleable/jobs/%.c ; $(call job,clang,-shared -fPIC)
$(JOB)/machine-gcc: tests/malleable/jobs/machine.cc ; $(call job++,g++)
$(JOB)/machine-clang: tests/malleable/jobs/machine.cc ; $(call job++,clang++)
$(JOB)/pool: tests/malleable/jobs/pool.cc ; $(call job++,g++,-isystem /usr/include/eigen3)
$(JOB)/tbb: tests/malleable/jobs/tbb.cc ; $(call job++,g++,-Wno-deprecated-declarations) -ltbb
$(JOB)/trainer-gcc: examples/trainer.c ; $(call job,gcc)
$(JOB)/trainer-clang: examples/trainer.c ; $(call job,clang)
$(JOB)/old: tests/malleable/jobs/old.c ; $(call job,gcc)
$(JOB)/late $(JOB)/weak: $(JOB)/%: tests/malleable/jobs/%.c ; $(call job,gcc,-fno-openmp)

.PHONY: test lint format asan fuzz soak kubernetes-lab test-kubernetes prepare prepare-asan prepare-fuzz
