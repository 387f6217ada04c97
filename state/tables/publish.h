// The one place where records that the applier built become visible to everybody.
#pragma once
#include "state/tables/state.h"

struct change_list;
struct summary;

// Makes a batch visible that is in the log: its records first, then the summary and the index. Replaced records are
// freed after a grace period. Applier thread only.
void state_publish(struct state *, struct change_list *, uint64_t index, const struct summary *);

// Takes deleted items out of the tables once readers cannot find them and no snapshot needs them.
void state_bury(struct state *);
