#include "placement/broker/blocked.h"
#include "placement/broker/lookup.h"
#include "placement/broker/unblocks.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/list.h>

// The blocked evaluations of one job.
struct blocked_job {
	struct lookup_node by_name;
	char *namespace_name, *id;
	struct captive *wide;         // evaluation that waits for any node, or NULL
	struct cds_list_head members; // struct captive.of_job
};

struct captive {
	struct evaluation *eval;
	uint64_t token;
	int64_t cpu, memory_mb;
	struct blocked_job *job;
	struct lookup_node by_id, by_node; // by_node: when it waits for its node
	struct cds_list_head of_job;
	struct cds_list_head wide; // when it waits for any node
};

struct blocked {
	pthread_mutex_t mutex;
	struct broker *broker;
	bool is_enabled;
	struct lookup by_id, jobs, by_node;
	struct cds_list_head wide;
	struct unblocks *unblocks;
	struct cds_list_head duplicates; // struct captive.of_job
	struct blocked_stats stats;
};

static bool waits_for_node(const struct evaluation *e)
{
	return job_traits[e->type].is_on_every_node && !uuid_is_zero(&e->node_id);
}

static bool is_quota_limited(const struct evaluation *e)
{
	return text_of(e->quota_limit_reached).size > 0;
}

static struct captive *find_blocked(struct blocked *b, const struct uuid *id)
{
	struct lookup_node *n = lookup_first(&b->by_id, uuid_hash(id));

	while (n && !uuid_equal(&CONTAINER_OF(n, struct captive, by_id)->eval->id, id))
		n = lookup_next(n);
	return n ? CONTAINER_OF(n, struct captive, by_id) : NULL;
}

static bool is_of(const struct blocked_job *job, const char *namespace_name, const char *id)
{
	return text_equal(text_of(job->id), text_of(id)) &&
	       text_equal(text_of(job->namespace_name), text_of(namespace_name));
}

static struct blocked_job *find_job(struct blocked *b, const char *namespace_name, const char *id)
{
	struct lookup_node *n = lookup_first(&b->jobs, hash_names(namespace_name, id));

	while (n && !is_of(CONTAINER_OF(n, struct blocked_job, by_name), namespace_name, id))
		n = lookup_next(n);
	return n ? CONTAINER_OF(n, struct blocked_job, by_name) : NULL;
}

// The evaluation that waits for the same job, and for the same node if this one waits for a node.
static struct captive *find_rival(struct blocked *b, const struct evaluation *e)
{
	struct blocked_job *job = find_job(b, e->namespace_name, e->job_id);

	if (!job)
		return NULL;
	if (!waits_for_node(e))
		return job->wide;
	struct lookup_node *n = lookup_first(&b->by_node, uuid_hash(&e->node_id));
	for (; n; n = lookup_next(n)) {
		struct captive *c = CONTAINER_OF(n, struct captive, by_node);
		if (c->job == job && uuid_equal(&c->eval->node_id, &e->node_id))
			return c;
	}
	return NULL;
}

static struct blocked_job *join_job(struct blocked *b, const struct evaluation *e)
{
	struct blocked_job *job = find_job(b, e->namespace_name, e->job_id);

	if (job)
		return job;
	job = memory_take(sizeof *job);
	job->namespace_name = text_copy(text_of(e->namespace_name));
	job->id = text_copy(text_of(e->job_id));
	CDS_INIT_LIST_HEAD(&job->members);
	lookup_add(&b->jobs, &job->by_name, hash_names(job->namespace_name, job->id));
	return job;
}

static void leave_job(struct blocked *b, struct blocked_job *job)
{
	if (!cds_list_empty(&job->members))
		return;
	lookup_remove(&b->jobs, &job->by_name);
	free(job->namespace_name);
	free(job->id);
	free(job);
}

