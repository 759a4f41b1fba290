/* Memory that runs out at a place of the test's choice.
 *
 * The test program's own malloc (failing.c) takes the place of the system's for everything in the process,
 * libraries as well. It fails only between failing_begin and failing_end, only on the thread that called
 * them, and only as failing_walk says.
 */
#ifndef TESTS_ALLOC_FAILING_H
#define TESTS_ALLOC_FAILING_H

#include "records/error.h"

/* One scenario: do all of it from the beginning, with the part that is under test between failing_begin and
 * failing_end; look at what came out when it is CS_OK; free everything. Answers what that part answered.
 * When nothing failed it must answer CS_OK. */
typedef cs_result (*failing_scenario)(void *user, cs_error *err);

void failing_begin(void);
void failing_end(void);
/* Did an allocation fail since failing_begin? */
bool failing_happened(void);

/* How many blocks that our own code took since failing_begin are not freed. */
size_t failing_live(void);

/* Walk through a scenario: fail its first allocation, then its second, and so on, until one run comes to its
 * end without. Then the same once more, but with every later allocation failing as well. Each run must answer
 * a result that `allowed` has a bit for (1u << CS_UNCHECKED) with a code of that class, or CS_OK; and leave
 * none of its own memory behind. (What was taken from libraries is AddressSanitizer's to judge.) */
void failing_walk(failing_scenario scenario, void *user, unsigned allowed);
#define FAILING_UNCHECKED (1u << CS_UNCHECKED)

/* A text whose copies (strdup) a library loses when memory runs out, and nobody else makes: AddressSanitizer is told to
 * say nothing of copies that libraries make of it. At most two. */
void failing_forgive(const char *text);

/* folder_make in memory, where there is /dev/shm: a walk writes files many hundred times. */
void failing_folder(char path[128]);

/* For functions that answer with a bool. */
cs_result failing_answer(bool good, cs_error *err);

#endif
