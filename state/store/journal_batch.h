// A batch as the log has it, and the walk over all of them. For the files of the log.
#pragma once
#include "state/store/complaint.h"
#include <stdint.h>

struct journal_batch {
	uint64_t first_index;
	uint32_t entries, size;
	const void *data; // valid during the call
};

typedef int journal_visit(void *context, const struct journal_batch *);

struct journal_walker {
	const char *path; // of the log
	journal_visit *visit;
	void *context;
	const struct complaint *complaint;
	uint64_t expected; // index of the next batch
};

// What to do about a damaged log.
#define JOURNAL_REMEDY                                                                           \
	"restore the whole store directory from a copy, or move the log away to start from the " \
	"newest snapshot without what came after it"

// The refusals of a log: the batch of this index is damaged; the next one is not the expected one.
int journal_complain_damaged(const struct journal_walker *, uint64_t index, const char *wrong);
int journal_complain_gap(const struct journal_walker *, uint64_t next);
