/* The probe's two forms as the build made them (harness/probe/). Shared by harness/probe*.c only. */
#ifndef CS_HARNESS_PROBE_BYTES_H
#define CS_HARNESS_PROBE_BYTES_H

#include "records/base.h"

cs_view cs_probe_script_bytes(void);
cs_view cs_probe_program_bytes(void); /* empty: not made for this processor */

#endif
