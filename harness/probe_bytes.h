/* The probe's two forms, and the attempts on the guards, as the build made them (harness/probe/). Shared by
 * harness/probe*.c and harness/guards*.c only. */
#ifndef CS_HARNESS_PROBE_BYTES_H
#define CS_HARNESS_PROBE_BYTES_H

#include "records/base.h"

cs_view cs_probe_script_bytes(void);
cs_view cs_probe_program_bytes(void); /* empty: not made for this processor */
cs_view cs_probe_walls_bytes(void);   /* the same */

#endif
