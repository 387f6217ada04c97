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
	struct prospect *prospect;
};

LIST_HEAD(bucket, entry);
TAILQ_HEAD(use_order, entry);

struct prospect_table {
	struct fit_index *index;
	struct prospect_source source;
	uint32_t count;
	struct use_order used; // the most recently used first
	struct bucket buckets[BUCKETS];
};

// All groups of a job share a bucket, so that forgetting the job looks at one.
static struct bucket *bucket_of(struct prospect_table *t, const struct job *job)
{
	uint64_t hash = (uint64_t)(uintptr_t)job * 0x9e3779b97f4a7c15ull;
	return &t->buckets[hash >> 32 & (BUCKETS - 1)];
}

static void drop(struct prospect_table *t, struct entry *e)
{
	LIST_REMOVE(e, in_bucket);
	TAILQ_REMOVE(&t->used, e, in_use_order);
	prospect_destroy(e->prospect);
	free(e);
	t->count--;
}

struct prospect_table *prospect_table_create(
	struct fit_index *index, const struct prospect_source *source)
{
	struct prospect_table *t = memory_take(sizeof *t);
	t->index = index;
	t->source = *source;
	TAILQ_INIT(&t->used);
	return t;
}

void prospect_table_destroy(struct prospect_table *t)
{
	if (!t)
		return;
	while (!TAILQ_EMPTY(&t->used))
		drop(t, TAILQ_FIRST(&t->used));
	free(t);
}

static struct entry *find(struct prospect_table *t, const struct job *job, uint32_t group)
{
	struct entry *e;
	LIST_FOREACH(e, bucket_of(t, job), in_bucket)
	if (e->job == job && e->group == group)
		return e;
	return NULL;
}

static struct entry *add(struct prospect_table *t, const struct job *job, uint32_t group)
{
	if (t->count == PROSPECTS_MAX)
		drop(t, TAILQ_LAST(&t->used, use_order));
	struct entry *e = memory_take(sizeof *e);
	e->job = job;
	e->group = group;
	e->prospect = prospect_create(t->index, &t->source, job, group);
	LIST_INSERT_HEAD(bucket_of(t, job), e, in_bucket);
	TAILQ_INSERT_HEAD(&t->used, e, in_use_order);
	t->count++;
	return e;
}

struct prospect *prospect_table_get(struct prospect_table *t, const struct job *job, uint32_t group)
{
	CHECK(group < job->asks.count);
	struct entry *e = find(t, job, group);
	if (!e)
		return add(t, job, group)->prospect;
	TAILQ_REMOVE(&t->used, e, in_use_order);
	TAILQ_INSERT_HEAD(&t->used, e, in_use_order);
	return e->prospect;
}

void prospect_table_forget(struct prospect_table *t, const struct job *job)
{
	struct entry *e = LIST_FIRST(bucket_of(t, job));
	while (e) {
		struct entry *next = LIST_NEXT(e, in_bucket);
		if (e->job == job)
			drop(t, e);
		e = next;
	}
}

uint32_t prospect_table_count(const struct prospect_table *t)
{
	return t->count;
}
