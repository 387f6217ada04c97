// Virtual machines, their workers and their settings as Orchard's JSON has them, and what Berth adds to it.
#pragma once
#include "state/base/time_source.h"
#include "state/records/nodes/vm.h"
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

void vm_json(struct json_writer *, const struct vm *);
void vm_members_json(struct json_writer *, const struct vm *); // into an object that is open
// For event streams, which end up in files.
void vm_json_without_password(struct json_writer *, const struct vm *);
// What happened to it: the newest `most`, newest first if so.
void vm_events_json(struct json_writer *, const struct vm *, uint32_t most, bool newest_first);

// At which time a worker is looked at, and after how long a silence it is offline.
struct worker_view {
	const struct state *state;
	int64_t now_ns, offline_after_ns;
};
// Now. offline_after_ns: 0 is the default.
struct worker_view worker_view_now(
	const struct state *, const struct time_source *, int64_t offline_after_ns);
// With its status, its node, how many machines are on it and what those take. Under read lock.
void vm_worker_json(struct json_writer *, const struct worker_view *, const struct vm_worker *);
void vm_worker_members_json(
	struct json_writer *, const struct worker_view *, const struct vm_worker *);

void cluster_settings_members_json(struct json_writer *, const struct cluster_settings *);
