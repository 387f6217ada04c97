// Draining nodes: which allocations leave next, and when the node is empty.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher drain_watcher;
