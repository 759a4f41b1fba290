#include "tests/harness/guards_case.h"

#include <errno.h>
#include <string.h>

static cs_guard_trial open_trial(void) {
    return (cs_guard_trial){.read = true,
                            .pid_seen = 1,
                            .keyctl = ENOKEY,
                            .bpf = EINVAL,
                            .mapped_mb = 65536,
                            .file_mb = 1048576,
                            .disk_mb = 80,
                            .cpu_milli = 1900,
                            .processes = 272};
}

static cs_guard_trial closed_trial(void) {
    return (cs_guard_trial){.read = true,
                            .file = EACCES,
                            .tcp = EPERM,
                            .abstract = EPERM,
                            .pid_seen = 0,
                            .pid_signal = ESRCH,
                            .keyctl = EPERM,
                            .bpf = EPERM,
                            .unshare = EPERM,
                            .core_pattern = EACCES,
                            .mapped_mb = 1022,
                            .file_mb = 256,
                            .disk_mb = 63,
                            .cpu_milli = 1490,
                            .processes = 254};
}

void guards_honest(cs_guard_facts *out) {
    cs_guard_facts_begin(out);
    out->promises = (cs_guard_promises){
        .claim = CS_TIER_PROCESS, .processes = 256, .memory_mb = 512, .disk_mb = 64, .cpu_milli = 1500};
    out->place = CS_HOST_HERE;
    out->trial = closed_trial();
    out->control = open_trial();
    for (size_t i = 0; i < CS_LEFT_KINDS; i++) {
        out->trial.left[i] = 1;
        out->control.left[i] = CS_PROBE_UNKNOWN;
        out->look.left[i] = 0;
    }
    out->look.read = true;
    out->look.gap_ms = 900;
    out->fill = (cs_guard_fill){.begun = true, .read = true, .filled_mb = 500};
    out->control_fill = (cs_guard_fill){.begun = true, .read = true, .filled_mb = 576};
    out->sleep = (cs_guard_sleep){.ran = true, .marked = true, .wall_ms = 1600};
}
