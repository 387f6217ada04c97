// A controller with its watchers, without threads, network and disk, on a clock that stands still.
#pragma once
#include "placement/watch/watchers.h"
#include "tests/state/plans.h"

struct scene {
	struct controller controller;
	struct watchers *watchers;
	struct watchers_settings settings; // without the members that the scene sets itself
};

#define SCENE_TTL_NS (10ll * 1000000000)

void scene_init(struct scene *);
// With the test's own times: the applier gets those that it shares.
void scene_init_with(struct scene *, const struct watchers_settings *);
void scene_free(struct scene *);
// Drops everything but the log, and starts again from it after so many ms.
void scene_restart(struct scene *, uint64_t ms);
// Works until nothing is left to do at this time.
void scene_settle(struct scene *);
// Moves the clock in steps of 100 ms and works at each, or in one jump.
void scene_advance(struct scene *, uint64_t ms);
void scene_jump(struct scene *, uint64_t ms);
struct watchers_stats scene_stats(struct scene *);
// Runs a command as controller_run does, and the work that follows from it at this time.
enum command_outcome scene_run(struct scene *, struct command *);
