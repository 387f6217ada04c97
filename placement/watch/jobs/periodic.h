// Periodic jobs: each is launched when it is due.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher periodic_watcher;