static void measure_time(struct captive *c)
{
	const struct array *groups = &c->eval->failed_groups;

	for (uint32_t g = 0; g < groups->count; g++) {
		const struct array *tasks =
			&ARRAY_AT(groups, struct failed_group, g)->metrics.resources_exhausted;
		for (uint32_t t = 0; t < tasks->count; t++) {
			const struct exhausted_resources *r =
				ARRAY_AT(tasks, struct exhausted_resources, t);
			c->cpu += r->cpu;
			c->memory_mb += r->memory_mb;
		}
	}
}

static void count_blocked(struct blocked *b, const struct captive *c, int by)
{
	b->stats.blocked += (uint32_t)by;
	b->stats.escaped += c->eval->escaped_computed_class ? (uint32_t)by : 0;
	b->stats.quota_limited += is_quota_limited(c->eval) ? (uint32_t)by : 0;
	b->stats.cpu += by * c->cpu;
	b->stats.memory_mb += by * c->memory_mb;
}

static struct captive *track(struct blocked *b, const struct evaluation *e, uint64_t token)
{
	struct captive *c = memory_take(sizeof *c);

	c->eval = evaluation_copy(e);
	c->token = token;
	c->job = join_job(b, e);
	measure_time(c);
	lookup_add(&b->by_id, &c->by_id, uuid_hash(&e->id));
	cds_list_add_tail(&c->of_job, &c->job->members);
	if (waits_for_node(e)) {
		lookup_add(&b->by_node, &c->by_node, uuid_hash(&e->node_id));
	} else {
		c->job->wide = c;
		cds_list_add_tail(&c->wide, &b->wide);
	}
	count_blocked(b, c, 1);
	return c;
}

static void untrack(struct blocked *b, struct captive *c)
{
	count_blocked(b, c, -1);
	lookup_remove(&b->by_id, &c->by_id);
	cds_list_del(&c->of_job);
	if (waits_for_node(c->eval)) {
		lookup_remove(&b->by_node, &c->by_node);
	} else {
		c->job->wide = NULL;
		cds_list_del(&c->wide);
	}
	leave_job(b, c->job);
	c->job = NULL;
}

static void discard(struct captive *c)
{
	evaluation_free(c->eval);
	free(c);
}

static void run_again(struct blocked *b, struct captive *c)
{
	untrack(b, c);
	broker_enqueue(b->broker, c->eval, c->token);
	discard(c);
}

static uint64_t newest_index(const struct evaluation *e)
{
	uint64_t created = e->record.create_index;
	return created > e->snapshot_index ? created : e->snapshot_index;
}

static void add_duplicate(struct blocked *b, struct evaluation *taken_over)
{
	struct captive *c = memory_take(sizeof *c);

	c->eval = taken_over;
	cds_list_add_tail(&c->of_job, &b->duplicates);
}

// B48: whether the new evaluation replaces its rival. False: the new one is the duplicate.
static bool prevails(struct blocked *b, const struct evaluation *e)
{
	struct captive *rival = find_rival(b, e);

	if (!rival)
		return true;
	if (newest_index(rival->eval) > newest_index(e)) {
		add_duplicate(b, evaluation_copy(e));
		return false;
	}
	untrack(b, rival);
	cds_list_add_tail(&rival->of_job, &b->duplicates);
	return true;
}

// B49: whether room came after the state that the evaluation was decided on.
static bool missed(struct blocked *b, const struct evaluation *e)
{
	if (is_quota_limited(e))
		return unblocks_missed_quota(b->unblocks, e);
	if (waits_for_node(e))
		return unblocks_missed_node(b->unblocks, e);
	return unblocks_missed_class(b->unblocks, e);
}

void blocked_add(struct blocked *b, const struct evaluation *e, uint64_t token)
{
	pthread_mutex_lock(&b->mutex);
	struct captive *same = find_blocked(b, &e->id);
	if (same) {
		untrack(b, same);
		discard(same);
	}
	if (b->is_enabled && prevails(b, e)) {
		if (missed(b, e))
			broker_enqueue(b->broker, e, token);
		else
			track(b, e, token);
	}
	pthread_mutex_unlock(&b->mutex);
}

