#include "tests/alloc/failing.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/folder.h"

/* ---- what is asked for ---------------------------------------------------------------------------- */

static _Thread_local bool armed;
static _Thread_local bool happened;
static _Thread_local size_t count;   /* of the allocations that are made to fail in turn */
static _Thread_local size_t library; /* of those that libraries made */

static size_t fail_at;   /* 0: never */
static bool fail_behind; /* and everything after it */

/* The program's own code, between two names that the linker sets. What a library took for itself may be a
 * cache; AddressSanitizer tells that from a leak, by whether something still points to it. */
extern const char __executable_start[];
extern const char etext[];

static bool is_ours(const void *caller) {
    return (uintptr_t)caller >= (uintptr_t)__executable_start && (uintptr_t)caller < (uintptr_t)etext;
}

/* The sanitizer makes everything several times slower, and most allocations are SQLite's: of those that libraries make,
 * it has every fourth fail. Without it every one does. */
#ifdef __SANITIZE_ADDRESS__
#define LIBRARY_STEP 4u
#else
#define LIBRARY_STEP 1u
#endif

/* May this allocation succeed? */
static bool allowed_now(const void *caller) {
    if (!armed) return true;
    const bool behind = fail_at != 0 && fail_behind && count >= fail_at;
    const bool in_turn = is_ours(caller) || ++library % LIBRARY_STEP == 0;
    if (in_turn) count++;
    if (!behind && !(in_turn && fail_at != 0 && count == fail_at)) return true;
    happened = true;
    errno = ENOMEM;
    return false;
}

/* ---- what is alive -------------------------------------------------------------------------------- */

#define SLOTS ((size_t)1 << 16)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *slots[SLOTS]; /* blocks that our own code took on an armed thread; open addressing */
static size_t live;

