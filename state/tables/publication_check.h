// A sum of what a publication changed, by which two processes that apply the same log tell whether their states came
// to differ. Costs a few nanoseconds a change, and nothing where nobody asked for it.
#pragma once
#include "state/tables/state.h"

struct change_list;
struct summary;

// Before the first publication that is to be summed.
void publication_check_keep(struct state *);
// Sums the changes, in any order, and what is counted after them. Applier thread only.
void publication_check_take(
	struct state *, const struct change_list *, uint64_t index, const struct summary *);
// Of the newest publication; false: of none that was summed, or of another index. Applier thread, or the one that
// writes its log.
bool publication_check_of(const struct state *, uint64_t index, uint64_t *check);
