/* The programs that keep an interpreter alive from cell to cell, in the interpreters' own languages.
 *
 * Each is handed to its interpreter on the command line, with the number of a descriptor, a stream to the daemon: it
 * writes "r" there when it is ready; then, for each cell, reads the length (four bytes, big end first) and the text,
 * runs it where the cells before it have run, prints the value of its last expression as an interactive interpreter
 * does, and writes "0" when the cell ran, "1" when it raised. All that comes over the stream is a program's word about
 * itself, and is believed as little as its output.
 */
#ifndef LD_DRIVER_H
#define LD_DRIVER_H

#include "examples/localdaemon/sandbox.h"
#include "records/base.h"

typedef enum ld_language { LD_JAVASCRIPT, LD_PYTHON, LD_LANGUAGES, LD_NO_LANGUAGE = -1 } ld_language;

const char *ld_language_word(ld_language language);

/* Can cells of this language be run? They need a provider that keeps processes from call to call, and a user of their
 * own: otherwise what a cell leaves behind can't be told from its interpreter for certain. */
bool ld_language_served(const ld_sandbox *sandbox, ld_language language);
/* The language of that name, if it is served; else LD_NO_LANGUAGE. */
ld_language ld_language_find(const ld_sandbox *sandbox, cs_view word);

const char *ld_driver_program(const ld_sandbox *sandbox, ld_language language); /* the interpreter's path */
const char *ld_driver_option(ld_language language);                             /* that says: a program follows */
const char *ld_driver_text(ld_language language);

#endif
