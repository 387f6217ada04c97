// Remembers which groups of a job replace their instances between two versions. Comparing two versions costs much more
// than placing an instance, and thousands of allocations share the same two.
#pragma once
#include "state/records/job.h"

struct version_memo;
struct version_changes {
	struct version_memo *memos;
	uint32_t count;
};

// True when instances of the group that version `before` placed must be replaced to become those of `now`
// (docs/spec/reconciler.md).
bool version_changes_group(
	struct version_changes *, const struct job *before, const struct job *now, uint32_t group);
void version_changes_release(struct version_changes *);
