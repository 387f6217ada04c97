// The region watcher (rows C37–C41, docs/spec/watchers.md): submits a job submitted here to the other regions, stops
// it there when it is stopped everywhere, and advances this region's deployment when those of the others have come
// far enough. Asks the others repeatedly while a rollout is active, so that a region may be away or restart
// meanwhile. Runs on a thread of its own.
#include "placement/watch/jobs/region_jobs.h"
#include "placement/broker/lookup.h"
#include "placement/job_check/job_region.h"
#include "placement/watch/jobs/peers.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/deployment.h"
#include <stdlib.h>
#include <sys/queue.h>

#define READ_AT_ONCE 1024u
// How long other regions are told of a job or of its stop; later, whoever wants it there submits it again.
#define TELL_NS (3600ll * NS_PER_S)

struct region_job {
	struct lookup_node by_name;
	LIST_ENTRY(region_job) others;
	char *namespace_name, *id;
	int64_t due_ns;
	char *rollout;      // submission that the members below are about
	int64_t stopped_ns; // likewise, of a job to be stopped everywhere
	bool *has;          // by region: it has the job, or knows of the stop
	uint32_t regions;
};
LIST_HEAD(region_jobs, region_job);

struct noted_job {
	char *namespace_name, *id;
};

struct region_watch {
	const struct watch_tools *tools;
	pthread_mutex_t mutex; // of what is noted
	struct noted_job *noted;
	uint32_t noted_count, noted_room;
	struct lookup by_name;
	struct region_jobs jobs;
};

static bool note_job(struct region_watch *x, const char *namespace_name, const char *id)
{
	pthread_mutex_lock(&x->mutex);
	if (x->noted_count == x->noted_room) {
		x->noted_room = x->noted_room ? 2 * x->noted_room : 16;
		x->noted = memory_resize(x->noted, x->noted_room * sizeof *x->noted);
	}
	x->noted[x->noted_count++] =
		(struct noted_job){text_copy(text_of(namespace_name)), text_copy(text_of(id))};
	pthread_mutex_unlock(&x->mutex);
	return true;
}

static bool region_jobs_changed(void *context, const struct state_change *c)
{
	if (c->after->deleted)
		return false;
	if (c->table == STATE_JOBS) {
		const struct job *job = (const struct job *)c->after;
		return job->multiregion && note_job(context, job->namespace_name, job->id);
	}
	if (c->table == STATE_DEPLOYMENTS) {
		const struct deployment *d = (const struct deployment *)c->after;
		return d->is_multiregion && note_job(context, d->namespace_name, d->job_id);
	}
	return false;
}

static void region_jobs_take_over(void *context)
{
	struct region_watch *x = context;
	uint64_t cursor = 0;

	for (bool more = true; more;) {
		state_read_begin();
		for (uint32_t i = 0; i < READ_AT_ONCE && more; i++) {
			const struct job *job = state_next(x->tools->state, STATE_JOBS, &cursor);
			more = job != NULL;
			if (job && job->multiregion)
				(void)note_job(x, job->namespace_name, job->id);
		}
		state_read_end();
	}
}

static struct region_job *find_rollout(
	struct region_watch *x, const char *namespace_name, const char *id)
{
	struct lookup_node *n = lookup_first(&x->by_name, hash_names(namespace_name, id));

	for (; n; n = lookup_next(n)) {
		struct region_job *j = CONTAINER_OF(n, struct region_job, by_name);
		if (strcmp(j->id, id) == 0 && strcmp(j->namespace_name, namespace_name) == 0)
			return j;
	}
	return NULL;
}

static void drop_rollout(struct region_watch *x, struct region_job *j)
{
	LIST_REMOVE(j, others);
	lookup_remove(&x->by_name, &j->by_name);
	free(j->namespace_name);
	free(j->id);
	free(j->rollout);
	free(j->has);
	free(j);
}

// Takes the names over.
static void add_rollout(struct region_watch *x, struct noted_job *noted)
{
	struct region_job *j = find_rollout(x, noted->namespace_name, noted->id);

	if (j) {
		j->due_ns = 0;
		free(noted->namespace_name);
		free(noted->id);
		return;
	}
	j = memory_take(sizeof *j);
	j->namespace_name = noted->namespace_name;
	j->id = noted->id;
	lookup_add(&x->by_name, &j->by_name, hash_names(j->namespace_name, j->id));
	LIST_INSERT_HEAD(&x->jobs, j, others);
}

static void take_noted(struct region_watch *x)
{
	pthread_mutex_lock(&x->mutex);
	struct noted_job *noted = x->noted;
	uint32_t count = x->noted_count;
	x->noted = NULL;
	x->noted_count = x->noted_room = 0;
	pthread_mutex_unlock(&x->mutex);
	for (uint32_t i = 0; i < count; i++)
		add_rollout(x, &noted[i]);
	free(noted);
}

