// How the nodes of the cluster stand: counted, and logged when it changes.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher standing_watcher;

// How the nodes stand, as rows E27 and E28 count them: offlined and forgotten ones are in none of these.
struct node_standings {
	uint32_t healthy, free, running, suspended;
};
struct node_standings node_standings_of(const struct state_counts *);
