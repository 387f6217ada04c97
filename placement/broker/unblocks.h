// When and where room came last, so that an evaluation decided on an older state is not blocked (row B49). By class
// and node; not thread-safe.
#pragma once
#include "state/base/time_source.h"
#include "state/records/evaluation.h"

// Nodes remembered. At the limit all are forgotten at once, and evaluations decided on an older state run again:
// needless work, but none is lost.
#define UNBLOCKED_NODES_MAX (256u * 1024)

struct unblocks;

struct unblocks *unblocks_create(const struct time_source *);
void unblocks_destroy(struct unblocks *);
void unblocks_of_class(struct unblocks *, const char *computed_class, uint64_t index);
void unblocks_of_quota(struct unblocks *, const char *quota, uint64_t index);
void unblocks_of_node(struct unblocks *, const struct uuid *, uint64_t index);
// Whether room came after the evaluation's snapshot index: on a class that it has not seen or that suits it (any
// class, if its class escaped); on its node.
bool unblocks_missed_class(const struct unblocks *, const struct evaluation *);
// Room of the quota that it waits for.
bool unblocks_missed_quota(const struct unblocks *, const struct evaluation *);
bool unblocks_missed_node(const struct unblocks *, const struct evaluation *);
void unblocks_prune(struct unblocks *); // older than 15 minutes
void unblocks_forget(struct unblocks *);
