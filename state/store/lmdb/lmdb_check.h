// Checks the structure of an LMDB file before LMDB maps it: LMDB trusts every number in its pages.
#pragma once
#include "state/store/complaint.h"
#include <stdint.h>

// Returns 0 and the file's size, or a negative error with a complaint. Batches are not checked here.
int lmdb_check(const char *file, uint64_t *bytes, const struct complaint *);
