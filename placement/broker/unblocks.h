// When room came last, and where: so that an evaluation whose decision is older than that is not put aside (row
// B49). Of classes and nodes and quotas; not thread-safe.
#pragma once
#include "state/base/time_source.h"
#include "state/records/evaluation.h"

// Nodes that are remembered. Past that everything is forgotten at once, and what was decided on an older state
// runs again: needless work then, but none is lost.
#define UNBLOCKED_NODES_MAX (256u * 1024)

struct unblocks;

struct unblocks *unblocks_create(const struct time_source *);
void unblocks_destroy(struct unblocks *);
void unblocks_of_class(struct unblocks *, const char *computed_class, uint64_t index);
void unblocks_of_quota(struct unblocks *, const char *quota, uint64_t index);
void unblocks_of_node(struct unblocks *, const struct uuid *, uint64_t index);
// Room came after the evaluation's snapshot index: on a class that it has not seen or that suits it (on any, when
// its class escaped); on its node; of its quota.
bool unblocks_missed_class(const struct unblocks *, const struct evaluation *);
bool unblocks_missed_node(const struct unblocks *, const struct evaluation *);
bool unblocks_missed_quota(const struct unblocks *, const struct evaluation *);
void unblocks_prune(struct unblocks *); // what is older than 15 minutes
void unblocks_forget(struct unblocks *);
