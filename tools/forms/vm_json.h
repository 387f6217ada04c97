// Virtual machines, their workers and their settings in Orchard's JSON, with Berth's additions.
#pragma once
#include "state/base/time_source.h"
#include "state/records/nodes/vm.h"
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

void vm_json(struct json_writer *, const struct vm *);
void vm_members_json(struct json_writer *, const struct vm *); // into an open object
// Its events: the newest `most`, newest first if newest_first.
void vm_events_json(struct json_writer *, const struct vm *, uint32_t most, bool newest_first);

// The time for which a worker's status is computed, and the silence after which a worker is offline.
struct worker_view {
	const struct state *state;
	int64_t now_ns, offline_after_ns;
};
// The view of now. offline_after_ns: 0 is the default.
struct worker_view worker_view_now(
	const struct state *, const struct time_source *, int64_t offline_after_ns);
// With its status, its node, the number of its machines and what they use. Under read lock.
void vm_worker_json(struct json_writer *, const struct worker_view *, const struct vm_worker *);
void vm_worker_members_json(
	struct json_writer *, const struct worker_view *, const struct vm_worker *);

void cluster_settings_members_json(struct json_writer *, const struct cluster_settings *);
