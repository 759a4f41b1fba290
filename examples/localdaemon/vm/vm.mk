# The provider vm's agent, and the image that it is part of.

VM = examples/localdaemon/vm
AGENT_SRC = $(wildcard $(VM)/*.c) examples/localdaemon/work.c examples/localdaemon/probe.c records/base.c
# Static, and without anything of this folder or this build in it: the same sources give the same image.
AGENT_CFLAGS = -std=c17 -O2 $(WARN) -fstack-protector-strong -D_GNU_SOURCE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -I. \
  -I$(BUILD)/gen $(if $(filter 1,$(WERROR)),-Werror)

$(BUILD)/vm/agent: $(AGENT_SRC) $(wildcard $(VM)/*.h) examples/localdaemon/work.h examples/localdaemon/probe.h \
  records/base.h | $(GEN_H)
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -static -s -Wl,--build-id=none -o $@ $(AGENT_SRC)

.PHONY: vm-image
vm-image: $(BUILD)/vm/agent
	sh $(VM)/image.sh $(BUILD)/vm/agent