bool blocked_has_equal(struct blocked *b, const struct evaluation *e)
{
	pthread_mutex_lock(&b->mutex);
	struct captive *rival = waits_for_node(e) ? find_rival(b, e) : NULL;
	bool equal = rival && rival->eval->job_modify_index == e->job_modify_index &&
		     rival->eval->priority == e->priority;
	pthread_mutex_unlock(&b->mutex);
	return equal;
}

// 1 or 0 for a class that it has seen, -1 for others.
static int64_t eligibility(const struct evaluation *e, const char *computed_class)
{
	const struct array *classes = &e->class_eligibility;

	for (uint32_t i = 0; i < classes->count; i++)
		if (strcmp(ARRAY_AT(classes, struct named_count, i)->name, computed_class) == 0)
			return ARRAY_AT(classes, struct named_count, i)->count;
	return -1;
}

// B50.
static bool may_fit(const struct evaluation *e, const char *computed_class)
{
	return e->escaped_computed_class || eligibility(e, computed_class) != 0;
}

void blocked_unblock_class(struct blocked *b, const char *computed_class, uint64_t index)
{
	struct captive *c, *next;

	pthread_mutex_lock(&b->mutex);
	if (b->is_enabled) {
		unblocks_of_class(b->unblocks, computed_class, index);
		cds_list_for_each_entry_safe (c, next, &b->wide, wide)
			if (may_fit(c->eval, computed_class))
				run_again(b, c);
	}
	pthread_mutex_unlock(&b->mutex);
}

void blocked_unblock_quota(struct blocked *b, const char *quota, uint64_t index)
{
	struct lookup_node *n, *next;
	uint32_t bucket;

	pthread_mutex_lock(&b->mutex);
	if (b->is_enabled)
		unblocks_of_quota(b->unblocks, quota, index);
	for (n = lookup_walk(&b->by_id, &bucket, NULL); n && b->stats.quota_limited > 0; n = next) {
		struct captive *c = CONTAINER_OF(n, struct captive, by_id);
		next = lookup_walk(&b->by_id, &bucket, n);
		if (is_quota_limited(c->eval) && strcmp(c->eval->quota_limit_reached, quota) == 0)
			run_again(b, c);
	}
	pthread_mutex_unlock(&b->mutex);
}

static void unblock_node(struct blocked *b, const struct uuid *node)
{
	struct lookup_node *n = lookup_first(&b->by_node, uuid_hash(node));

	while (n) {
		struct captive *c = CONTAINER_OF(n, struct captive, by_node);
		n = lookup_next(n);
		if (uuid_equal(&c->eval->node_id, node))
			run_again(b, c);
	}
}

void blocked_unblock_nodes(
	struct blocked *b, const struct uuid *nodes, uint32_t number, uint64_t index)
{
	pthread_mutex_lock(&b->mutex);
	for (uint32_t i = 0; b->is_enabled && i < number; i++) {
		unblocks_of_node(b->unblocks, &nodes[i], index);
		unblock_node(b, &nodes[i]);
	}
	pthread_mutex_unlock(&b->mutex);
}

void blocked_unblock_job(struct blocked *b, const char *namespace_name, const char *job_id)
{
	pthread_mutex_lock(&b->mutex);
	struct blocked_job *job = find_job(b, namespace_name, job_id);
	if (job && job->wide)
		run_again(b, job->wide);
	pthread_mutex_unlock(&b->mutex);
}

