// Batches on their way into the log, from their end to their settlement, which is in their order.
#include "state/applier/applier_private.h"
#include "state/applier/journal_thread.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/tables/state.h"
#include <stdlib.h>

// One block of the log. A larger batch takes its time, and somebody else may wait for the applier meanwhile.
#define ALONE_BYTES_MAX 4096u
// Beside larger ones, a batch goes once it is worth a request of its own to those who keep the log.
#define WORTHY_BYTES (96u * 1024)
// What nobody waits for waits so long for something to go with, where each batch costs others a round.
#define PATIENCE_NS (100 * NS_PER_MS)

void applier_flights_create(struct applier *a)
{
	const struct applier_settings *s = &a->settings;

	a->journal_count = s->log.together ? s->log.together : 1;
	CHECK(a->journal_count <= FLIGHTS_MAX);
	for (uint32_t i = 0; i < a->journal_count; i++)
		a->journals[i] = journal_thread_create(
			s->log, s->time, s->queue, &a->counters, s->log_failed, s->context);
	for (uint32_t i = 0; i <= a->journal_count; i++)
		a->batches[i].bytes = bytes_writer_growing(64 * 1024);
}

void applier_flights_destroy(struct applier *a)
{
	for (uint32_t i = 0; i < a->journal_count; i++)
		journal_thread_destroy(a->journals[i]);
	for (uint32_t i = 0; i <= a->journal_count; i++) {
		bytes_writer_free(&a->batches[i].bytes);
		free(a->batches[i].changes.items);
	}
}

int applier_flights_start(struct applier *a)
{
	int error = 0;

	for (uint32_t i = 0; i < a->journal_count && !error; i++)
		error = journal_thread_start(a->journals[i]);
	return error;
}

void applier_flights_stop(struct applier *a)
{
	for (uint32_t i = 0; i < a->journal_count; i++)
		journal_thread_stop(a->journals[i]);
}

void applier_flights_deadline(struct applier *a, uint64_t monotonic_ns)
{
	for (uint32_t i = 0; i < a->journal_count; i++)
		journal_thread_deadline(a->journals[i], monotonic_ns);
}

bool applier_flights_have_no_room(const struct applier *a)
{
	bool has_no_room = false;

	for (uint32_t i = 0; i < a->journal_count; i++)
		has_no_room |= journal_thread_has_no_room(a->journals[i]);
	return has_no_room;
}

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

static uint32_t newest_place(const struct applier *a)
{
	CHECK(a->flight_count > 0);
	return (a->first_flight + a->flight_count - 1) % a->journal_count;
}

// A node goes on with what it told whether it is written now or a little later.
void applier_batch_note(struct applier *a, const struct command *c, bool had_none)
{
	bool is_patient = c && c->type == COMMAND_ALLOC_UPDATE && a->settings.log.is_remote;

	CHECK(c || !had_none);
	if (!is_patient)
		a->open_due_ns = 0;
	else if (had_none)
		a->open_due_ns = time_monotonic_ns(a->settings.time) + PATIENCE_NS;
}

static bool is_due(const struct applier *a)
{
	return a->open_due_ns == 0 || atomic_load(&a->is_stopping) ||
	       applier_batch_is_closed(a->open) ||
	       time_monotonic_ns(a->settings.time) >= a->open_due_ns;
}

uint32_t applier_batch_nap_us(const struct applier *a, uint32_t most_us)
{
	uint64_t now_ns = time_monotonic_ns(a->settings.time);

	if (a->open_due_ns <= now_ns)
		return most_us;
	uint64_t left_us = (a->open_due_ns - now_ns) / 1000 + 1;
	return left_us < most_us ? (uint32_t)left_us : most_us;
}

