// The nodes that a command acts on: those that are named, or those that --filter finds.
#pragma once
#include "tools/berth/cli/session.h"

// *ids is a list of texts that the caller releases. Complains when there is none.
enum exit_status node_targets(struct session *, const char **arguments, int count, json_t **ids);

typedef enum exit_status node_act(struct session *, const char *id, void *context);
// Acts on each and shows how far it is. Complains of how many failed; done: "purged".
enum exit_status node_targets_each(
	struct session *, json_t *ids, const char *done, node_act *, void *context);
// Waits until none of the nodes drains any more, and shows how far it is.
enum exit_status node_targets_drained(struct session *, json_t *ids);
