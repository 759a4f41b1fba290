/* Not a target: a bug that every run of the rules must find first. It reads one byte too far, which only
 * a sanitizer sees, for two magic bytes, which only coverage leads to quickly. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || data[0] != 0xC5 || data[1] != 0x5C) return 0;
    uint8_t *copy = malloc(size);
    if (copy == NULL) abort();
    memcpy(copy, data, size);
    volatile uint8_t byte = copy[size];
    (void)byte;
    free(copy);
    return 0;
}
