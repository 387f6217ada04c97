// A controller with its watchers, without threads, network and disk, on a clock that stands still.
#pragma once
#include "placement/watch/watchers.h"
#include "tests/state/plans.h"

struct scene {
	struct controller controller;
	struct watchers *watchers;
	struct watchers_settings settings; // but what the scene itself has
};

#define SCENE_TTL_NS (10ll * 1000000000)

void scene_init(struct scene *);
// With times of its own: those that the applier also goes by are its as well.
void scene_init_with(struct scene *, const struct watchers_settings *);
void scene_free(struct scene *);
// Forgets everything but the log, and starts anew from it after so many ms.
void scene_restart(struct scene *, uint64_t ms);
// Works until there is nothing to do at this time.
void scene_settle(struct scene *);
// Lets the clock go on in steps of 100 ms, working all the time; or at once.
void scene_advance(struct scene *, uint64_t ms);
void scene_jump(struct scene *, uint64_t ms);
struct watchers_stats scene_stats(struct scene *);
// As controller_run, and what follows from it at this time.
enum command_outcome scene_run(struct scene *, struct command *);
