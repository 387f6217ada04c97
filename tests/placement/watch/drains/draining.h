// Nodes that drain, jobs on them, and the actions of schedulers and nodes. Numbers identify allocations and nodes.
#pragma once
#include "tests/placement/watch/scene.h"

void scene_nodes(struct scene *, uint32_t count); // 1 … count
// One group "g0"; max_parallel: of its migrate block, for services.
void scene_job(struct scene *, const char *id, enum job_type, int64_t count, int64_t max_parallel);
const struct node *scene_node(struct scene *, uint32_t number); // in a read section

// Act as a scheduler's committed plan.
void scene_place(struct scene *, const char *job, uint32_t id, uint32_t node);
void scene_migrate(struct scene *, const char *job, uint32_t from, uint32_t to, uint32_t node);
void scene_stop(struct scene *, const char *job, uint32_t id);

// Act as a node's report. healthy: a verdict; else none.
void scene_report(struct scene *, uint32_t node, uint32_t id, enum alloc_client, bool healthy);
void scene_healthy(struct scene *, uint32_t node, uint32_t id);
void scene_ended(struct scene *, uint32_t node, uint32_t id);

enum command_outcome scene_drain_with(struct scene *, uint32_t node, struct command_node_drain);
void scene_drain(struct scene *, uint32_t node, int64_t deadline_s);
bool scene_is_flagged(struct scene *, uint32_t id);
