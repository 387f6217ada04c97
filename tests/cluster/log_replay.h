// Applies a log to an empty state, entry by entry with the functions that replay.c calls, and judges the state at each
// index. What the log holds of what clients are told goes to the verdict.
#pragma once
#include "tests/cluster/log_source.h"
#include "tests/cluster/verdict.h"

// Complains of the first index at which a node is over-committed, of what cannot be applied, and of what the finished
// state does not hold together. told: etcd's log (NULL: none): what leaders said in it of their state is compared.
void log_replay(struct verdict *, const struct log_source *, const struct log_source *told);
