/* Ending every process of a run. System calls only: these run in forks of a program with threads. */
#ifndef LD_ENDING_H
#define LD_ENDING_H

#include "examples/localdaemon/proc.h"

/* Kill every process of `uid` (root only). The kernel goes through all of them while none can be
 * made, so nothing escapes by forking. The caller of that kill wears `uid` as its effective user only
 * and `killer` as its real one: it may signal the run, and the run may not signal it. */
CS_MUST_CHECK bool ld_end_user(uid_t uid, uid_t killer);

/* Kill and reap until the caller has no child left. The caller must be a child subreaper: then every
 * process that a run started is, or becomes, its child. When `uid` is not `killer`, the user's
 * processes are killed; otherwise the caller's children, again and again. False when some remain after
 * about five seconds. */
CS_MUST_CHECK bool ld_end_children(uid_t uid, uid_t killer);

/* Reap until the caller has no child left, killing none. False when some remain after about five seconds. */
CS_MUST_CHECK bool ld_reap_children(void);

/* Kill every process of `uid` but the spared ones, which are left stopped. `uid` is not `killer`. False when some
 * remain after about five seconds. The dead may still have to be reaped. */
CS_MUST_CHECK bool ld_end_others(uid_t uid, uid_t killer, const ld_spared *spared);

#endif
