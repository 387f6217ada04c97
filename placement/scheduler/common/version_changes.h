// Which groups of older versions of a job have to be replaced to become those of its newest: comparing two versions is
// much dearer than placing an instance, and thousands of allocations have the same two.
#pragma once
#include "state/records/job.h"

struct version_memo;
struct version_changes {
	struct version_memo *memos;
	uint32_t count;
};

// True when instances of a group of `now` that another version placed must be replaced (docs/spec/reconciler.md).
bool version_changes_group(
	struct version_changes *, const struct job *before, const struct job *now, uint32_t group);
void version_changes_release(struct version_changes *);
