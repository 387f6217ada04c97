// The whole daemon on a device that is silent, in a directory of its own. DPDK begins once in a process.
#pragma once
#include "tools/berthd/berthd.h"
#include "tools/berthd/daemon.h"

struct berthd *silent_daemon(const char *directory);
void silent_daemon_stop(struct berthd *);
