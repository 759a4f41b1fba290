/* countersign-verify: the reviewer's program. It holds `verify` only, and links no network code and
 * nothing that signs. */

#include "cli/command.h"

int main(int argc, char **argv) {
    char name[] = "countersign-verify";
    if (argc > 0) argv[0] = name;
    return argc > 0 ? cs_cmd_verify(argc, argv) : CS_USAGE;
}
