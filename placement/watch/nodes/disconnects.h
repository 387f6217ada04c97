// Disconnected nodes, until nothing on them may reconnect.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher disconnect_watcher;
