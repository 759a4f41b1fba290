#include "harness/probe_bytes.h"

static const uint8_t script[] = {
#include "harness/probe/script.inc"
};

static const uint8_t program[] = {
#include "harness/probe/program.inc"
};

cs_view cs_probe_script_bytes(void) {
    return cs_view_bytes(script, sizeof script);
}

cs_view cs_probe_program_bytes(void) {
    return cs_view_bytes(program, sizeof program > 1 ? sizeof program : 0);
}
