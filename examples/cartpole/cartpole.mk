# The cart-pole example: the plant as WebAssembly, and the requests that carry it to a daemon.

CARTPOLE_SRC = examples/cartpole
CARTPOLE_REQUESTS = $(BUILD)/cartpole/accepted.json $(BUILD)/cartpole/draft.json
# No start file and no library but libc: the module has no entry, no imports, and wasi-libc's libm in it.
PLANT_CFLAGS = --target=wasm32-wasi -std=c17 -O2 -ffp-contract=off -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror)
PLANT_LDFLAGS = -nostartfiles -nostdlib -Wl,--no-entry,--strip-all

cartpole: $(CARTPOLE_REQUESTS)

$(BUILD)/cartpole/plant.wasm: $(CARTPOLE_SRC)/plant.c
	@mkdir -p $(@D)
	clang $(PLANT_CFLAGS) $(PLANT_LDFLAGS) -o $@ $< -lc

# request.mjs refuses a plant with imports.
$(CARTPOLE_REQUESTS): $(BUILD)/cartpole/%.json: $(CARTPOLE_SRC)/controllers/%.js $(BUILD)/cartpole/plant.wasm \
  $(CARTPOLE_SRC)/request.mjs $(CARTPOLE_SRC)/run.mjs $(CARTPOLE_SRC)/package.json
	node $(CARTPOLE_SRC)/request.mjs $(BUILD)/cartpole/plant.wasm $< > $@
