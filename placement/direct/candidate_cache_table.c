#include "placement/direct/candidate_cache_table.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <sys/queue.h>

#define BUCKETS 4096u

struct entry {
	LIST_ENTRY(entry) in_bucket;
	TAILQ_ENTRY(entry) in_use_order;
	const struct job *job;
	uint32_t group;
	struct candidate_cache *cache;
};

LIST_HEAD(bucket, entry);
TAILQ_HEAD(use_order, entry);

struct candidate_cache_table {
	struct fit_index *index;
	struct candidate_source source;
	uint32_t count;
	struct use_order used; // the most recently used first
	struct bucket buckets[BUCKETS];
};

// All groups of a job share a bucket, so that forgetting the job searches one bucket.
static struct bucket *bucket_of(struct candidate_cache_table *t, const struct job *job)
{
	uint64_t hash = (uint64_t)(uintptr_t)job * 0x9e3779b97f4a7c15ull;
	return &t->buckets[hash >> 32 & (BUCKETS - 1)];
}

static void drop_cache(struct candidate_cache_table *t, struct entry *e)
{
	LIST_REMOVE(e, in_bucket);
	TAILQ_REMOVE(&t->used, e, in_use_order);
	candidate_cache_destroy(e->cache);
	free(e);
	t->count--;
}

struct candidate_cache_table *candidate_cache_table_create(
	struct fit_index *index, const struct candidate_source *source)
{
	struct candidate_cache_table *t = memory_take(sizeof *t);
	t->index = index;
	t->source = *source;
	TAILQ_INIT(&t->used);
	return t;
}

void candidate_cache_table_destroy(struct candidate_cache_table *t)
{
	if (!t)
		return;
	while (!TAILQ_EMPTY(&t->used))
		drop_cache(t, TAILQ_FIRST(&t->used));
	free(t);
}

static struct entry *find_cache(
	struct candidate_cache_table *t, const struct job *job, uint32_t group)
{
	struct entry *e;
	LIST_FOREACH(e, bucket_of(t, job), in_bucket)
	if (e->job == job && e->group == group)
		return e;
	return NULL;
}

static struct entry *add_cache(
	struct candidate_cache_table *t, const struct job *job, uint32_t group)
{
	if (t->count == PROSPECTS_MAX)
		drop_cache(t, TAILQ_LAST(&t->used, use_order));
	struct entry *e = memory_take(sizeof *e);
	e->job = job;
	e->group = group;
	e->cache = candidate_cache_create(t->index, &t->source, job, group);
	LIST_INSERT_HEAD(bucket_of(t, job), e, in_bucket);
	TAILQ_INSERT_HEAD(&t->used, e, in_use_order);
	t->count++;
	return e;
}

struct candidate_cache *candidate_cache_table_get(
	struct candidate_cache_table *t, const struct job *job, uint32_t group)
{
	CHECK(group < job->asks.count);
	struct entry *e = find_cache(t, job, group);
	if (!e)
		return add_cache(t, job, group)->cache;
	TAILQ_REMOVE(&t->used, e, in_use_order);
	TAILQ_INSERT_HEAD(&t->used, e, in_use_order);
	return e->cache;
}

void candidate_cache_table_forget(struct candidate_cache_table *t, const struct job *job)
{
	struct entry *e = LIST_FIRST(bucket_of(t, job));
	while (e) {
		struct entry *next = LIST_NEXT(e, in_bucket);
		if (e->job == job)
			drop_cache(t, e);
		e = next;
	}
}

uint32_t candidate_cache_table_count(const struct candidate_cache_table *t)
{
	return t->count;
}
