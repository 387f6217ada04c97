#include "placement/watch/watchers.h"
#include "placement/watch/deployments/deployments.h"
#include "placement/watch/drains/drains.h"
#include "placement/watch/frame/watcher.h"
#include "placement/watch/jobs/periodic.h"
#include "placement/watch/jobs/region_jobs.h"
#include "placement/watch/nodes/disconnects.h"
#include "placement/watch/nodes/standings.h"
#include "placement/watch/nodes/suspended_nodes.h"
#include "placement/watch/vms.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/nodes/vm.h"
#include <stdlib.h>
#include <time.h>

// Longest sleep: the wall clock may be set during it.
#define REST_MAX_NS NS_PER_S
#define VM_INTERVAL_NS (5 * NS_PER_S)

// In the order in which they have their turns.
static const struct watcher *const of_this_region[] = {
	&deployment_watcher,
	&drain_watcher,
	&periodic_watcher,
	&disconnect_watcher,
	&suspended_nodes_watcher,
	&standing_watcher,
	&vm_watcher,
	NULL,
};
static const struct watcher *const of_all_regions[] = {&region_watcher, NULL};
#define WATCHERS_MAX (sizeof of_this_region / sizeof of_this_region[0])

struct watch {
	void *context;
	int64_t due_ns; // unix; watchers' thread only
	bool is_wanted; // under the mutex: something changed
};

struct watchers {
	struct watchers_settings settings;
	const struct watcher *const *table; // ends with NULL
	struct state_observer observer;
	struct submitter *submitter;
	struct prng prng;
	struct watch_tools tools;
	struct watch watches[WATCHERS_MAX];
	pthread_mutex_t mutex; // of what is wanted, and of the stats
	pthread_cond_t changed;
	struct watchers_stats stats;
	bool is_stopping; // under the mutex
	bool is_running;
	pthread_t thread;
};

static bool is_of_interest(
	const struct watcher *w, void *context, const struct state_change *changes, uint32_t count)
{
	bool wanted = false;

	for (uint32_t i = 0; i < count; i++)
		wanted |= w->changed(context, &changes[i]);
	return wanted;
}

static void observe_changes(
	void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct watchers *w = context;
	bool wanted[WATCHERS_MAX] = {false}, any = false;

	for (uint32_t i = 0; w->table[i]; i++) {
		wanted[i] = is_of_interest(w->table[i], w->watches[i].context, changes, count);
		any |= wanted[i];
	}
	if (!any)
		return;
	pthread_mutex_lock(&w->mutex);
	for (uint32_t i = 0; w->table[i]; i++)
		w->watches[i].is_wanted |= wanted[i];
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->mutex);
}

static bool take_wanted(struct watchers *w, struct watch *watch)
{
	pthread_mutex_lock(&w->mutex);
	bool wanted = watch->is_wanted;
	watch->is_wanted = false;
	pthread_mutex_unlock(&w->mutex);
	return wanted;
}

bool watchers_turn(struct watchers *w)
{
	bool done = false;

	for (uint32_t i = 0; w->table[i] && !submitter_is_stopping(w->submitter); i++) {
		struct watch *watch = &w->watches[i];
		int64_t now_ns = (int64_t)time_wall_ns(w->settings.time);
		if (take_wanted(w, watch) || now_ns >= watch->due_ns)
			watch->due_ns = w->table[i]->turn(watch->context, now_ns, &done);
	}
	return done;
}

static int64_t rest_ns(const struct watchers *w)
{
	int64_t now_ns = (int64_t)time_wall_ns(w->settings.time), rest_ns = REST_MAX_NS;

	for (uint32_t i = 0; w->table[i]; i++) {
		int64_t due_ns = w->watches[i].due_ns;
		if (due_ns - now_ns < rest_ns)
			rest_ns = due_ns > now_ns ? due_ns - now_ns : 0;
	}
	return rest_ns;
}

