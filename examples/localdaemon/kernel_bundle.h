/* What gVisor is told: an OCI bundle (opencontainers runtime-spec 1.0.2), for one command. */
#ifndef LD_KERNEL_BUNDLE_H
#define LD_KERNEL_BUNDLE_H

#include "examples/localdaemon/provider.h"

/* Make prepared->folder, beside the slot's work folder: config.json, an almost empty root, and `state` for gVisor
 * itself. prepared->plan says who will run it. Without LD_GUARD_MOUNTS the root is the machine's own. */
CS_MUST_CHECK cs_result ld_kernel_bundle(const ld_place *place, const ld_command *command, ld_prepared *prepared,
                                         cs_error *err);

#endif
