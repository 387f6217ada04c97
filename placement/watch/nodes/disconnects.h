// Disconnected nodes, until nothing of theirs may reconnect any more.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher disconnect_watcher;
