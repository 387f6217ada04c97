#include "state/store/journal_batch.h"
#include "state/base/error.h"

int journal_complain_damaged(const struct journal_walker *w, uint64_t index, const char *wrong)
{
	return complain(w->complaint, -ERROR_CORRUPT,
		"the log %s is damaged in the batch of index %lu: %s; %s", w->path, index, wrong,
		JOURNAL_REMEDY);
}

int journal_complain_gap(const struct journal_walker *w, uint64_t next)
{
	return complain(w->complaint, -ERROR_CORRUPT,
		"the log %s has no batch of index %lu: the next one begins at %lu; %s", w->path,
		w->expected, next, JOURNAL_REMEDY);
}
