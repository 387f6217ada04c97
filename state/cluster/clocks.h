// Whose time of day is whose. Much is decided by the time of day: a leader that is an hour ahead forgets an hour
// early what has ended, and takes the requests of clients for old ones. So a member whose time is that of fewer
// members leaves the leadership to the others.
#pragma once
#include "state/cluster/cluster_status.h"

// As members say their time of day every CLOCK_TOLD_MS, two that are right differ by less.
#define CLOCK_TOLD_MS 10000u
#define CLOCK_APART_MS 60000

// Fills in how far the members' clocks are ahead of this one's, by what all of them said; of a member that is gone,
// what was known before.
void clocks_compare(struct cluster_member *, uint32_t count, const struct cluster_member *before,
	uint32_t before_count);
// Whether the time of another living member is that of more members than this one's is. Where as many say this as say
// that, nobody knows.
bool clock_is_odd(const struct cluster_member *, uint32_t count);
