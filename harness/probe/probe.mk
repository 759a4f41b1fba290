# The tier probe: its script as it is, its programs compiled; all as lists of bytes for harness/probe_bytes.c.

PROBE_GEN = $(BUILD)/gen/harness/probe
PROBE_INC = $(PROBE_GEN)/script.inc $(PROBE_GEN)/program.inc $(PROBE_GEN)/walls.inc
# For the processors they are written for; elsewhere its bytes are a single zero, which means that there is none.
PROBE_CPU = $(filter x86_64-% aarch64-%,$(shell $(CC) -dumpmachine))
# No library, no start files, nothing of this build in it: the same compiler gives the same bytes.
PROBE_CFLAGS = -std=gnu17 -Os -Wall -Wextra -ffreestanding -fno-builtin -fno-stack-protector -fno-pie \
  -fno-asynchronous-unwind-tables -fcf-protection=none -nostdlib -static -no-pie -s -Wl,--build-id=none,-z,noseparate-code,-z,noexecstack \
  $(if $(filter 1,$(WERROR)),-Werror)
PROBE_BYTES = od -An -v -tu1 $(1) | sed 's/[0-9]\{1,\}/&,/g' > $(2)

$(PROBE_GEN)/program: harness/probe/probe.c
$(PROBE_GEN)/walls: harness/probe/walls.c harness/probe/amounts.h
$(PROBE_GEN)/program $(PROBE_GEN)/walls: harness/probe/bare.h
	@mkdir -p $(@D)
	$(if $(PROBE_CPU),$(CC) $(PROBE_CFLAGS) -I. -o $@ $(filter %.c,$^),printf '\000' > $@)
$(PROBE_GEN)/program.inc: $(PROBE_GEN)/program
	@$(call PROBE_BYTES,$<,$@)
$(PROBE_GEN)/walls.inc: $(PROBE_GEN)/walls
	@$(call PROBE_BYTES,$<,$@)
$(PROBE_GEN)/script.inc: harness/probe/probe.js
	@mkdir -p $(@D)
	@$(call PROBE_BYTES,$<,$@)

$(BUILD)/obj/harness/probe_bytes.o $(BUILD)/fuzz/obj/harness/probe_bytes.o: $(PROBE_INC)
lint-tidy lint-cppcheck: $(PROBE_INC)
