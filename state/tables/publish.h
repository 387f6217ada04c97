// The one place where what the applier built becomes what everybody sees.
#pragma once
#include "state/tables/state.h"

struct change_list;
struct summary;

// Makes a batch visible that the log has: its records first, then the summary and the index.
// Records that were replaced are freed after a grace period. Applier thread only.
void state_publish(struct state *, struct change_list *, uint64_t index, const struct summary *);

// Takes deleted things out of the tables once readers cannot find them and no snapshot needs them.
void state_bury(struct state *);
