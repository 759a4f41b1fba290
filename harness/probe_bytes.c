#include "harness/probe_bytes.h"

static const uint8_t script[] = {
#include "harness/probe/script.inc"
};

static const uint8_t program[] = {
#include "harness/probe/program.inc"
};

static const uint8_t walls[] = {
#include "harness/probe/walls.inc"
};

cs_view cs_probe_script_bytes(void) {
    return cs_view_bytes(script, sizeof script);
}

cs_view cs_probe_program_bytes(void) {
    return cs_view_bytes(program, sizeof program > 1 ? sizeof program : 0);
}

cs_view cs_probe_walls_bytes(void) {
    return cs_view_bytes(walls, sizeof walls > 1 ? sizeof walls : 0);
}
