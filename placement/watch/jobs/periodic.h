// Launches periodic jobs when they are due.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher periodic_watcher;
