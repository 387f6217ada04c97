#include "placement/pipeline/delivery.h"
#include "placement/direct/claims.h"
#include "placement/pipeline/housekeeping.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct delivery {
	struct pipeline *pipeline;
	struct uuid eval;
	char *job_id, *namespace_name; // for log lines
	uint64_t token;
	_Atomic uint32_t references; // one of the scheduler thread, one per sent command
	_Atomic int error;           // the first
	uint64_t dropped_seen;       // as in delivery_end()
};

struct delivery_command {
	struct command command;
	struct delivery *delivery;
	uint64_t began_ns;
	uint32_t count;
	uint32_t store; // enum delivery_store
	struct evaluation *items[];
};

struct delivery *delivery_begin(struct pipeline *p, const struct evaluation *eval, uint64_t token)
{
	struct delivery *d = memory_take(sizeof *d);

	d->pipeline = p;
	d->eval = eval->id;
	d->job_id = text_copy(text_of(eval->job_id));
	d->namespace_name = text_copy(text_of(eval->namespace_name));
	d->token = token;
	d->references = 1;
	return d;
}

static void note_error(struct delivery *d, int error)
{
	int none = 0;

	if (error != 0)
		(void)atomic_compare_exchange_strong(&d->error, &none, error);
}

static int tell_broker(const struct delivery *d, int outcome)
{
	struct pipeline *p = d->pipeline;

	if (outcome == -ERROR_YIELDED)
		return broker_yield(p->broker, &d->eval, d->token, state_index(p->settings.state));
	return outcome == 0 ? broker_ack(p->broker, &d->eval, d->token)
			    : broker_nack(p->broker, &d->eval, d->token);
}

static const char *outcome_name(int outcome)
{
	return outcome == 0 ? "ack" : outcome == -ERROR_YIELDED ? "yield" : "nack";
}

// What became of the delivery, and, in vain, of telling the broker.
static void log_answer(const struct delivery *d, int outcome, int error)
{
	char id[UUID_TEXT_BYTES];

	uuid_format(&d->eval, id);
	log_debug("evaluation-answered", "eval=%s job=%s namespace=%s answer=%s", id, d->job_id,
		d->namespace_name, outcome_name(outcome));
	bool is_stopping = submitter_is_stopping(d->pipeline->submitter);
	if (outcome != 0 && outcome != -ERROR_YIELDED)
		LOG_AT(is_stopping ? LOG_DEBUG : LOG_WARN, "evaluation-nacked",
			"eval=%s job=%s namespace=%s error=\"%s\"", id, d->job_id,
			d->namespace_name, error_text(outcome));
	if (error != 0 && !is_stopping)
		log_warn("evaluation-not-answered",
			"eval=%s job=%s namespace=%s answer=%s error=\"%s\"", id, d->job_id,
			d->namespace_name, outcome_name(outcome), broker_error_text(error));
}

// By now the blocked evaluation is tracked: claims that are given back from now on find it.
static void look_again_for_room(const struct delivery *d, int outcome)
{
	struct pipeline *p = d->pipeline;

	if (outcome == 0 && p->claims && claims_dropped(p->claims) != d->dropped_seen)
		blocked_unblock_job(p->blocked, d->namespace_name, d->job_id);
}

// B14: best effort. After a lost ack the nack timer redelivers.
static void delivery_answer(struct delivery *d)
{
	struct pipeline *p = d->pipeline;
	const struct time_source *time = p->settings.time;
	uint64_t began_ns = time_monotonic_ns(time);
	int outcome = atomic_load(&d->error);
	look_again_for_room(d, outcome);
	int error = tell_broker(d, outcome);

	timing_add(&p->counters.send_ack, time, began_ns);
	if (outcome == -ERROR_YIELDED)
		atomic_fetch_add(&p->counters.yielded, 1);
	else
		atomic_fetch_add(outcome == 0 ? &p->counters.processed : &p->counters.nacked, 1);
	log_answer(d, outcome, error);
	// A nack has a timer of its own; after an ack there is seldom anything to do, and to wake a thread takes time.
	if (outcome == 0)
		housekeeping_look(p->housekeeping);
	else
		housekeeping_kick(p->housekeeping);
}

static void delivery_release(struct delivery *d)
{
	if (atomic_fetch_sub(&d->references, 1) != 1)
		return;
	delivery_answer(d);
	free(d->job_id);
	free(d->namespace_name);
	free(d);
}

static void command_free(struct delivery_command *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		evaluation_free(c->items[i]); // those that were not taken over
	free(c);
}

static void note_outcome(const struct delivery_command *c, int error)
{
	char id[UUID_TEXT_BYTES];

	if (c->store & DELIVERY_NEEDS)
		note_error(c->delivery, error);
	else if (error != 0 && error != -ERROR_STOPPING)
		log_warn("evaluations-given-up", "eval=%s count=%u error=\"%s\"",
			uuid_format(&c->delivery->eval, id), c->count, error_text(error));
}

static void delivery_stored(struct command *command)
{
	struct delivery_command *c = command->context;
	struct delivery *d = c->delivery;

	if (c->store & DELIVERY_UPDATES)
		timing_add(&d->pipeline->counters.update_eval, d->pipeline->settings.time,
			c->began_ns);
	note_outcome(c, outcome_error(command->outcome));
	command_free(c);
	delivery_release(d);
}

int delivery_store(struct delivery *d, struct evaluation **evals, uint32_t count, uint32_t store)
{
	struct pipeline *p = d->pipeline;
	struct delivery_command *c = memory_take(sizeof *c + count * sizeof(struct evaluation *));

	memcpy(c->items, evals, count * sizeof(struct evaluation *));
	c->count = count;
	c->store = store;
	c->delivery = d;
	c->began_ns = time_monotonic_ns(p->settings.time);
	c->command = (struct command){
		.type = COMMAND_EVALUATIONS,
		.evaluations = {.items = c->items, .count = count},
		.done = delivery_stored,
		.context = c,
	};
	atomic_fetch_add(&d->references, 1);
	int error = submitter_send(p->submitter, &c->command);
	if (error != 0) {
		note_outcome(c, error);
		command_free(c);
		delivery_release(d);
	}
	return store & DELIVERY_NEEDS ? error : 0;
}

void delivery_end(struct delivery *d, int error, uint64_t dropped_seen)
{
	d->dropped_seen = dropped_seen;
	note_error(d, error);
	delivery_release(d);
}
