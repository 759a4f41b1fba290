/* The seeds of the fuzz targets: how one is written, and who writes which. */
#ifndef CS_TESTS_FUZZ_SEEDS_H
#define CS_TESTS_FUZZ_SEEDS_H

#include "records/base.h"

/* One seed of a target: what `prefix` holds, then the bytes. Ends the program when it can't be written. */
void put_seed(const char *target, cs_view prefix, cs_view bytes);
void put_text_seed(const char *target, const char *text);

void seeds_of_messages(void); /* every type; requests and runs that pass */
void seeds_of_stored(void);   /* bundles, envelopes, statements, verdicts; ledgers */
void seeds_of_files(void);    /* keys, trust, expectations, baselines; texts in them */
void seeds_of_daemons(void);  /* answers, probes, a guest's frames */
void seeds_of_the_gate(void); /* patterns, JUnit, policies; pages; pairs of messages */

#endif
