/* A whole verification of a file, with what must hold of any. */
#ifndef TESTS_FUZZ_WALK_H
#define TESTS_FUZZ_WALK_H

#include "verify/verify.h"

/* Verify the file under `trust`; `on_run` (may be NULL) sees every run that passed. Aborts when verdict,
 * findings and summary do not agree with each other. */
cs_result walk_file(const char *path, const cs_trust *trust, void (*on_run)(const cs_verified_run *run),
                    cs_verify_summary *summary);

#endif
