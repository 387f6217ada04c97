// The log in etcd as it came and went: kept in a file while a cluster is at work, since etcd forgets what all members
// have.
#pragma once
#include "state/cluster/keys.h"
#include "tests/cluster/log_source.h"
#include <stdbool.h>
#include <stdio.h>

// Writes what the log of a cluster has, then each change of it, until is_over says so; at last once more what it has.
// Begins anew where etcd was away for longer than it keeps changes. False: the file cannot be written, or etcd was
// not there at the end.
bool etcd_log_keep(struct etcd *, const char *cluster, FILE *, bool (*is_over)(void *unused));
// One change of a key, as the file has it. value NULL: it was deleted.
void etcd_log_put(FILE *, const char *key, const void *value, uint32_t size);
// Reads such a file: the whole batches in order, each as the last leader that wrote it left it. There may be holes.
int etcd_log_read(struct log_source *, const char *path, const struct complaint *);
