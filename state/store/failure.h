// After a failed write of the log nobody knows which part of it the disk has: the kernel takes the pages for clean and
// would go on to show them. The store is marked, so that no start goes on as if nothing had been, and every start reads
// its files from the disk. For state/store only.
#pragma once
#include "state/store/complaint.h"

// Leaves the mark, as durably as the disk allows.
void failure_mark(const char *directory, int error);
// Returns 0, or -EIO and a sentence when a writer of the log left its mark in this directory.
int failure_check(const char *directory, const struct complaint *);
// Gives up the pages of the store's files that the kernel keeps, so that the next read asks the disk. Returns 0, or a
// negative error and a sentence: not all files could be listed.
int failure_forget_pages(const char *directory, const struct complaint *);
