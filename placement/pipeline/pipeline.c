#include "placement/pipeline/pipeline.h"
#include "placement/direct/claims.h"
#include "placement/pipeline/core.h"
#include "placement/pipeline/desks.h"
#include "placement/pipeline/enabling.h"
#include "placement/pipeline/housekeeping.h"
#include "placement/pipeline/observer.h"
#include "placement/pipeline/pipeline_parts.h"
#include "placement/pipeline/scheduler_thread.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <sched.h>
#include <stdlib.h>

void pipeline_stats(struct pipeline *p, struct pipeline_stats *s)
{
	struct pipeline_counters *c = &p->counters;

	broker_stats(p->broker, &s->broker);
	blocked_stats(p->blocked, &s->blocked);
	s->plan_queue_depth = plan_queue_depth(p->plans);
	s->processed = atomic_load(&c->processed);
	s->nacked = atomic_load(&c->nacked);
	s->yielded = atomic_load(&c->yielded);
	s->plans_submitted = atomic_load(&c->plans_submitted);
	s->broken = atomic_load(&c->broken);
	s->plans_partial = atomic_load(&c->plans_partial);
	s->nodes_rejected = atomic_load(&c->nodes_rejected);
	timing_read(&c->dequeue, &s->dequeue);
	timing_read(&c->send_ack, &s->send_ack);
	timing_read(&c->wait_for_index, &s->wait_for_index);
	timing_read(&c->submit_plan, &s->submit_plan);
	timing_read(&c->update_eval, &s->update_eval);
	timing_read(&c->create_eval, &s->create_eval);
	timing_read(&c->reblock_eval, &s->reblock_eval);
	for (uint32_t t = 0; t < EVAL_TYPES; t++)
		timing_read(&c->invoke[t], &s->invoke[t]);
}

uint32_t pipeline_delayed(struct pipeline *p, struct broker_delayed *items, uint32_t room)
{
	return broker_delayed(p->broker, items, room);
}

uint32_t pipeline_reschedules(struct pipeline *p, struct reschedule_gauge gauges[RESCHEDULES_MAX])
{
	return reschedules_read(p->reschedules, time_monotonic_ns(p->settings.time), gauges);
}

static void fill_setting(int64_t *setting, int64_t usual)
{
	if (*setting == 0)
		*setting = usual;
}

static void fill_settings(struct pipeline_settings *s)
{
	fill_setting(&s->gc_interval_ns, 5 * NS_PER_MIN);
	fill_setting(&s->eval_gc_ns, NS_PER_HOUR);
	fill_setting(&s->batch_eval_gc_ns, 24 * NS_PER_HOUR);
	fill_setting(&s->job_gc_ns, 4 * NS_PER_HOUR);
	fill_setting(&s->node_gc_ns, 24 * NS_PER_HOUR);
	fill_setting(&s->deployment_gc_ns, NS_PER_HOUR);
	fill_setting(&s->acl_token_gc_ns, NS_PER_HOUR);
	fill_setting(&s->nack_timeout_ns, 60 * NS_PER_S);
	fill_setting(&s->pass_ns, 250 * NS_PER_MS);
}

static uint32_t processors_available(void)
{
	cpu_set_t may;

	if (sched_getaffinity(0, sizeof may, &may) != 0)
		return PIPELINE_THREADS_MAX; // more of them than a set holds
	return (uint32_t)CPU_COUNT(&may);
}

