// Following the drain of a node.
#pragma once
#include "tools/berth/cli/session.h"

// Prints what happens until the drain is over and nothing of what it moves runs there any more, as far as the node has
// said. node: as it was when the drain began. STATUS_FAILURE when the drain was called off.
enum exit_status drain_monitor(struct session *, const char *id, json_t *node);
