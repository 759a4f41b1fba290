#include "records/tier.h"

static const char *const words[] = {
    [CS_TIER_NONE] = "",         [CS_TIER_PROCESS] = "process", [CS_TIER_CONTAINER] = "container",
    [CS_TIER_KERNEL] = "kernel", [CS_TIER_VM] = "vm",
};

cs_tier cs_tier_parse(cs_view word) {
    for (int tier = CS_TIER_NONE; tier <= CS_TIER_VM; tier++) {
        if (cs_view_is(word, words[tier])) return (cs_tier)tier;
    }
    return CS_TIER_UNKNOWN;
}

const char *cs_tier_word(cs_tier tier) {
    return tier >= CS_TIER_NONE && tier <= CS_TIER_VM ? words[tier] : "unknown";
}
