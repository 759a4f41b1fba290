#include "examples/localdaemon/options.h"

#include "examples/localdaemon/provider.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const char *ld_options_help(void) {
    return "usage: localdaemon --provider process|container|kernel|vm --clients FILE [options]\n"
           "\n"
           "Runs code sent to it over the plimsoll.v1 interface behind the walls of one provider, and states\n"
           "what ran. Prints its URL when it is ready. Ends on SIGTERM, SIGINT or SIGHUP.\n"
           "\n"
           "  --provider NAME       process: Landlock, seccomp, limits, a user of its own (as root)\n"
           "                        container: bubblewrap, the same filter and limits\n"
           "                        kernel: gVisor, a kernel of its own that is a program of the host\n"
           "                        vm: QEMU, a virtual machine\n"
           "  --listen ADDR:PORT    loopback only (127.0.0.1:8746); port 0 takes any free one\n"
           "  --clients FILE        who may call: {\"clients\":[{\"id\":\"ci\",\"token_sha256\":\"<hex>\",\n"
           "                        \"scopes\":[\"code:run\"]}]}, the hash from: printf %s TOKEN | sha256sum\n"
           "  --open                no clients file: whoever reaches the address may run code\n"
           "  --max-concurrent N    runs at the same time (4); more are refused\n"
           "  --max-sessions N      sessions that are open at the same time (8); 0 serves none\n"
           "  --node PATH           the node program (looked up)\n"
           "  --protocol N          protocol number to serve, 1 to 4 (3)\n"
           "  --check               try every guard, tell what holds, and exit\n"
           "  --claim TIER          state this tier (process, container, kernel, vm) in place of the provider's own:\n"
           "                        a lie, to test those who check it; with --i-am-lying-for-a-test only\n"
           "  --without GUARD,...   state these guards of the provider (as --check names them), and leave them out:\n"
           "                        a fault that the start must find. With --i-am-lying-for-a-test it serves anyway\n"
           "\n"
           "Exit: 0 stopped or all checks passed, 2 usage, 5 it can't serve here (the reason is on stderr).\n";
}

static bool read_number(const char *text, unsigned min, unsigned max, unsigned *out) {
    size_t len = strlen(text);
    if (len < 1 || len > 4 || strspn(text, "0123456789") != len) return false;
    unsigned long value = strtoul(text, NULL, 10);
    if (value < min || value > max) return false;
    *out = (unsigned)value;
    return true;
}

enum {
    OPT_PROVIDER = 1,
    OPT_LISTEN,
    OPT_CLIENTS,
    OPT_OPEN,
    OPT_MAX,
    OPT_SESSIONS,
    OPT_NODE,
    OPT_PROTOCOL,
    OPT_CHECK,
    OPT_CLAIM,
    OPT_WITHOUT,
    OPT_LIES,
    OPT_HELP
};

static const struct option known[] = {{"provider", required_argument, NULL, OPT_PROVIDER},
                                      {"listen", required_argument, NULL, OPT_LISTEN},
                                      {"clients", required_argument, NULL, OPT_CLIENTS},
                                      {"open", no_argument, NULL, OPT_OPEN},
                                      {"max-concurrent", required_argument, NULL, OPT_MAX},
                                      {"max-sessions", required_argument, NULL, OPT_SESSIONS},
                                      {"node", required_argument, NULL, OPT_NODE},
                                      {"protocol", required_argument, NULL, OPT_PROTOCOL},
                                      {"check", no_argument, NULL, OPT_CHECK},
                                      {"claim", required_argument, NULL, OPT_CLAIM},
                                      {"without", required_argument, NULL, OPT_WITHOUT},
                                      {"i-am-lying-for-a-test", no_argument, NULL, OPT_LIES},
                                      {"help", no_argument, NULL, OPT_HELP},
                                      {NULL, 0, NULL, 0}};

/* NULL, or what is wrong with the option's value. */
static const char *take(int option, const char *value, ld_options *out, bool *provider) {
    switch (option) {
    case OPT_PROVIDER:
        *provider = true;
        out->kind = ld_provider_find(value);
        return out->kind < LD_KINDS ? NULL : "--provider is process, container, kernel or vm";
    case OPT_LISTEN:
        out->listen = value;
        return NULL;
    case OPT_CLIENTS:
        out->clients = value;
        return NULL;
    case OPT_OPEN:
        out->open = true;
        return NULL;
    case OPT_MAX:
        return read_number(value, 1, 64, &out->max_concurrent) ? NULL : "--max-concurrent is a number from 1 to 64";
    case OPT_SESSIONS:
        return read_number(value, 0, LD_MAX_SESSIONS, &out->max_sessions) ? NULL
                                                                          : "--max-sessions is a number from 0 to 64";
    case OPT_NODE:
        out->node = value;
        return value[0] == '/' ? NULL : "--node is an absolute path";
    case OPT_PROTOCOL:
        return read_number(value, 1, CS_PROTOCOL, &out->protocol) ? NULL : "--protocol is a number from 1 to 4";
    case OPT_CHECK:
        out->check = true;
        return NULL;
    case OPT_CLAIM:
        out->claim = cs_tier_parse(cs_view_of(value));
        return out->claim > CS_TIER_NONE ? NULL : "--claim is process, container, kernel or vm";
    case OPT_WITHOUT: /* read when the provider is known */
        return NULL;
    case OPT_LIES:
        out->lies = true;
        return NULL;
    case OPT_HELP:
        out->help = true;
        return NULL;
    default:
        return "an option is unknown, or lacks its value";
    }
}