void blocked_unblock_failed(struct blocked *b)
{
	struct lookup_node *n, *next;
	uint32_t bucket;

	pthread_mutex_lock(&b->mutex);
	for (n = lookup_walk(&b->by_id, &bucket, NULL); n; n = next) {
		struct captive *c = CONTAINER_OF(n, struct captive, by_id);
		next = lookup_walk(&b->by_id, &bucket, n);
		if (c->eval->triggered_by == TRIGGER_MAX_PLAN_ATTEMPTS)
			run_again(b, c);
	}
	pthread_mutex_unlock(&b->mutex);
}

void blocked_untrack(struct blocked *b, const char *namespace_name, const char *job_id)
{
	pthread_mutex_lock(&b->mutex);
	struct blocked_job *job;
	while ((job = find_job(b, namespace_name, job_id))) {
		struct captive *c = cds_list_first_entry(&job->members, struct captive, of_job);
		untrack(b, c);
		discard(c);
	}
	pthread_mutex_unlock(&b->mutex);
}

void blocked_forget(struct blocked *b, const struct uuid *id)
{
	pthread_mutex_lock(&b->mutex);
	struct captive *c = find_blocked(b, id);
	if (c) {
		untrack(b, c);
		discard(c);
	}
	pthread_mutex_unlock(&b->mutex);
}

void blocked_prune(struct blocked *b)
{
	pthread_mutex_lock(&b->mutex);
	unblocks_prune(b->unblocks);
	pthread_mutex_unlock(&b->mutex);
}

bool blocked_has_duplicates(struct blocked *b)
{
	pthread_mutex_lock(&b->mutex);
	bool has = !cds_list_empty(&b->duplicates);
	pthread_mutex_unlock(&b->mutex);
	return has;
}

uint32_t blocked_take_duplicates(struct blocked *b, struct evaluation **evals, uint32_t room)
{
	struct captive *c, *next;
	uint32_t taken = 0;

	pthread_mutex_lock(&b->mutex);
	cds_list_for_each_entry_safe (c, next, &b->duplicates, of_job) {
		if (taken == room)
			break;
		cds_list_del(&c->of_job);
		evals[taken++] = c->eval;
		free(c);
	}
	pthread_mutex_unlock(&b->mutex);
	return taken;
}

void blocked_stats(struct blocked *b, struct blocked_stats *stats)
{
	pthread_mutex_lock(&b->mutex);
	*stats = b->stats;
	pthread_mutex_unlock(&b->mutex);
}

static void forget_all(struct blocked *b)
{
	struct lookup_node *n, *next;
	struct captive *c, *other;
	uint32_t bucket;

	for (n = lookup_walk(&b->by_id, &bucket, NULL); n; n = next) {
		next = lookup_walk(&b->by_id, &bucket, n);
		c = CONTAINER_OF(n, struct captive, by_id);
		untrack(b, c);
		discard(c);
	}
	cds_list_for_each_entry_safe (c, other, &b->duplicates, of_job)
		discard(c);
	CDS_INIT_LIST_HEAD(&b->duplicates);
	unblocks_forget(b->unblocks);
}

struct blocked *blocked_create(struct broker *broker, const struct time_source *time)
{
	struct blocked *b = memory_take(sizeof *b);

	pthread_mutex_init(&b->mutex, NULL);
	b->broker = broker;
	b->unblocks = unblocks_create(time);
	CDS_INIT_LIST_HEAD(&b->wide);
	CDS_INIT_LIST_HEAD(&b->duplicates);
	return b;
}

void blocked_destroy(struct blocked *b)
{
	if (!b)
		return;
	forget_all(b);
	lookup_free(&b->by_id);
	lookup_free(&b->jobs);
	lookup_free(&b->by_node);
	unblocks_destroy(b->unblocks);
	pthread_mutex_destroy(&b->mutex);
	free(b);
}

void blocked_set_enabled(struct blocked *b, bool enabled)
{
	pthread_mutex_lock(&b->mutex);
	if (b->is_enabled && !enabled)
		forget_all(b);
	b->is_enabled = enabled;
	pthread_mutex_unlock(&b->mutex);
}
