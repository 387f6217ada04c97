// The launcher of periodic jobs (rows B63, B64, docs/spec/watchers.md): a heap of their next launches. One command
// launches a job and notes that; the decider of that command checks whether an earlier child still lives.
#include "placement/watch/jobs/periodic.h"
#include "placement/broker/heap.h"
#include "placement/broker/lookup.h"
#include "placement/cron/cron.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/log/command.h"
#include "state/records/job_notes.h"
#include <stdlib.h>

#define RETRY_NS NS_PER_S
// Launches later than this are not made up one by one: one replaces all missed ones.
#define LATE_NS (60 * NS_PER_S)

struct launch {
	struct lookup_node by_name;
	char *namespace_name, *id;
	bool is_dirty;
	struct launch *next_dirty;
	// Watchers' thread only.
	struct heap_node by_time; // in the heap while the job is to launch
	int64_t next_ns;          // the time it launches for
	int64_t due_ns;           // when that is tried: later after a failure
	bool prohibit_overlap;
	struct launch_times *times;              // NULL: not read yet, or the job is not to launch
	uint64_t create_index, job_modify_index; // of the specification of the times
};

struct launcher {
	struct watch_tools tools;
	pthread_mutex_t mutex; // guards the table and the dirty list
	struct lookup launches;
	struct launch *dirty;
	struct heap due; // watchers' thread only
};

static bool sooner_of(const struct heap_node *a, const struct heap_node *b)
{
	return CONTAINER_OF(a, const struct launch, by_time)->due_ns <
	       CONTAINER_OF(b, const struct launch, by_time)->due_ns;
}

static void *periodic_create(const struct watch_tools *tools)
{
	struct launcher *l = memory_take(sizeof *l);

	l->tools = *tools;
	heap_init(&l->due, sooner_of);
	pthread_mutex_init(&l->mutex, NULL);
	return l;
}

static void free_launch(struct launch *launch)
{
	launch_times_free(launch->times);
	free(launch->namespace_name);
	free(launch->id);
	free(launch);
}

static void periodic_destroy(void *context)
{
	struct launcher *l = context;
	uint32_t bucket = 0;
	struct lookup_node *next;

	for (struct lookup_node *at = lookup_walk(&l->launches, &bucket, NULL); at; at = next) {
		next = lookup_walk(&l->launches, &bucket, at);
		free_launch(CONTAINER_OF(at, struct launch, by_name));
	}
	lookup_free(&l->launches);
	heap_free(&l->due);
	pthread_mutex_destroy(&l->mutex);
	free(l);
}

// Jobs with parameters get them with a dispatch (row B64).
static bool is_to_launch(const struct job *job)
{
	return job->periodic && job->periodic->enabled && !job->parameterized && !job->stop &&
	       !job->record.deleted;
}

static struct launch *find_launcher(const struct launcher *l, const struct job *job)
{
	uint64_t hash = hash_names(job->namespace_name, job->id);

	for (struct lookup_node *at = lookup_first(&l->launches, hash); at; at = lookup_next(at)) {
		struct launch *launch = CONTAINER_OF(at, struct launch, by_name);
		if (strcmp(launch->id, job->id) == 0 &&
			strcmp(launch->namespace_name, job->namespace_name) == 0)
			return launch;
	}
	return NULL;
}

static struct launch *add_launcher(struct launcher *l, const struct job *job)
{
	struct launch *launch = memory_take(sizeof *launch);

	launch->namespace_name = text_copy(text_of(job->namespace_name));
	launch->id = text_copy(text_of(job->id));
	lookup_add(&l->launches, &launch->by_name, hash_names(job->namespace_name, job->id));
	return launch;
}

static bool touch_job(struct launcher *l, struct launch *launch)
{
	if (!launch)
		return false;
	if (!launch->is_dirty) {
		launch->next_dirty = l->dirty;
		l->dirty = launch;
	}
	launch->is_dirty = true;
	return true;
}

static bool periodic_changed(void *context, const struct state_change *change)
{
	struct launcher *l = context;
	const struct job *job = (const struct job *)change->after;

	if (change->table != STATE_JOBS)
		return false;
	pthread_mutex_lock(&l->mutex);
	struct launch *launch = find_launcher(l, job);
	if (!launch && is_to_launch(job))
		launch = add_launcher(l, job);
	bool is_known = touch_job(l, launch);
	pthread_mutex_unlock(&l->mutex);
	return is_known;
}