static void begin_rollout(struct region_job *j, const struct job *job)
{
	int64_t stopped_ns = job->stop ? job->multiregion->stop_everywhere_ns : 0;

	if (j->rollout && strcmp(j->rollout, job->multiregion->rollout) == 0 &&
		j->stopped_ns == stopped_ns)
		return;
	free(j->rollout);
	free(j->has);
	j->rollout = text_copy(text_of(job->multiregion->rollout));
	j->stopped_ns = stopped_ns;
	j->regions = job->multiregion->regions.count;
	j->has = memory_take_array(j->regions, sizeof *j->has);
}

struct region_standing {
	struct job *job; // a copy; NULL: nothing is to be done
	uint32_t self;
	struct uuid deployment; // active one of the newest version; zero: none
	int status;
};

static struct region_standing read_standing(
	const struct region_watch *x, const struct region_job *j)
{
	const struct state *state = x->tools->state;
	struct region_standing s = {.job = NULL};

	state_read_begin();
	const struct job *job = state_job(state, text_of(j->namespace_name), text_of(j->id));
	bool is_told =
		job && job->multiregion && (!job->stop || job->multiregion->stop_everywhere_ns);
	int self = is_told ? job_region_index(job, x->tools->peers->region) : -1;
	if (self >= 0 && job->multiregion->rollout && *job->multiregion->rollout) {
		const struct deployment *d =
			state_latest_deployment(state, text_of(j->namespace_name), text_of(j->id));
		s.job = job_copy(job);
		s.self = (uint32_t)self;
		if (d && !job->stop && d->is_multiregion && deployment_is_active(d) &&
			d->job_version == job->version &&
			d->job_create_index == job->record.create_index) {
			s.deployment = d->id;
			s.status = d->status;
		}
	}
	state_read_end();
	return s;
}

static const char *region_name(const struct job *job, uint32_t i)
{
	return ARRAY_AT(&job->multiregion->regions, struct job_region, i)->name;
}

// Tells the region of the job or its stop. True: the region knows.
static bool tell_region(struct region_watch *x, const struct job *job, uint32_t i)
{
	const struct peers *peers = x->tools->peers;
	char id[128], region[64];
	int error =
		(job->stop ? peers->stop : peers->submit)(peers->context, region_name(job, i), job);

	log_quote(job->id, id, sizeof id);
	log_quote(region_name(job, i), region, sizeof region);
	watch_count(x->tools, &x->tools->stats->regions_told, error == 0);
	watch_count(x->tools, &x->tools->stats->regions_refused, error != 0);
	if (error == 0)
		log_info("region-told", "job=%s region=%s stop=%d", id, region, job->stop);
	else
		log_warn("region-not-told", "job=%s region=%s stop=%d action=\"trying again\"", id,
			region, job->stop);
	return error == 0;
}

static bool may_tell(const struct job *job, int64_t now_ns)
{
	const char *submission = job->multiregion->submission;
	return submission && *submission && now_ns - job->submit_time_ns < TELL_NS;
}

static bool all_have_it(const struct region_job *j, uint32_t self)
{
	for (uint32_t i = 0; i < j->regions; i++)
		if (i != self && !j->has[i])
			return false;
	return true;
}

// Asks the regions; those that have the job only while our own deployment waits for them.
static void ask_others(struct region_watch *x, struct region_job *j,
	const struct region_standing *s, int *seen, int64_t now_ns)
{
	const struct peers *peers = x->tools->peers;
	bool is_active = !uuid_is_zero(&s->deployment);

	for (uint32_t i = 0; i < j->regions; i++) {
		seen[i] = REGION_UNKNOWN;
		if (i == s->self || (j->has[i] && !is_active))
			continue;
		seen[i] = peers->deployment(peers->context, region_name(s->job, i),
			j->namespace_name, j->id, j->rollout);
		j->has[i] |= seen[i] < DEPLOYMENT_STATUSES;
		if (seen[i] == REGION_ABSENT && may_tell(s->job, now_ns))
			(void)tell_region(x, s->job, i);
	}
	seen[s->self] = s->status;
}

static bool take_step(
	struct region_watch *x, const struct region_standing *s, enum region_step step)
{
	static const struct {
		enum deployment_action action;
		const char *description, *verb;
	} steps[] = {
		[REGION_RUN] = {DEPLOYMENT_RUN, NULL, "run"},
		[REGION_UNBLOCK] = {DEPLOYMENT_UNBLOCK, NULL, "unblock"},
		[REGION_FAIL] = {DEPLOYMENT_FAIL, DEPLOYMENT_TEXT_FAILED_BY_PEER, "fail"},
	};
	struct command_deployment change = {
		.id = s->deployment,
		.action = steps[step].action,
		.description = steps[step].description,
		.revert = step == REGION_FAIL,
	};
	struct command command = {.type = COMMAND_DEPLOYMENT, .deployment = &change};
	char id[UUID_TEXT_BYTES];

