// Virtual machines: whether all are well, and workers for those that wait.
#pragma once
#include "placement/watch/frame/watcher.h"

extern const struct watcher vm_watcher;
