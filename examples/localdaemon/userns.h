/* A user namespace with two users of the host. System calls only: this runs in forks of a program with threads. */
#ifndef LD_USERNS_H
#define LD_USERNS_H

#include <stdbool.h>
#include <sys/types.h>

#define LD_INSIDE_USER 1000u /* who a run is inside, where the provider can say so */

/* Move the calling process, which is root, into a new user namespace, in which `root` is its root and `other` is
 * LD_INSIDE_USER, and become that root. Everything outside then sees `root` alone. False with errno on failure. */
bool ld_userns_enter(uid_t root, uid_t other);

#endif
