// What the deployment watcher wants of the state: commands that are gathered while records are looked at, and sent
// together afterwards.
#pragma once
#include "placement/watch/frame/watch_tools.h"
#include "state/records/deployment.h"

#define DEPLOYMENT_COMMANDS_MAX 256u
#define DEPLOYMENT_COMMAND_IDS_MAX 4096u // allocations of one command

struct deployment_commands;

struct deployment_commands *deployment_commands_create(const struct watch_tools *);
void deployment_commands_destroy(struct deployment_commands *);
// There is no room for what one more deployment may ask for.
bool deployment_commands_are_full(const struct deployment_commands *);

// Under read lock.
void deployment_commands_fail(struct deployment_commands *, const struct deployment *,
	const char *description, bool revert);
void deployment_commands_promote(struct deployment_commands *, const struct deployment *);
void deployment_commands_evaluate(struct deployment_commands *, const struct deployment *);
// Allocations may be placed anew; brings an evaluation.
void deployment_commands_replace(struct deployment_commands *, const struct deployment *,
	const struct uuid *ids, uint32_t count);
struct uuid *deployment_commands_ids(
	struct deployment_commands *); // room for DEPLOYMENT_COMMAND_IDS_MAX

// Not under read lock. True: some were sent. Each is told about when all are through.
typedef void deployment_commands_settle(
	void *context, const struct uuid *deployment, bool was_done, int64_t now_ns);
bool deployment_commands_run(
	struct deployment_commands *, deployment_commands_settle *, void *context, int64_t now_ns);
