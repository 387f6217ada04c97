#include "state/applier/applier_private.h"
#include "state/applier/journal_thread.h"
#include "state/apply/replay.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/decide/decide.h"
#include "state/records/nodes/vm.h"
#include "state/tables/placer.h"
#include "state/tables/publish.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "state/tables/widener.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

// A batch is closed at half of its limit, so that one more large command does not exceed it.
#define BATCH_CLOSE_BYTES (BATCH_BYTES_MAX / 2)
// What an empty batch keeps of the memory for its bytes.
#define BATCH_BYTES_KEPT ((size_t)256 * 1024)
#define NAP_US 100000u
// A plan is taken when no other command waits, and at the latest after this many other commands.
#define COMMANDS_PER_PLAN 64u
// Nodes of one piece of what placement puts off until nothing waits: a fraction of a millisecond.
#define CATCH_UP_NODES 1024u
// Agents of one node that take turns are clones when they do so within that; of nodes that beat so often.
#define CLONE_WINDOW_NS (10 * NS_PER_MIN)
#define CLONE_BEAT_NS (5 * NS_PER_S)

void applier_batch_begin(struct applier *a, struct batch *batch)
{
	batch->bytes.size = 0;
	batch->bytes.failed = false;
	bytes_put_zeros(&batch->bytes, BATCH_HEADER_BYTES);
	batch->header = (struct batch_header){.first_index = a->state->index + 1};
	batch->command_count = 0;
	a->open = batch;
	a->decider.batch = batch;
	a->state->changes = &batch->changes;
	a->state->unpublished_from = a->state->index + 1;
	a->open_due_ns = 0;
}

// Six heartbeats without an answer take two times to live.
static struct clones *create_clones(const struct applier_settings *settings)
{
	int64_t beat_ns = settings->beat_ns ? settings->beat_ns : CLONE_BEAT_NS;
	struct clone_limits limits = {
		.soon_ns = 6 * beat_ns, .window_ns = CLONE_WINDOW_NS + 6 * beat_ns};

	CHECK(settings->state->slots_max > 0);
	return clones_create(&limits, settings->state->slots_max);
}

struct applier *applier_create(const struct applier_settings *settings)
{
	struct applier *a = memory_take(sizeof *a);

	a->settings = *settings;
	a->state = settings->state;
	applier_flights_create(a);
	a->decider.state = a->state;
	a->decider.placer = &a->settings.placer;
	a->decider.registrations = registrations_create();
	a->decider.rejections = rejections_create(&settings->rejections);
	a->decider.clones = create_clones(settings);
	a->decider.collect_after_ms = settings->collect_after_ms;
	a->decider.beat_ns = settings->beat_ns;
	a->decider.standing = standing_limits_or_defaults(&settings->standing);
	a->decider.admissions.knows_all = settings->admits_known;
	a->decider.vm_offline_after_ns =
		settings->vm_offline_after_ns ? settings->vm_offline_after_ns : VM_OFFLINE_AFTER_NS;
	a->decider.plan_changes_max =
		settings->plan_changes_max ? settings->plan_changes_max : PLAN_CHANGES_MAX;
	a->decider.counters = &a->counters;
	if (settings->seed)
		prng_seed(&a->decider.prng, settings->seed);
	else
		prng_seed_from_system(&a->decider.prng);
	applier_batch_begin(a, &a->batches[0]);
	return a;
}

void applier_destroy(struct applier *a)
{
	if (!a)
		return;
	CHECK(!a->is_running);
	a->state->changes = NULL;
	a->state->placer = NULL;
	applier_flights_destroy(a);
	registrations_destroy(a->decider.registrations);
	rejections_free(a->decider.rejections);
	clones_free(a->decider.clones);
	admissions_release(&a->decider.admissions);
	free(a);
}

const struct applier_counters *applier_counters(const struct applier *a)
{
	return &a->counters;
}

static void latency_measure(
	struct applier *a, uint64_t since_ns, _Atomic uint64_t histogram[32], _Atomic uint64_t *sum)
{
	uint64_t us = (time_monotonic_ns(a->settings.time) - since_ns) / 1000;
	uint32_t bucket = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;

