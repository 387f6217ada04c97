// The whole daemon on a device that is silent, in a directory of its own, for a group of tests: DPDK begins once in a
// process.
#pragma once
#include "tools/berthd/berthd.h"
#include "tools/berthd/daemon.h"

// After so long a lost node is forgotten.
#define SILENT_DAEMON_LOST_MS 300u

// Its settings and keys; the directory that holds its data, which silent_daemon_end removes.
const char *silent_daemon_configure(struct berthd *);
// Set-up and tear-down of cmocka; the daemon is the state of the tests.
int silent_daemon_begin(void **state);
int silent_daemon_end(void **state);