// Commands that only read or were refused need no log, but wait for the entries decided before them. Where little is
// going on nobody waits for who came before; where much is, batches that wait become larger, which is cheaper.
bool applier_batch_may_launch(const struct applier *a)
{
	const struct batch *open = a->open;

	if (!is_due(a))
		return false;
	if (a->flight_count == 0)
		return applier_batch_has_work(open);
	if (a->flight_count == a->journal_count || open->header.entries == 0)
		return false;
	if (applier_batch_is_closed(open) || open->bytes.size >= WORTHY_BYTES)
		return true;
	return open->bytes.size <= ALONE_BYTES_MAX &&
	       a->flights[newest_place(a)]->bytes.size <= ALONE_BYTES_MAX;
}

// The batches take turns, one more than can be on their way.
static struct batch *batch_after(struct applier *a, const struct batch *batch)
{
	uint32_t next = (uint32_t)(batch - a->batches) + 1;
	return &a->batches[next <= a->journal_count ? next : 0];
}

void applier_batch_launch(struct applier *a)
{
	struct batch *batch = a->open;

	CHECK(a->flight_count < a->journal_count);
	if (batch->header.entries == 0) {
		CHECK(a->flight_count == 0);
		applier_batch_settle(a, batch);
		return;
	}
	seal(a, batch);
	a->flight_count++;
	a->flights[newest_place(a)] = batch;
	applier_batch_begin(a, batch_after(a, batch));
}

static void settle_oldest(struct applier *a)
{
	struct batch *batch = a->flights[a->first_flight];

	CHECK(a->flight_count > 0);
	a->first_flight = (a->first_flight + 1) % a->journal_count;
	a->flight_count--;
	applier_batch_settle(a, batch);
}

int applier_flight_append(struct applier *a)
{
	int error =
		journal_thread_append(a->journals[a->first_flight], a->flights[a->first_flight]);

	if (error == 0)
		settle_oldest(a);
	return error;
}

bool applier_flight_collect(struct applier *a)
{
	bool has_settled = false;

	while (a->flight_count > 0) {
		struct journal_thread *journal = a->journals[a->first_flight];
		enum journal_thread_status status = journal_thread_status(journal);
		if (status == JOURNAL_BUSY)
			break;
		if (status != JOURNAL_DONE) { // the log failed, or we stop while it has no room
			a->has_failed = true;
			applier_batch_refuse(a, a->open); // never came near the log
			return true;
		}
		journal_thread_take_back(journal);
		settle_oldest(a);
		has_settled = true;
	}
	return has_settled;
}

// Whether nobody but one small command waits.
static bool is_alone(const struct applier *a)
{
	const struct batch *newest = a->flights[newest_place(a)];

	return a->flight_count == 1 && newest->command_count <= 1 &&
	       newest->bytes.size <= ALONE_BYTES_MAX && !a->held && a->taken_at == a->taken_count &&
	       !gc_is_going_on(&a->decider) && command_queue_depth(a->settings.queue) == 0;
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

	if (a->flight_count == 0)
		return;
	struct journal_thread *journal = a->journals[newest_place(a)];
	const struct batch *newest = a->flights[newest_place(a)];
	if (journal_thread_status(journal) != JOURNAL_IDLE)
		return;
	a->is_alone = is_alone(a);
	if (was_alone && a->is_alone && !a->settings.log.is_remote) {
		journal_thread_write(journal, newest);
		settle_at_once(a);
	} else {
		journal_thread_hand_over(journal, newest);
	}
}

void applier_flights_refuse(struct applier *a)
{
	for (uint32_t i = 0; i < a->flight_count; i++)
		applier_batch_refuse(a, a->flights[(a->first_flight + i) % a->journal_count]);
}

void applier_flight_wait(struct applier *a)
{
	CHECK(a->flight_count > 0);
	journal_thread_wait(a->journals[a->first_flight]);
}

uint64_t applier_append_began_ns(const struct applier *a)
{
	uint64_t oldest_ns = 0;

	for (uint32_t i = 0; i < a->journal_count; i++) {
		uint64_t began_ns = journal_thread_began_ns(a->journals[i]);
		if (began_ns != 0 && (oldest_ns == 0 || began_ns < oldest_ns))
			oldest_ns = began_ns;
	}
	return oldest_ns;
}
