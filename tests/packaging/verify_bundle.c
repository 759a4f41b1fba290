/* Somebody else's program: verify one bundle or ledger with one key, as installed. */
#include <stdio.h>

#include <verify/verify.h>

static void tell(void *user, const cs_finding *finding) {
    (void)user;
    printf("%s [%s] %s\n", finding->warning ? "warning" : "failure", cs_code_name(finding->err->code),
           finding->err->message);
}

int main(int argc, char **argv) {
    if (argc != 3) return CS_USAGE;
    cs_error err = CS_ERROR_INIT;
    cs_public_key key;
    cs_trust trust = {.count = 0};
    cs_source *source = NULL;
    cs_verify_summary summary;
    cs_verify_options options = {.trust = &trust, .on_finding = tell};
    cs_result result = cs_public_key_load(argv[1], &key, &err);
    if (result == CS_OK) result = cs_trust_add(&trust, &key, &err);
    if (result == CS_OK) result = cs_source_open(argv[2], &source, &err);
    if (result == CS_OK) {
        result = cs_verify_source(source, &options, &summary, &err);
        printf("%d runs, %d failures\n", (int)summary.runs, (int)summary.failures);
    }
    cs_source_close(source);
    if (result != CS_OK) fprintf(stderr, "%s [%s]\n", err.message, cs_code_name(err.code));
    return (int)result;
}
