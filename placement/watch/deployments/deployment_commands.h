// What the deployment watcher wants of the state: commands that are gathered while records are looked at, and sent
// together afterwards.
#pragma once
#include "placement/watch/watcher.h"
#include "state/records/deployment.h"

#define ACTS_MAX 256u
#define ACT_IDS_MAX 4096u // allocations of one command

struct acts;

struct acts *acts_create(const struct watch_tools *);
void acts_destroy(struct acts *);
// There is no room for what one more deployment may ask for.
bool acts_are_full(const struct acts *);

// Under read lock.
void acts_fail(struct acts *, const struct deployment *, const char *description, bool revert);
void acts_promote(struct acts *, const struct deployment *);
void acts_evaluate(struct acts *, const struct deployment *);
// Allocations may be placed anew; brings an evaluation.
void acts_replace(struct acts *, const struct deployment *, const struct uuid *ids, uint32_t count);
struct uuid *acts_ids(struct acts *); // room for ACT_IDS_MAX

// Not under read lock. True: some were sent. Each is told about when all are through.
typedef void acts_settle(
	void *context, const struct uuid *deployment, bool was_done, int64_t now_ns);
bool acts_run(struct acts *, acts_settle *, void *context, int64_t now_ns);