static bool is_anything_wanted(const struct watchers *w)
{
	for (uint32_t i = 0; w->table[i]; i++)
		if (w->watches[i].is_wanted)
			return true;
	return false;
}

// Waits until something changes or is due, or the watchers stop. False: they stop.
static bool watchers_rest(struct watchers *w)
{
	int64_t until_ns = (int64_t)time_monotonic_ns(w->settings.time) + rest_ns(w);
	struct timespec at = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};
	int waited = 0;

	pthread_mutex_lock(&w->mutex);
	while (waited == 0 && !w->is_stopping && !is_anything_wanted(w))
		waited = pthread_cond_timedwait(&w->changed, &w->mutex, &at);
	bool goes_on = !w->is_stopping;
	pthread_mutex_unlock(&w->mutex);
	return goes_on;
}

static void *watchers_main(void *context)
{
	struct watchers *w = context;

	do
		(void)watchers_turn(w);
	while (watchers_rest(w));
	return NULL;
}

void watchers_stats(struct watchers *w, struct watchers_stats *stats)
{
	pthread_mutex_lock(&w->mutex);
	*stats = w->stats;
	pthread_mutex_unlock(&w->mutex);
}

static void init_locks(struct watchers *w)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&w->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void init_tools(struct watchers *w)
{
	const struct watchers_settings *s = &w->settings;

	if (s->seed)
		prng_seed(&w->prng, s->seed);
	else
		prng_seed_from_system(&w->prng);
	w->submitter = submitter_create(&(struct submitter_settings){
		.queue = s->queue,
		.time = s->time,
		.step = s->step,
		.step_context = s->step_context,
	});
	w->tools = (struct watch_tools){
		.state = s->state,
		.submitter = w->submitter,
		.time = s->time,
		.prng = &w->prng,
		.node_ttl_ns = s->node_ttl_ns,
		.standing = standing_limits_or_defaults(&s->standing),
		.vm_offline_after_ns =
			s->vm_offline_after_ns ? s->vm_offline_after_ns : VM_OFFLINE_AFTER_NS,
		.vm_interval_ns = s->vm_interval_ns ? s->vm_interval_ns : VM_INTERVAL_NS,
		.peers = s->peers,
		.stats = &w->stats,
		.stats_mutex = &w->mutex,
		.step = s->step,
		.step_context = s->step_context,
	};
}

struct watchers *watchers_create(const struct watchers_settings *settings)
{
	struct watchers *w = memory_take(sizeof *w);

	w->settings = *settings;
	w->table = settings->peers ? of_all_regions : of_this_region;
	init_locks(w);
	init_tools(w);
	for (uint32_t i = 0; w->table[i]; i++)
		w->watches[i].context = w->table[i]->create(&w->tools);
	w->observer = (struct state_observer){.changed = observe_changes, .context = w};
	state_observe(settings->state, &w->observer);
	return w;
}

int watchers_start(struct watchers *w)
{
	for (uint32_t i = 0; w->table[i]; i++)
		w->table[i]->take_over(w->watches[i].context);
	if (w->settings.step)
		return 0;
	int error = -pthread_create(&w->thread, NULL, watchers_main, w);
	if (error != 0)
		return error;
	w->is_running = true;
	(void)pthread_setname_np(w->thread, w->settings.peers ? "regions" : "watchers");
	return 0;
}

void watchers_stop(struct watchers *w)
{
	submitter_stop(w->submitter);
	pthread_mutex_lock(&w->mutex);
	w->is_stopping = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->mutex);
}

void watchers_destroy(struct watchers *w)
{
	if (!w)
		return;
	watchers_stop(w);
	if (w->is_running)
		CHECK(pthread_join(w->thread, NULL) == 0);
	for (uint32_t i = 0; w->table[i]; i++)
		w->table[i]->destroy(w->watches[i].context);
	submitter_destroy(w->submitter);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
