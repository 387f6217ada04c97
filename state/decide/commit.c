// Puts decided entries into the open batch.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/decide/decide.h"

void decider_apply(struct decider *d, struct entry *e)
{
	CHECK(d->batch);
	e->time_ns = d->now_ns;
	entry_encode(e, &d->batch->bytes);
	CHECK(!d->batch->bytes.failed);
	d->batch->header.entries++;
	entry_apply(d->state, e);
}

int decider_commit(struct decider *d, struct entry *e)
{
	int error = entry_check(d->state, e);

	if (!error)
		decider_apply(d, e);
	return error;
}

int decider_put(struct decider *d, enum state_table kind, void *record)
{
	struct entry e = {.kind = ENTRY_RECORD_PUT, .record_put = {.kind = kind, .record = record}};

	return decider_commit(d, &e);
}

enum command_outcome outcome_of_error(int error)
{
	if (error == 0)
		return OUTCOME_DONE;
	return error == -ERROR_TABLE_FULL ? OUTCOME_TABLE_FULL : OUTCOME_BAD_DESCRIPTION;
}

enum command_outcome decider_store(struct decider *d, enum state_table kind, void *record)
{
	return d->store_is_full ? OUTCOME_STORE_FULL
				: outcome_of_error(decider_put(d, kind, record));
}

void decider_delete(struct decider *d, enum state_table kind, struct text name)
{
	struct entry e = {
		.kind = ENTRY_RECORD_DELETE, .record_delete = {.kind = kind, .name = name}};

	CHECK(decider_commit(d, &e) == 0);
}

void decider_delete_id(struct decider *d, enum state_table kind, const struct uuid *id)
{
	struct entry e = {.kind = ENTRY_RECORD_DELETE, .record_delete = {.kind = kind, .id = *id}};

	CHECK(decider_commit(d, &e) == 0);
}
