// What the quota of the plan's namespace has room for, as changed by what is planned so far (row B45).
#pragma once
#include "state/records/allocation.h"
#include "state/records/namespaces/quota.h"

struct stack;

void stack_quota_begin(struct stack *);
void stack_quota_release(struct stack *);
// A stop of an allocation is planned (-1), or taken back (1).
void stack_quota_stop(struct stack *, const struct allocation *, int64_t by);
void stack_quota_place(
	struct stack *, const struct job *, uint32_t group, struct resources resources);
// The name of the quota that has no room for one more instance of a group of the job, with a text (char *, to be freed)
// for each exhausted dimension. NULL: there is room, or no quota.
const char *stack_quota_lacks(struct stack *, uint32_t group, struct array *texts);
