// Metadata that operators set, by node. For state/ only; readers use state_node_metadata().
#pragma once
#include "state/tables/kind.h"

extern const struct kind node_metadata_kind;

// The cell of a node's metadata; NULL: nothing was ever set. Applier thread, or any under read lock.
struct cell *node_metadata_cell(const struct state *, const struct uuid *node);
