// Commands of the deployment watcher: gathered while it reads records, sent together afterwards.
#pragma once
#include "placement/watch/frame/watch_tools.h"
#include "state/records/deployment.h"

#define DEPLOYMENT_COMMANDS_MAX 256u
#define DEPLOYMENT_COMMAND_IDS_MAX 4096u // allocations of one command

struct deployment_commands;

struct deployment_commands *deployment_commands_create(const struct watch_tools *);
void deployment_commands_destroy(struct deployment_commands *);
// Whether the commands of one more deployment may not fit.
bool deployment_commands_are_full(const struct deployment_commands *);

// Under read lock.
void deployment_commands_fail(struct deployment_commands *, const struct deployment *,
	const char *description, bool revert);
void deployment_commands_promote(struct deployment_commands *, const struct deployment *);
void deployment_commands_evaluate(struct deployment_commands *, const struct deployment *);
// Lets schedulers replace the allocations; makes an evaluation.
void deployment_commands_replace(struct deployment_commands *, const struct deployment *,
	const struct uuid *ids, uint32_t count);
struct uuid *deployment_commands_ids(
	struct deployment_commands *); // room for DEPLOYMENT_COMMAND_IDS_MAX

// Not under read lock. Sends the gathered commands; true: there were some. Then settles each deployment.
typedef void deployment_commands_settle(
	void *context, const struct uuid *deployment, bool was_done, int64_t now_ns);
bool deployment_commands_run(
	struct deployment_commands *, deployment_commands_settle *, void *context, int64_t now_ns);
