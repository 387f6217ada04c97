// How the nodes of the cluster stand: counted, and logged when it changes.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher standing_watcher;

// The standing of the nodes, by rows E27 and E28: offlined and forgotten nodes are in no count.
struct node_standings {
	uint32_t healthy, free, running, suspended;
};
struct node_standings node_standings_of(const struct state_counts *);
