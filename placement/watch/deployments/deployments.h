// Deployments that become healthy, are promoted, or fail.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher deployment_watcher;
