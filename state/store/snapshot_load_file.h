// Puts a snapshot file back: one thread reads, checks and decodes, and the calling thread fills the tables.
#pragma once
#include "state/snapshot/snapshot_view.h"
#include "state/store/snapshot_file.h"

// Between snapshot_load_begin and snapshot_load_end. Returns the error of the first item that cannot be put back, or
// what snapshot_read_file returns, when every item before it is.
int snapshot_load_file(struct snapshot_load *, const char *path, struct snapshot_info *);
