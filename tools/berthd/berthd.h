// Starts and stops all parts of the daemon, in order.
#pragma once
#include "tools/berthd/daemon.h"

#define BERTHD_MESSAGE_BYTES 512

// Opens the store and recovers; nothing runs yet. read_only: for --verify-state.
bool berthd_open(struct berthd *, bool read_only, char *message);
// Starts applier, schedulers, watchers, dataplane, API and snapshots. After a failure berthd_close stops all that was
// started.
bool berthd_start(struct berthd *, char *message);
// Stops in the reverse order and frees; skips parts that were never started.
void berthd_close(struct berthd *);

// Where the API of a daemon that was started is reached first, as a URL.
void berthd_url(const struct berthd *, char *url, uint32_t size);

// All of the program, from its command line on: reads its configuration, then starts everything, waits for a signal,
// stops everything. Once in a process. Returns its exit status.
int berthd_run(int argc, char **argv);

// Plans threads to cores for the configuration. Also fills the plan's problems.
bool berthd_plan(const struct config *, struct topology_plan *, char *message);
