// Two real servers of one cluster in this process: a leader, and one that follows it. Each has a state of its own, so
// that an answer shows whose it is.
#pragma once
#include "tests/tools/api/server.h"

extern struct server *leader, *follower;

// cmocka's set-up and tear-down. What waits for a leader waits so long in these tests.
#define PAIR_HOLD_MS 300u
int pair_begin(void **);
int pair_end(void **);

// As things are from now on: the leader leads, and the follower knows it.
void pair_is_well(void);
// What a member knows: of its role, and of a leader at this URL; NULL: of none.
struct cluster_status pair_status(enum cluster_role, const char *leader_url, uint64_t term);
// The URL of a server.
const char *pair_url(const struct server *, char text[static 64]);
// A number of a server's metrics, with its labels, as Prometheus reads it.
uint64_t pair_metric(struct server *, const char *name);