	atomic_fetch_add_explicit(&histogram[bucket < 32 ? bucket : 31], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(sum, us, memory_order_relaxed);
}

static void command_finish(struct applier *a, struct command *c)
{
	atomic_fetch_add_explicit(
		&a->counters.outcomes[c->type][c->outcome], 1, memory_order_relaxed);
	if (c->type == COMMAND_PLACE)
		latency_measure(
			a, c->submitted_ns, a->counters.place_us, &a->counters.place_us_sum);
	else if (c->type == COMMAND_PLAN)
		latency_measure(
			a, c->submitted_ns, a->counters.apply_us, &a->counters.apply_us_sum);
	c->done(c);
}

static void command_refuse(struct applier *a, struct command *c)
{
	c->outcome = OUTCOME_STOPPING;
	command_finish(a, c);
}

// apply_us of a plan counts from its decision; its submitter knows how long it waited.
static void decide_one(struct applier *a, struct command *c)
{
	bool is_plan = c->type == COMMAND_PLAN;
	uint64_t began_ns = is_plan ? time_monotonic_ns(a->settings.time) : 0;

	decide(&a->decider, c);
	if (!is_plan)
		return;
	latency_measure(a, began_ns, a->counters.evaluate_us, &a->counters.evaluate_us_sum);
	c->submitted_ns = time_monotonic_ns(a->settings.time);
}

bool applier_batch_is_closed(const struct batch *batch)
{
	return batch->command_count == BATCH_COMMANDS_MAX || batch->bytes.size >= BATCH_CLOSE_BYTES;
}

// The batch is durable (or changed nothing): publishes it, then completes its commands.
void applier_batch_settle(struct applier *a, struct batch *batch)
{
	if (batch->header.entries > 0)
		state_publish(a->state, &batch->changes,
			batch->header.first_index + batch->header.indexes - 1, &batch->summary);
	else
		state_bury(a->state);
	for (uint32_t i = 0; i < batch->command_count; i++)
		command_finish(a, batch->commands[i]);
	batch->command_count = 0;
	if (batch->header.entries > 0)
		bytes_writer_shrink(&batch->bytes, BATCH_BYTES_KEPT);
}

static struct command *next_plan(struct applier *a)
{
	a->since_plan = 0;
	return a->settings.next_plan ? a->settings.next_plan(a->settings.plan_context) : NULL;
}

static struct command *next_command(struct applier *a)
{
	if (a->taken_at == a->taken_count) {
		a->taken_at = 0;
		a->taken_count = command_queue_take(a->settings.queue, a->taken, TAKE_MAX);
	}
	return a->taken_at < a->taken_count ? a->taken[a->taken_at++] : NULL;
}

static struct command *next_work(struct applier *a)
{
	struct command *c = a->held;

