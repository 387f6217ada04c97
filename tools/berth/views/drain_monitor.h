// Follows the drain of a node.
#pragma once
#include "tools/berth/cli/session.h"

// Prints events until the drain is over and, as far as the node has reported, every allocation that it moves has ended
// there. node is the node as it was when the drain began. STATUS_FAILURE when the drain was called off.
enum exit_status drain_monitor(struct session *, const char *id, json_t *node);