static void schedule_job(struct launcher *l, struct launch *launch, int64_t next_ns, int64_t due_ns)
{
	if (heap_holds(&launch->by_time))
		heap_remove(&l->due, &launch->by_time);
	launch->next_ns = next_ns;
	launch->due_ns = due_ns;
	if (next_ns != CRON_NEVER)
		heap_push(&l->due, &launch->by_time);
}

static void forget_times(struct launcher *l, struct launch *launch)
{
	schedule_job(l, launch, CRON_NEVER, CRON_NEVER);
	launch_times_free(launch->times);
	launch->times = NULL;
}

// Reads the times of a specification that is not yet known. Returns whether it was new.
static bool read_times(struct launcher *l, struct launch *launch, const struct job *job)
{
	if (launch->times && launch->create_index == job->record.create_index &&
		launch->job_modify_index == job->job_modify_index)
		return false;
	forget_times(l, launch);
	launch->prohibit_overlap = job->periodic->prohibit_overlap;
	launch->create_index = job->record.create_index;
	launch->job_modify_index = job->job_modify_index;
	launch->times = launch_times_create(job->periodic);
	if (!launch->times) {
		char quoted[300];
		log_warn("periodic-times-unknown", "job=%s",
			log_quote(launch->id, quoted, sizeof quoted));
	}
	return launch->times != NULL;
}

// Returns false when the job is not to launch any more.
static bool look_at(struct launcher *l, struct launch *launch, int64_t now_ns)
{
	state_read_begin();
	const struct job *job =
		state_job(l->tools.state, text_of(launch->namespace_name), text_of(launch->id));
	bool is_to_be = job && is_to_launch(job);
	bool is_new = is_to_be && read_times(l, launch, job);
	state_read_end();
	if (!is_to_be)
		forget_times(l, launch);
	else if (is_new) {
		int64_t next_ns = launch_times_next(launch->times, now_ns);
		schedule_job(l, launch, next_ns, next_ns);
	}
	return is_to_be;
}

static void forget_job(struct launcher *l, struct launch *launch)
{
	pthread_mutex_lock(&l->mutex);
	bool is_gone = !launch->is_dirty; // else another look follows
	if (is_gone)
		lookup_remove(&l->launches, &launch->by_name);
	pthread_mutex_unlock(&l->mutex);
	if (is_gone)
		free_launch(launch);
}

static struct array take_dirty(struct launcher *l)
{
	struct array taken = {0};

	pthread_mutex_lock(&l->mutex);
	for (struct launch *launch = l->dirty; launch; launch = launch->next_dirty) {
		*(struct launch **)array_append(&taken, sizeof launch) = launch;
		launch->is_dirty = false;
	}
	l->dirty = NULL;
	pthread_mutex_unlock(&l->mutex);
	return taken;
}

static void settle_launch(struct launcher *l, int64_t now_ns)
{
	struct array taken = take_dirty(l);

	for (uint32_t i = 0; i < taken.count; i++) {
		struct launch *launch = *ARRAY_AT(&taken, struct launch *, i);
		if (!look_at(l, launch, now_ns))
			forget_job(l, launch);
	}
	free(taken.items);
	watch_gauge(&l->tools, &l->tools.stats->periodic_jobs, l->due.count);
}

#define LAUNCHED_AT_ONCE 128u

static struct command_job_child child_of(const struct launch *launch)
{
	return (struct command_job_child){
		.namespace_name = text_of(launch->namespace_name),
		.parent = text_of(launch->id),
		.launch_ns = launch->next_ns,
		.unless_one_is_alive = launch->prohibit_overlap,
	};
}

static void count_outcome(struct launcher *l, enum command_outcome outcome)
{
	struct watchers_stats *stats = l->tools.stats;

	if (outcome == OUTCOME_DONE)
		watch_count(&l->tools, &stats->periodic_launched, 1);
	else if (outcome == OUTCOME_NOT_NOW)
		watch_count(&l->tools, &stats->periodic_skipped, 1);
}

// After a launch that was made, skipped or refused for good: schedules the next time. Otherwise retries later.
static void finish_launch(
	struct launcher *l, struct launch *launch, enum command_outcome outcome, int64_t now_ns)
{
	bool is_full = outcome == OUTCOME_STORE_FULL || outcome == OUTCOME_TABLE_FULL ||
		       outcome == OUTCOME_STOPPING;
	int64_t next_ns = launch->next_ns, due_ns = now_ns + RETRY_NS;

	count_outcome(l, outcome);
	if (!is_full)
		due_ns = next_ns = launch_times_next(launch->times, launch->next_ns);
	schedule_job(l, launch, next_ns, due_ns);
}