static size_t home_of(const void *block) {
    return (size_t)((uintptr_t)block >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 48;
}

static void note(void *block, const void *caller) {
    if (!armed || block == NULL || !is_ours(caller)) return;
    pthread_mutex_lock(&lock);
    if (live >= SLOTS / 2) abort();
    size_t i = home_of(block);
    while (slots[i] != NULL)
        i = (i + 1) % SLOTS;
    slots[i] = block;
    live++;
    pthread_mutex_unlock(&lock);
}

/* Close the gap at `i`: a later block of the same run moves up, unless it would stand before its home. */
static void close_gap(size_t i) {
    slots[i] = NULL;
    for (size_t j = (i + 1) % SLOTS; slots[j] != NULL; j = (j + 1) % SLOTS) {
        size_t home = home_of(slots[j]);
        if ((j - home) % SLOTS < (j - i) % SLOTS) continue;
        slots[i] = slots[j];
        slots[j] = NULL;
        i = j;
    }
}

static void forget(const void *block) {
    if (block == NULL || __atomic_load_n(&live, __ATOMIC_RELAXED) == 0) return;
    pthread_mutex_lock(&lock);
    size_t i = home_of(block);
    while (slots[i] != NULL && slots[i] != block)
        i = (i + 1) % SLOTS;
    if (slots[i] == block) {
        close_gap(i);
        live--;
    }
    pthread_mutex_unlock(&lock);
}

static void forget_all(void) {
    pthread_mutex_lock(&lock);
    memset(slots, 0, sizeof slots);
    live = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- in place of the system's --------------------------------------------------------------------- */

/* Under AddressSanitizer memory comes from its own allocator, so that it goes on seeing everything. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);
extern void *__interceptor_malloc(size_t size) __attribute__((weak));
extern void *__interceptor_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__interceptor_realloc(void *block, size_t size) __attribute__((weak));
extern void __interceptor_free(void *block) __attribute__((weak));
extern void __lsan_ignore_object(const void *block) __attribute__((weak));

static void *take(size_t size, const void *caller) {
    if (!allowed_now(caller)) return NULL;
    void *block = __interceptor_malloc != NULL ? __interceptor_malloc(size) : __libc_malloc(size);
    note(block, caller);
    return block;
}

void *malloc(size_t size) {
    return take(size, __builtin_return_address(0));
}

void *calloc(size_t number, size_t size) {
    if (!allowed_now(__builtin_return_address(0))) return NULL;
    void *block = __interceptor_calloc != NULL ? __interceptor_calloc(number, size) : __libc_calloc(number, size);
    note(block, __builtin_return_address(0));
    return block;
}

void *realloc(void *old, size_t size) {
    if (!allowed_now(__builtin_return_address(0))) return NULL;
    forget(old);
    void *block = __interceptor_realloc != NULL ? __interceptor_realloc(old, size) : __libc_realloc(old, size);
    note(block, __builtin_return_address(0));
    return block;
}

void free(void *block) {
    forget(block);
    if (__interceptor_free != NULL)
        __interceptor_free(block);
    else
        __libc_free(block);
}

static const char *forgiven[2];

static bool is_forgiven(const char *text) {
    for (size_t i = 0; i < sizeof forgiven / sizeof forgiven[0]; i++)
        if (forgiven[i] != NULL && strcmp(text, forgiven[i]) == 0) return true;
    return false;
}

/* AddressSanitizer has these two of its own, which would not fail. */
char *strdup(const char *text) {
    const void *caller = __builtin_return_address(0);
    size_t size = strlen(text) + 1;
    char *copy = take(size, caller);
    if (copy == NULL) return NULL;
    if (__lsan_ignore_object != NULL && !is_ours(caller) && is_forgiven(text)) __lsan_ignore_object(copy);
    return memcpy(copy, text, size);
}

char *strndup(const char *text, size_t max) {
    size_t len = strnlen(text, max);
    char *copy = take(len + 1, __builtin_return_address(0));
    if (copy == NULL) return NULL;
    copy[len] = '\0';
    return memcpy(copy, text, len);
}

/* ---- for tests ------------------------------------------------------------------------------------ */

void failing_begin(void) {
    count = 0;
    library = 0;
    happened = false;
    armed = true;
}

void failing_end(void) {
    armed = false;
}

bool failing_happened(void) {
    return happened;
}

size_t failing_live(void) {
    return live;
}

void failing_forgive(const char *text) {
    size_t i = 0;
    while (forgiven[i] != NULL)
        if (++i == sizeof forgiven / sizeof forgiven[0]) abort();
    forgiven[i] = text;
}

void failing_folder(char path[128]) {
    if (access("/dev/shm", W_OK) == 0) (void)setenv("TMPDIR", "/dev/shm", 1);
    folder_make(path);
}

cs_result failing_answer(bool good, cs_error *err) {
    return good ? CS_OK : cs_fail(err, CS_CODE_NO_MEMORY, "no memory");
}

/* One run with the allocation `at` failing. False when it came to its end without. */
static bool run_once(failing_scenario scenario, void *user, unsigned allowed, bool behind, size_t at) {
    cs_error err = CS_ERROR_INIT;
    forget_all();
    fail_at = at;
    fail_behind = behind;
    happened = false;
    cs_result result = scenario(user, &err);
    fail_at = 0;
    armed = false;
    ERR_clear_error();
    const char *how = behind ? "it and all later" : "it";
    if (!happened) {
        cr_assert_eq(result, CS_OK, "nothing failed, and it answers %s: %s", cs_code_name(err.code), err.message);
    } else if (result != CS_OK) {
        cr_assert((allowed & 1u << result) != 0, "allocation %zu (%s) failed, and it answers %s: %s", at, how,
                  cs_code_name(err.code), err.message);
        cr_assert_eq(cs_code_class(err.code), result, "allocation %zu (%s): %s", at, how, cs_code_name(err.code));
    }
    cr_assert_eq(live, 0, "allocation %zu (%s) failed, and %zu blocks are left", at, how, live);
    return happened;
}

static void walk(failing_scenario scenario, void *user, unsigned allowed, bool behind) {
    size_t at = 1;
    while (run_once(scenario, user, allowed, behind, at))
        at++;
    cr_assert_gt(at, 1, "no allocation was seen at all");
}

void failing_walk(failing_scenario scenario, void *user, unsigned allowed) {
    cr_assert_not(run_once(scenario, user, allowed, false, 0)); /* libraries set themselves up */
    walk(scenario, user, allowed, false);
    walk(scenario, user, allowed, true);
}
