// A batch on its way into the log, from its end to its settlement.
#include "state/applier/applier_private.h"
#include "state/applier/journal_thread.h"
#include "state/base/check.h"
#include "state/tables/state.h"

// One block of the log. A larger batch takes its time, and somebody else may wait for the applier meanwhile.
#define ALONE_BYTES_MAX 4096u

bool applier_batch_has_work(const struct batch *batch)
{
	return batch->command_count > 0 || batch->header.entries > 0;
}

static void seal(struct applier *a, struct batch *batch)
{
	batch->header.indexes = (uint32_t)(a->state->index - batch->header.first_index + 1);
	batch->summary = state_summary_now(a->state);
	batch_seal(&batch->bytes, &batch->header);
}

// Closes the open batch and begins the next. Commands that only read or were refused need no log, but wait for the
// entries decided before them; those are durable when no batch is flying.
void applier_batch_launch(struct applier *a)
{
	struct batch *batch = a->open;

	CHECK(!a->flying);
	if (batch->header.entries == 0) {
		applier_batch_settle(a, batch);
		return;
	}
	seal(a, batch);
	a->flying = batch;
	applier_batch_begin(a, batch == &a->batches[0] ? &a->batches[1] : &a->batches[0]);
}

bool applier_flight_collect(struct applier *a)
{
	enum journal_thread_status status = journal_thread_status(a->journal);
	struct batch *batch = a->flying;

	if (!batch || status == JOURNAL_BUSY)
		return false;
	if (status != JOURNAL_DONE) { // the log failed, or we stop while it has no room
		a->has_failed = true;
		applier_batch_refuse(a, a->open); // never came near the log
		return true;
	}
	journal_thread_take_back(a->journal);
	a->flying = NULL;
	applier_batch_settle(a, batch);
	return true;
}

// Whether nobody but one small command waits.
static bool is_alone(const struct applier *a)
{
	return a->flying->command_count <= 1 && a->flying->bytes.size <= ALONE_BYTES_MAX &&
	       !a->held && a->taken_at == a->taken_count && !gc_is_going_on(&a->decider) &&
	       command_queue_depth(a->settings.queue) == 0;
}

static void settle_at_once(struct applier *a)
{
	applier_turn_begins(a);
	state_read_begin();
	a->has_answered |= applier_flight_collect(a);
	state_read_end();
	applier_turn_ends(a);
}

// While one batch is written the next is decided, which is what many commands want. A command that is alone wants its
// answer: without the journal's thread it waits for two wake-ups less. Where the batch before was not alone, more is
// likely to come. In a log of other machines it would be late for those who are to be sent away meanwhile.
void applier_flight_send(struct applier *a)
{
	bool was_alone = a->is_alone;

	if (!a->flying || journal_thread_status(a->journal) != JOURNAL_IDLE)
		return;
	a->is_alone = is_alone(a);
	if (was_alone && a->is_alone && !a->settings.log.is_remote) {
		journal_thread_write(a->journal, a->flying);
		settle_at_once(a);
	} else {
		journal_thread_hand_over(a->journal, a->flying);
	}
}
