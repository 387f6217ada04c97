// The one place where what the applier built becomes what everybody sees.
#pragma once
#include "state/tables/tables.h"

// Makes a batch visible that the log has: its records first, then the summary and the index.
// Records that were replaced are freed after a grace period. Applier thread only.
void state_publish(struct state *, struct change_list *, uint64_t index, const struct summary *);
// For the containers of cells, which show nothing that is not published by itself.
void publish_pointer(void **where, void *what);

// A record of a snapshot, before anybody reads.
#define publish_loaded(where, record) publish_pointer((void **)(where), (record))

// Takes deleted things out of the tables once readers cannot find them and no snapshot needs them.
void state_bury(struct state *);
void state_grave_add(struct state *, enum grave_kind, void *);
