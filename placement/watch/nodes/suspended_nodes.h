// Suspended nodes: swept when their time is over.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher suspended_nodes_watcher;
