// Machines and workers in a scene of watchers.
#pragma once
#include "state/records/nodes/vm.h"
#include "tests/placement/watch/scene.h"

// A scene whose machines say all that they take: what they are assigned is not counted.
void vm_scene_begin(struct scene *);
// A worker that says it has so many cores.
void vm_scene_worker(struct scene *, const char *worker, int64_t cores);
// A machine of one core; by default it is started again when it fails.
void vm_scene_ask_for(struct scene *, const char *name, enum vm_restart);
void vm_scene_ask(struct scene *, const char *name);
// Fails unless readers see the machine so. worker "": none.
void vm_scene_expect(struct scene *, const char *name, const char *worker, int status);