	if (watch_run(x->tools, &command) != 0)
		return false;
	watch_count(x->tools, &x->tools->stats->region_steps, 1);
	log_info("region-step", "deployment=%s step=%s", uuid_format(&s->deployment, id),
		steps[step].verb);
	return true;
}

static bool step_rollout(struct region_watch *x, const struct region_standing *s, const int *seen)
{
	const struct region_strategy *strategy = s->job->multiregion->strategy;
	struct rollout rollout = {
		.seen = seen,
		.count = s->job->multiregion->regions.count,
		.max_parallel = strategy ? strategy->max_parallel : 0,
		.on_failure = strategy ? strategy->on_failure : NULL,
	};
	enum region_step step = region_next_step(&rollout, s->self);

	return step != REGION_WAIT && take_step(x, s, step);
}

// Purges the job once the others know, or the time to tell them is over. False: try again.
static bool purge_here(struct region_watch *x, const struct region_job *j, int64_t eval_priority)
{
	struct command command = {.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.namespace_name = text_of(j->namespace_name),
			.id = text_of(j->id),
			.purge = true,
			.before_ns = j->stopped_ns,
			.eval_priority = eval_priority}};

	return watch_run(x->tools, &command) == 0;
}

// True when the stop goes on.
static bool tell_of_stop(struct region_watch *x, struct region_job *j,
	const struct region_standing *s, int64_t now_ns)
{
	bool in_time = now_ns - j->stopped_ns < TELL_NS;

	for (uint32_t i = 0; i < j->regions && in_time; i++)
		if (i != s->self && !j->has[i])
			j->has[i] = tell_region(x, s->job, i);
	if (in_time && !all_have_it(j, s->self))
		return true;
	const struct multiregion *m = s->job->multiregion;
	return m->purge_everywhere && !purge_here(x, j, m->eval_priority);
}

static bool look_at_rollout(struct region_watch *x, struct region_job *j,
	const struct region_standing *s, int64_t now_ns, bool *done)
{
	bool is_active = !uuid_is_zero(&s->deployment);

	if (!is_active && (!may_tell(s->job, now_ns) || all_have_it(j, s->self)))
		return false;
	int *seen = memory_take_array(j->regions, sizeof *seen);
	ask_others(x, j, s, seen, now_ns);
	if (is_active)
		*done |= step_rollout(x, s, seen);
	free(seen);
	return true;
}

// True while the rollout or stop goes on.
static bool look_at(struct region_watch *x, struct region_job *j, int64_t now_ns, bool *done)
{
	struct region_standing s = read_standing(x, j);

	if (!s.job)
		return false;
	begin_rollout(j, s.job);
	bool goes_on = s.job->stop ? tell_of_stop(x, j, &s, now_ns)
				   : look_at_rollout(x, j, &s, now_ns, done);
	job_free(s.job);
	return goes_on;
}

static int64_t region_jobs_turn(void *context, int64_t now_ns, bool *done)
{
	struct region_watch *x = context;
	int64_t next_ns = WATCH_NEVER;

	take_noted(x);
	for (struct region_job *j = LIST_FIRST(&x->jobs), *next; j; j = next) {
		next = LIST_NEXT(j, others);
		if (j->due_ns <= now_ns && !submitter_is_stopping(x->tools->submitter)) {
			if (!look_at(x, j, now_ns, done)) {
				drop_rollout(x, j);
				continue;
			}
			j->due_ns = now_ns + x->tools->peers->poll_ns;
		}
		next_ns = j->due_ns < next_ns ? j->due_ns : next_ns;
	}
	watch_gauge(x->tools, &x->tools->stats->rollouts_watched, x->by_name.count);
	return next_ns;
}

static void *region_jobs_create(const struct watch_tools *tools)
{
	struct region_watch *x = memory_take(sizeof *x);

	x->tools = tools;
	pthread_mutex_init(&x->mutex, NULL);
	LIST_INIT(&x->jobs);
	return x;
}

static void region_jobs_destroy(void *context)
{
	struct region_watch *x = context;

	take_noted(x);
	while (!LIST_EMPTY(&x->jobs))
		drop_rollout(x, LIST_FIRST(&x->jobs));
	lookup_free(&x->by_name);
	pthread_mutex_destroy(&x->mutex);
	free(x);
}

const struct watcher region_watcher = {
	.name = "regions",
	.create = region_jobs_create,
	.destroy = region_jobs_destroy,
	.take_over = region_jobs_take_over,
	.changed = region_jobs_changed,
	.turn = region_jobs_turn,
};
