// A log of the first version: batches in an LMDB environment (lmdb_format.c). It is read and never written.
#pragma once
#include "state/store/journal_batch.h"
#include <stdint.h>

struct lmdb_log;

// Checks the structure of the file before LMDB maps it. Caller closes.
int lmdb_log_open(const char *file, struct lmdb_log **, const struct complaint *);
void lmdb_log_close(struct lmdb_log *); // NULL is allowed
// Index of the first batch, 0 when there is none.
uint64_t lmdb_log_first_index(const struct lmdb_log *);
uint64_t lmdb_log_bytes(const struct lmdb_log *); // of the file
// Visits each batch from w->expected on, which a batch must begin at or the newest end before.
int lmdb_log_walk(const struct lmdb_log *, struct journal_walker *);
