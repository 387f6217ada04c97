// What snapshots hold of virtual machines, of their workers and of the settings of their placement. Each is its
// indexes, and then the record as described in vm.c.
#pragma once
#include "state/base/bytes.h"
#include "state/tables/tables.h"

// The version that was newest at index, encoded; false: there was none.
bool vm_item_encode(const struct vm_cell *, uint64_t index, struct bytes_writer *);
bool vm_worker_item_encode(const struct vm_worker_cell *, uint64_t index, struct bytes_writer *);
bool cluster_settings_item_encode(const struct state *, uint64_t index, struct bytes_writer *);
// Each returns 0, -ERROR_CORRUPT, -ERROR_VERSION or -ERROR_TABLE_FULL.
int vm_item_load(struct state *, struct bytes_reader *);
int vm_worker_item_load(struct state *, struct bytes_reader *);
int cluster_settings_item_load(struct state *, struct bytes_reader *);
