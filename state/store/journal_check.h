// Checks the structure of an LMDB file before LMDB maps it: LMDB trusts every number in its pages.
#pragma once
#include "state/store/complaint.h"

// path: LMDB's directory. Returns 0, or a negative error with a complaint.
int journal_check(const char *path, const struct complaint *);