// More would only take turns, each with an index that has to be kept: the applier wants a processor of its own, for the
// plans that are on their way.
static uint32_t desks_wanted(const struct pipeline_settings *s)
{
	uint32_t wanted = s->deciding ? s->deciding : s->threads;
	uint32_t processors = s->processors ? s->processors : processors_available();
	uint32_t most = processors > 2 ? processors - 1 : 1;

	return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

static uint32_t threads_wanted(const struct pipeline_settings *s, uint32_t desks)
{
	uint32_t most = s->deciding ? pipeline_threads_for(desks) : PIPELINE_THREADS_MAX;

	return s->threads < 1 ? 1 : s->threads < most ? s->threads : most;
}

static void create_parts(struct pipeline *p)
{
	const struct pipeline_settings *s = &p->settings;

	p->desk_count = desks_wanted(s);
	p->thread_count = threads_wanted(s, p->desk_count);
	p->broker = broker_create(&(struct broker_settings){
		.time = s->time,
		.seed = s->seed,
		.nack_timeout_ns = s->nack_timeout_ns,
		.delivery_limit = PIPELINE_DELIVERY_LIMIT,
		.first_nack_delay_ns = NS_PER_S,
		.nack_delay_ns = 20 * NS_PER_S,
		.deciding_max = s->threads ? p->desk_count : 0,
	});
	p->blocked = blocked_create(p->broker, s->time);
	p->plans = plan_queue_create(s->queue);
	p->submitter = submitter_create(&(struct submitter_settings){
		.queue = s->queue,
		.plans = p->plans,
		.time = s->time,
		.step = s->step,
		.step_context = s->step_context,
	});
	p->housekeeping = housekeeping_create(p);
	p->reschedules = reschedules_create();
	p->claims = p->thread_count > 1 ? claims_create(s->state) : NULL;
	p->desks = desks_create(s->state, p->claims, p->desk_count);
	for (uint32_t i = 0; i < p->thread_count; i++)
		p->threads[i] = scheduler_thread_create(p, i);
}

// An operator who pauses the broker means at once.
static void pipeline_changed(
	void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct pipeline *p = context;

	for (uint32_t i = 0; i < count; i++)
		if (changes[i].table == STATE_SCHEDULER_CONFIG)
			housekeeping_kick(p->housekeeping);
	observe_changes(p, changes, count, index);
}

struct pipeline *pipeline_create(const struct pipeline_settings *settings)
{
	struct pipeline *p = memory_take(sizeof *p);

	CHECK(settings->threads <= PIPELINE_THREADS_MAX);
	CHECK(settings->threads == 0 || !settings->step);
	CHECK(settings->deciding <= settings->threads);
	p->settings = *settings;
	fill_settings(&p->settings);
	pthread_mutex_init(&p->mutex, NULL);
	pthread_mutex_init(&p->enabling, NULL);
	pthread_cond_init(&p->unpaused, NULL);
	create_parts(p);
	p->observer = (struct state_observer){.changed = pipeline_changed, .context = p};
	state_observe(p->settings.state, &p->observer);
	return p;
}

struct command *pipeline_next_plan(void *context)
{
	struct pipeline *p = context;
	return plan_queue_take(p->plans);
}

int pipeline_start(struct pipeline *p)
{
	const struct pipeline_settings *s = &p->settings;
	int error = 0;

	plan_queue_set_enabled(p->plans, true);
	(void)pipeline_follow_config(p);
	if (s->threads == 0)
		return 0;
	for (uint32_t i = 0; error == 0 && i < p->thread_count; i++)
		error = scheduler_thread_start(
			p->threads[i], s->cpus ? s->cpus[i % p->desk_count] : -1);
	return error == 0 ? housekeeping_start(p->housekeeping) : error;
}

void pipeline_stop(struct pipeline *p)
{
	submitter_stop(p->submitter);
	plan_queue_set_enabled(p->plans, false);
	pipeline_pause_threads(p, false);
	pipeline_disable_for_good(p);
	housekeeping_kick(p->housekeeping);
}

void pipeline_destroy(struct pipeline *p)
{
	if (!p)
		return;
	pipeline_stop(p);
	housekeeping_join(p->housekeeping);
	for (uint32_t i = 0; i < p->thread_count; i++) {
		scheduler_thread_join(p->threads[i]);
		scheduler_thread_destroy(p->threads[i]);
	}
	desks_destroy(p->desks);
	claims_destroy(p->claims);
	housekeeping_destroy(p->housekeeping);
	reschedules_destroy(p->reschedules);
	submitter_destroy(p->submitter);
	plan_queue_destroy(p->plans);
	blocked_destroy(p->blocked);
	broker_destroy(p->broker);
	pthread_cond_destroy(&p->unpaused);
	pthread_mutex_destroy(&p->enabling);
	pthread_mutex_destroy(&p->mutex);
	free(p);
}

bool pipeline_step(struct pipeline *p)
{
	bool did = housekeeping_turn(p->housekeeping);
	return scheduler_thread_turn(p->threads[0], 0) || did;
}

void pipeline_pause_threads(struct pipeline *p, bool paused)
{
	pthread_mutex_lock(&p->mutex);
	p->is_paused = paused;
	pthread_cond_broadcast(&p->unpaused);
	pthread_mutex_unlock(&p->mutex);
}