// Takes due launches out of the heap.
static uint32_t take_due(struct launcher *l, int64_t now_ns, struct launch **due)
{
	uint32_t count = 0;
	struct heap_node *top;

	while (count < LAUNCHED_AT_ONCE && (top = heap_top(&l->due))) {
		struct launch *launch = CONTAINER_OF(top, struct launch, by_time);
		if (launch->due_ns > now_ns)
			break;
		heap_pop(&l->due);
		// One launch now stands for all missed ones.
		if (now_ns - launch->next_ns > LATE_NS)
			launch->next_ns = now_ns;
		due[count++] = launch;
	}
	return count;
}

static bool launch_due(struct launcher *l, int64_t now_ns)
{
	struct launch *due[LAUNCHED_AT_ONCE];
	uint32_t count = take_due(l, now_ns, due);
	struct array asks = {0}, commands = {0}, sent = {0};

	asks.items = memory_take_array(count, sizeof(struct command_job_child));
	commands.items = memory_take_array(count, sizeof(struct command));
	sent.items = memory_take_array(count, sizeof(struct command *));
	for (uint32_t i = 0; i < count; i++) {
		struct command_job_child *ask = ARRAY_AT(&asks, struct command_job_child, i);
		struct command *command = ARRAY_AT(&commands, struct command, i);
		*ask = child_of(due[i]);
		*command = (struct command){.type = COMMAND_JOB_CHILD, .job_child = ask};
		*ARRAY_AT(&sent, struct command *, i) = command;
	}
	watch_run_all(&l->tools, sent.items, count);
	for (uint32_t i = 0; i < count; i++)
		finish_launch(l, due[i], ARRAY_AT(&commands, struct command, i)->outcome, now_ns);
	free(asks.items);
	free(commands.items);
	free(sent.items);
	return count > 0;
}

static int64_t periodic_turn(void *context, int64_t now_ns, bool *done)
{
	struct launcher *l = context;

	settle_launch(l, now_ns);
	while (!submitter_is_stopping(l->tools.submitter) && launch_due(l, now_ns))
		*done = true;
	const struct heap_node *top = heap_top(&l->due);
	return top ? CONTAINER_OF(top, const struct launch, by_time)->due_ns : WATCH_NEVER;
}

// Launches at once if another launch was due since the last one, while no controller ran, or is due now: the next
// time is later. Before a specification was submitted it missed nothing, so its first launch counts from then.
static void recall_launch(struct launcher *l, struct launch *launch, const struct job *job,
	const struct job_notes *notes, int64_t now_ns)
{
	int64_t since_ns = notes ? notes->launched_ns : 0;
	if (since_ns < job->submit_time_ns)
		since_ns = job->submit_time_ns;
	int64_t missed_ns = launch_times_next(launch->times, since_ns);
	if (missed_ns <= now_ns)
		schedule_job(l, launch, now_ns, now_ns);
}

static void take_job_over(struct launcher *l, const struct job *job, int64_t now_ns)
{
	const struct job_notes *notes =
		state_job_notes(l->tools.state, text_of(job->namespace_name), text_of(job->id));

	pthread_mutex_lock(&l->mutex);
	struct launch *launch = find_launcher(l, job);
	if (!launch)
		launch = add_launcher(l, job);
	pthread_mutex_unlock(&l->mutex);
	if (!read_times(l, launch, job))
		return;
	int64_t next_ns = launch_times_next(launch->times, now_ns);
	schedule_job(l, launch, next_ns, next_ns);
	recall_launch(l, launch, job, notes, now_ns);
}

static void periodic_take_over(void *context)
{
	struct launcher *l = context;
	int64_t now_ns = (int64_t)time_wall_ns(l->tools.time);
	uint64_t cursor = 0;

	for (bool more = true; more;) {
		state_read_begin();
		for (uint32_t i = 0; i < 1024 && more; i++) {
			const struct job *job = state_next(l->tools.state, STATE_JOBS, &cursor);
			more = job != NULL;
			if (job && is_to_launch(job))
				take_job_over(l, job, now_ns);
		}
		state_read_end();
	}
	watch_gauge(&l->tools, &l->tools.stats->periodic_jobs, l->due.count);
}

const struct watcher periodic_watcher = {
	.name = "periodic",
	.create = periodic_create,
	.destroy = periodic_destroy,
	.take_over = periodic_take_over,
	.changed = periodic_changed,
	.turn = periodic_turn,
};