	a->held = NULL;
	if (!c && a->since_plan >= COMMANDS_PER_PLAN)
		c = next_plan(a);
	if (!c) {
		c = next_command(a);
		a->since_plan += c != NULL;
	}
	return c ? c : next_plan(a);
}

// Whether a plan adds so many allocations that the tables' chains would slow it down: it waits for more buckets.
static bool must_be_held(struct applier *a, const struct command *c)
{
	if (c->type != COMMAND_PLAN)
		return false;
	uint32_t placements = c->plan.plan->placements.count, most = a->decider.plan_changes_max;
	return tables_lack(a->state, placements < most ? placements : most);
}

// Counts as work even when it found nothing: more may be left to look at.
static uint32_t collect_garbage(struct applier *a)
{
	struct command *finished = gc_continue(&a->decider);

	if (finished)
		a->open->commands[a->open->command_count++] = finished;
	return 1;
}

// To ask the file system takes longer than most decisions. While a batch is on its way and no command waits, what was
// found when it was decided still says enough.
static void look_for_room(struct applier *a)
{
	struct decider *d = &a->decider;

	if (a->flight_count > 0 && command_queue_depth(a->settings.queue) == 0)
		return;
	d->store_room = a->settings.log.room_bytes(a->settings.log.context) - STORE_RESERVE_BYTES;
	d->store_is_full = applier_flights_have_no_room(a) || d->store_room < 0;
}

static uint32_t decide_waiting(struct applier *a)
{
	struct decider *d = &a->decider;
	struct command *c;
	uint32_t count = 0;
	bool was_held = a->held != NULL;

	uint32_t entries = a->open->header.entries;

	d->now_ns = (int64_t)time_wall_ns(a->settings.time);
	look_for_room(a);
	if (d->is_collecting &&
		!applier_batch_has_work(a->open)) // one piece per batch: no command waits long
		decider_collect(d);
	decider_marks(d);
	if (gc_is_going_on(d) && !applier_batch_has_work(a->open))
		count += collect_garbage(a);
	if (decider_judges_nodes(d) && !applier_batch_has_work(a->open)) {
		decider_judge_nodes(d);
		count++; // more may be left to look at
	}
	if (a->open->header.entries > entries)
		applier_batch_note(a, NULL, false);
	while (!applier_batch_is_closed(a->open) && (c = next_work(a))) {
		if (!was_held && must_be_held(a, c)) {
			a->held = c;
			break;
		}
		was_held = false;
		count++;
		if (applier_sends_away(a, c)) {
			command_finish(a, c);
			continue;
		}
		if (c->type == COMMAND_GC && gc_begin(d, c))
			continue;
		bool had_none = !applier_batch_has_work(a->open);
		decide_one(a, c);
		applier_batch_note(a, c, had_none);
		// This answer depends on no entry, so it need not wait for a log without room.
		if (c->outcome == OUTCOME_STORE_FULL)
			command_finish(a, c);
		else
			a->open->commands[a->open->command_count++] = c;
	}
	return count;
}

// Widens the tables without the thread for it. They wait while the caller is in a read section.
static void widen_here(struct applier *a)
{
	if (!state_is_reading() && tables_want(a->state))
		tables_widen(a->state);
}

static uint32_t step(struct applier *a)
{
	state_read_begin();
	uint32_t count = decide_waiting(a);
	if (a->flight_count == 0 && applier_batch_has_work(a->open))
		applier_batch_launch(a);
	while (a->flight_count > 0) {
		int error = applier_flight_append(a);
		if (error && error != -ENOSPC) {
			a->has_failed = true;
			a->settings.log_failed(a->settings.context, error);
		}
		if (error)
			break;
		if (applier_batch_has_work(a->open))
			applier_batch_launch(a);
	}
	state_read_end();
	widen_here(a);
	return count;
}

uint32_t applier_step(struct applier *a)
{
	uint32_t count = a->has_failed ? 0 : step(a);

	while (a->held && !a->has_failed)
		count += step(a);
	return count;
}

void applier_batch_refuse(struct applier *a, struct batch *batch)
{
	for (uint32_t i = 0; i < batch->command_count; i++)
		command_refuse(a, batch->commands[i]);
	batch->command_count = 0;
}

// Everything that was not acknowledged is refused; its entries are never published.
static void refuse_all(struct applier *a)
{
	struct command *c;

	applier_flights_refuse(a);
	applier_batch_refuse(a, a->open);
	while ((c = gc_abandon(&a->decider)))
		command_refuse(a, c);
	while ((c = next_command(a)))
		command_refuse(a, c);
	if (a->held)
		command_refuse(a, a->held);
	a->held = NULL;
}

// After a failure only commands that never reached the log are answered; the others wait for the end.
static bool refuse_waiting(struct applier *a)
{
	struct command *c = next_command(a);

	if (c)
		command_refuse(a, c);
	return c != NULL;
}

static bool applier_turn(struct applier *a)
{
	if (a->has_failed)
		return refuse_waiting(a);
	bool is_busy = decide_waiting(a) > 0;

	is_busy |= applier_flight_collect(a);
	if (!a->has_failed && applier_batch_may_launch(a)) {
		applier_batch_launch(a);
		is_busy = true;
	}
	return is_busy;
}

static bool is_drained(struct applier *a)
{
	return !gc_is_going_on(&a->decider) && a->flight_count == 0 &&
	       !applier_batch_has_work(a->open) && !a->held && a->taken_at == a->taken_count &&
	       command_queue_depth(a->settings.queue) == 0;
}

static bool is_over(struct applier *a)
{
	if (a->has_failed)
		return atomic_load(&a->is_stopping);
	if (!atomic_load(&a->is_stopping))
		return false;
	bool is_late = time_monotonic_ns(a->settings.time) >= atomic_load(&a->stop_deadline_ns);
	// A flight is waited for: whether it is durable must be known.
	return is_drained(a) || (is_late && a->flight_count == 0);
}

// The time until the next mark is due, NAP_US at most.
static uint32_t nap_us(const struct applier *a)
{
	const struct decider *d = &a->decider;
	int64_t due_ns = INT64_MAX;

	if (!cds_list_empty(&a->state->marked))
		due_ns = d->marks_due_ns;
	if (!cds_list_empty(&a->state->marked_urgently) && d->urgent_due_ns < due_ns)
		due_ns = d->urgent_due_ns;
	int64_t left_ns = due_ns - (int64_t)time_wall_ns(a->settings.time);
	if (left_ns >= NAP_US * NS_PER_US)
		return NAP_US;
	return left_ns > NS_PER_MS ? (uint32_t)(left_ns / 1000) : 1000;
}

bool applier_placer_catches_up(struct applier *a, uint32_t nodes)
{
	const struct placer *placer = &a->settings.placer;
	return placer->catch_up && placer->catch_up(placer->context, nodes);
}

// Who got an answer often asks again at once: after one the applier looks for a moment before it sleeps.
static void wait_for_work(struct applier *a)
{
	bool has_answered = a->has_answered;

	a->has_answered = false;
	if (a->flight_count > 0 && applier_batch_is_closed(a->open) && !a->has_failed)
		applier_flight_wait(a);
	else if (!has_answered || !command_queue_watch(a->settings.queue))
		command_queue_wait(a->settings.queue, applier_batch_nap_us(a, nap_us(a)));
}

static void *applier_run(void *argument)
{
	struct applier *a = argument;

	while (!is_over(a)) {
		applier_turn_begins(a);
		state_read_begin();
		bool is_busy = applier_turn(a) || applier_placer_catches_up(a, CATCH_UP_NODES);
		state_read_end();
		applier_turn_ends(a);
		applier_flight_send(a);
		if (tables_want(a->state))
			widener_kick(a->widener);
		if (a->held && !applier_batch_is_closed(a->open)) {
			widener_finish(a->widener);
			continue;
		}
		if (!is_busy)
			wait_for_work(a);
	}
	state_read_begin();
	refuse_all(a);
	state_read_end();
	return NULL;
}

static void pin(struct applier *a, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	int error = pthread_setaffinity_np(a->thread, sizeof set, &set);
	if (error)
		log_warn("applier-not-pinned", "cpu=%d error=\"%s\"", cpu, error_text(-error));
}

int applier_start(struct applier *a, int cpu)
{
	int error = widener_start(a->state, &a->widener);
	if (error)
		return error;
	error = applier_flights_start(a);
	if (!error)
		error = -CAN_REFUSE(
			APPLIER_THREAD, pthread_create(&a->thread, NULL, applier_run, a));
	if (error) {
		applier_flights_stop(a);
		widener_stop(a->widener);
		return error;
	}
	a->is_running = true;
	(void)pthread_setname_np(a->thread, "applier");
	if (cpu >= 0)
		pin(a, cpu);
	return 0;
}

void applier_stop(struct applier *a, uint32_t drain_ms)
{
	uint64_t deadline = time_monotonic_ns(a->settings.time) + drain_ms * NS_PER_MS;

	if (!a->is_running) {
		state_read_begin();
		refuse_all(a);
		state_read_end();
		return;
	}
	atomic_store(&a->stop_deadline_ns, deadline);
	applier_flights_deadline(a, deadline);
	atomic_store(&a->is_stopping, true);
	command_queue_kick(a->settings.queue);
	CHECK(pthread_join(a->thread, NULL) == 0);
	a->is_running = false;
	applier_flights_stop(a);
	widener_stop(a->widener);
}

int applier_replay(struct applier *a, uint64_t first_index, struct replay_batch *batch)
{
	state_read_begin();
	int error = replay_batch_apply(batch, a->state, first_index);
	state_read_end();
	widen_here(a);
	return error;
}
