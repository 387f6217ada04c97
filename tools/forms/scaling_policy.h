// The "Scaling" block of a task group, which is kept as JSON: its id, and what an autoscaler expects in it.
#pragma once
#include "state/base/uuid.h"
#include "state/records/job.h"
#include "tools/json/json_reader.h"

// The place of a policy gives its id.
struct uuid scaling_policy_id(const struct job *, const struct task_group *);
// Completes the block of a group that is being registered; a group without one is left alone. One that does not say its
// count has the least of its block.
void scaling_policy_settle(const struct job *, struct task_group *, bool says_count);
// Adds what is wrong with a settled block, in Nomad's words.
void scaling_policy_check(
	const struct job *, const struct task_group *, struct json_sentences *refusals);
