/* Errors whose body carries details: what kept a call from running, why a session ended, the record of a call that
 * got no result. */
#ifndef LD_DETAILS_H
#define LD_DETAILS_H

#include "records/wire.h"

/* Append the JSON body of a Connect error. `message` is UTF-8. Details that are NULL are left out. `out` is unchanged
 * on false. */
CS_MUST_CHECK bool ld_details_write(cs_connect_code code, const char *message, const Plimsoll__V1__NotDispatched *mark,
                                    const Plimsoll__V1__SessionEnded *ended,
                                    const Plimsoll__V1__UnansweredCall *unanswered, cs_buf *out);

#endif