/* Those of a provider that can be left out. A kernel of its own can't: what is then left is another provider. */
static uint32_t guards_of(ld_kind kind) {
    return ld_provider_of(kind)->guards & ~(uint32_t)LD_GUARD_KERNEL;
}

static cs_result refuse_guard(ld_kind kind, cs_view word, cs_error *err) {
    CS_AUTO_BUF list = CS_BUF_INIT(256);
    for (uint32_t bit = 1; bit < 1u << LD_GUARD_COUNT; bit <<= 1)
        if ((guards_of(kind) & bit) != 0 &&
            !cs_buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", ld_guard_word((ld_guard)bit)))
            return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the command line");
    return cs_fail(err, CS_CODE_USAGE, "--without: \"%.*s\" is no guard of the provider %s that can be left out: %.*s",
                   (int)(word.len < 40 ? word.len : 40), (const char *)word.ptr, ld_provider_of(kind)->name,
                   (int)list.len, (const char *)list.ptr);
}

static cs_result read_guards(const char *text, ld_options *out, cs_error *err) {
    for (bool more = text != NULL; more;) {
        size_t len = strcspn(text, ",");
        cs_view word = cs_view_bytes((const uint8_t *)text, len);
        uint32_t bit = 1;
        while (bit < 1u << LD_GUARD_COUNT &&
               !((guards_of(out->kind) & bit) != 0 && cs_view_is(word, ld_guard_word((ld_guard)bit))))
            bit <<= 1;
        if (bit == 1u << LD_GUARD_COUNT) return refuse_guard(out->kind, word, err);
        out->left_out |= bit;
        more = text[len] == ',';
        text += len + 1;
    }
    return CS_OK;
}

/* A lie takes the word for it, and the word takes a lie. */
static cs_result check_lies(const ld_options *options, cs_error *err) {
    bool claims = options->claim > CS_TIER_NONE;
    if (claims && !options->lies)
        return cs_fail(err, CS_CODE_USAGE,
                       "--claim makes the daemon state a tier that it does not have; it takes "
                       "--i-am-lying-for-a-test");
    if (options->lies && !claims && options->left_out == 0)
        return cs_fail(err, CS_CODE_USAGE, "--i-am-lying-for-a-test takes --claim or --without");
    return CS_OK;
}

/* getopt takes the beginning of a name for the name. */
static bool is_whole(const char *name, char **argv) {
    const char *given = argv[optind - 1];
    if (optarg != NULL && optarg == given) given = argv[optind - 2];
    return strcspn(given, "=") == strlen("--") + strlen(name);
}

cs_result ld_options_read(int argc, char **argv, ld_options *out, cs_error *err) {
    *out = (ld_options){.listen = "127.0.0.1:8746", .max_concurrent = 4, .max_sessions = 8, .protocol = 3};
    bool provider = false;
    const char *without = NULL;
    optind = 1;
    opterr = 0;
    int index = -1;
    for (int option = getopt_long(argc, argv, "", known, &index); option != -1;
         option = getopt_long(argc, argv, "", known, &index)) {
        const char *wrong = take(option, optarg, out, &provider);
        if (option == OPT_WITHOUT && without != NULL) wrong = "--without is given once, with a list";
        if (option == OPT_WITHOUT) without = optarg;
        if (index >= 0 && !is_whole(known[index].name, argv)) wrong = "options are written out in full";
        index = -1;
        if (wrong != NULL) return cs_fail(err, CS_CODE_USAGE, "%s; see localdaemon --help", wrong);
    }
    if (out->help) return CS_OK;
    if (optind < argc) return cs_fail(err, CS_CODE_USAGE, "%s is no option; see localdaemon --help", argv[optind]);
    if (!provider) return cs_fail(err, CS_CODE_USAGE, "--provider is missing: process, container, kernel or vm");
    cs_result result = read_guards(without, out, err);
    if (result == CS_OK) result = check_lies(out, err);
    if (result != CS_OK || out->check) return result;
    if (out->open && out->clients != NULL)
        return cs_fail(err, CS_CODE_USAGE, "--open and --clients exclude each other");
    if (!out->open && out->clients == NULL)
        return cs_fail(
            err, CS_CODE_USAGE,
            "who may call? Give --clients FILE with {\"clients\":[{\"id\":\"ci\",\"token_sha256\":\"<the hex digits "
            "that printf %%s TOKEN | sha256sum prints>\",\"scopes\":[\"code:run\"]}]}, or --open to let in "
            "whoever reaches the address");
    return CS_OK;
}
