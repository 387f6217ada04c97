// A sum of what a publication changed, by which two processes that apply the same log tell whether their states came
// to differ: of what each record says (struct kind.sum), its indexes, and what is counted of all. Nothing is summed
// where nobody asked for it.
#pragma once
#include "state/tables/state.h"

struct change_list;
struct publication_checks;
struct summary;

// Before the first publication that is to be summed.
void publication_check_keep(struct state *);
// Sums the changes, in any order, and what is counted after them. Applier thread only.
void publication_check_take(
	struct state *, const struct change_list *, uint64_t index, const struct summary *);
// What was summed until now is of a past that no other process shares. Applier thread only.
void publication_check_forget(struct state *);
void publication_checks_free(struct publication_checks *); // NULL is allowed

struct publication_check {
	uint64_t index; // 0: nothing was summed yet
	uint64_t check;
};
// Any thread. Of one of the newest publications; false: it is none of those, or there was none of that index.
bool publication_check_of(const struct state *, uint64_t index, uint64_t *check);
struct publication_check publication_check_newest(const struct state *);
