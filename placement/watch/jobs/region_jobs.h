// Jobs of several regions: told to the others, and rolled out region by region.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher region_watcher;
