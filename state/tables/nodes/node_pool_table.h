// Node pools by name. For state/ only; readers use state_node_pool().
#pragma once
#include "state/tables/kind.h"

extern const struct kind node_pool_kind;
