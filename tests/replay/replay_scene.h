/* A replay of one stored run, or of a stored session of one call, on up to two scripted daemons. */
#ifndef CS_TESTS_REPLAY_REPLAY_SCENE_H
#define CS_TESTS_REPLAY_REPLAY_SCENE_H

#include "replay/replay.h"
#include "tests/support/live.h"

#define REPLAY_DAEMONS 2

typedef struct replay_scene {
    sample stored;
    cs_replay_item item;
    cs_replay_plan plan;
    live scripts[REPLAY_DAEMONS];
    peer *peers[REPLAY_DAEMONS];
    cs_client *clients[REPLAY_DAEMONS];
    size_t count; /* of daemons: 1 until a test says otherwise */
    cs_replay_report report;
    cs_result result;
    cs_error err;
    size_t progress_calls;
    unsigned scripted; /* runs, so that each is one of its own */
} replay_scene;

void replay_scene_begin(replay_scene *c);
/* What is stored has been changed: the plan is about it as it is now. */
void replay_scene_set_item(replay_scene *c);
/* Starts the daemons, runs the plan on them with these options, to which the clients are added, and stops them. */
void replay_scene_run(replay_scene *c, const cs_replay_options *options);
void replay_scene_expect_end(const replay_scene *c, cs_result result, cs_code code, cs_replay_verdict row);
void replay_scene_end(replay_scene *c);

#endif
