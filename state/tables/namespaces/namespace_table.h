// Namespaces by name. For state/ only; readers use state_namespace().
#pragma once
#include "state/tables/kind.h"

extern const struct kind namespace_kind;

// Applier thread only. NULL: as state_namespace().
const struct job_namespace *namespace_working(const struct state *, struct text name);
bool namespace_is_there(const struct state *, struct text name);
// In older data a namespace is only the text in its jobs: with the first of them it is one. Here that comes from the
// log, or from a snapshot, where the index is that of the job's cell.
void namespace_make_for(struct state *, const struct job *);
void namespace_load_for(struct state *, const struct job *, uint64_t index);
