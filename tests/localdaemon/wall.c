#include "tests/localdaemon/wall.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/localdaemon/wire_call.h"
#include "tests/support/exec.h"

int wall_outside(const char *command) {
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    exec_end end;
    exec_run(NULL, argv, &end);
    int status = end.status;
    exec_free(&end);
    return status;
}

int wall_inside(const test_daemon *daemon, const char *command) {
    json_t *answer = wire_run(
        daemon, "{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":[\"%s\"]}}",
        command);
    int status = atoi(json_at(answer, "project/steps/0/exitCode"));
    json_decref(answer);
    return status;
}

void expect_wall(const test_daemon *daemon, const char *what, const char *command) {
    cr_assert_eq(wall_outside(command), 0, "control: %s must work outside: %s", what, command);
    cr_assert_neq(wall_inside(daemon, command), 0, "%s works inside: %s", what, command);
}
