# Fuzzing with clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, in a folder of its own.
#
#   make fuzz SECONDS=60     each target for so long (default 20), FUZZ_JOBS at once (default 2)
#   make fuzz TARGET=line    one target only
#
# What the targets found before stays in $(FUZZ)/corpus and is tried first the next time.

SECONDS ?= 20
FUZZ_JOBS ?= 2
FUZZ = $(BUILD)/fuzz
FUZZ_CC = clang
FUZZ_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_CFLAGS = -std=c17 -O1 -g -fno-omit-frame-pointer $(WARN) $(if $(filter 1,$(WERROR)),-Werror) -MMD -MP $(FUZZ_SANITIZE)
FUZZ_LIBS = $(LIBS_GATE)

FUZZ_TARGETS = $(if $(TARGET),$(TARGET),$(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_PARTS = $(SRC_records) $(SRC_verify) $(SRC_harness) $(SRC_replay) $(SRC_gate) $(SRC_report) $(addprefix tests/fuzz/,fuzz.c genuine.c walk.c) \
             $(addprefix tests/support/,canon.c folder.c forge.c imported.c member.c policy_case.c sample.c verdicts.c) tests/verify/raw_ledger.c \
             $(addprefix examples/localdaemon/,vm_channel.c lines.c)

$(FUZZ)/obj/%.o: %.c | $(GEN_H)
	@mkdir -p $(@D)
	$(FUZZ_CC) -D_GNU_SOURCE -I. -I$(BUILD)/gen $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -c $< -o $@
$(FUZZ)/obj/gen/sandbox.pb-c.o: $(GEN_C)
	@mkdir -p $(@D)
	$(FUZZ_CC) -D_GNU_SOURCE -I$(BUILD)/gen -std=c17 -O1 -g -fsanitize=address -c $< -o $@

$(FUZZ)/parts.a: $(patsubst %.c,$(FUZZ)/obj/%.o,$(FUZZ_PARTS)) $(FUZZ)/obj/gen/sandbox.pb-c.o
	@rm -f $@
	$(AR) rcs $@ $^

$(FUZZ)/seeds: $(patsubst %.c,$(FUZZ)/obj/%.o,$(wildcard tests/fuzz/seeds*.c)) $(FUZZ)/parts.a
	$(FUZZ_CC) $(FUZZ_SANITIZE) -fsanitize=fuzzer-no-link -o $@ $^ $(FUZZ_LIBS)
$(FUZZ)/planted: $(FUZZ)/obj/tests/fuzz/planted.o $(FUZZ)/parts.a
	$(FUZZ_CC) $(FUZZ_SANITIZE) -fsanitize=fuzzer -o $@ $^ $(FUZZ_LIBS)
$(FUZZ)/fuzz_%: $(FUZZ)/obj/tests/fuzz/fuzz_%.o $(FUZZ)/parts.a
	$(FUZZ_CC) $(FUZZ_SANITIZE) -fsanitize=fuzzer -o $@ $^ $(FUZZ_LIBS)

.PHONY: fuzz
.PRECIOUS: $(FUZZ)/obj/%.o
fuzz: $(addprefix $(FUZZ)/fuzz_,$(FUZZ_TARGETS)) $(FUZZ)/planted $(FUZZ)/seeds
	@rm -rf $(FUZZ)/seed && mkdir -p $(FUZZ)/seed
	$(FUZZ)/seeds $(FUZZ)/seed
	@sh tests/fuzz/run.sh $(FUZZ) $(SECONDS) $(FUZZ_JOBS) $(FUZZ_TARGETS)

-include $(shell find $(FUZZ)/obj -name '*.d' 2>/dev/null)
