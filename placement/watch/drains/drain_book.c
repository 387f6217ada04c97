#include "placement/watch/drains/drain_book.h"
#include "state/base/memory.h"
#include <stdlib.h>

void drain_book_init(struct drain_book *b)
{
	*b = (struct drain_book){0};
	pthread_mutex_init(&b->mutex, NULL);
}

static void free_job(struct drain_job *job)
{
	free(job->namespace_name);
	free(job->id);
	free(job);
}

void drain_book_free(struct drain_book *b)
{
	uint32_t bucket = 0;
	struct lookup_node *next;

	for (struct lookup_node *at = lookup_walk(&b->nodes, &bucket, NULL); at; at = next) {
		next = lookup_walk(&b->nodes, &bucket, at);
		free(CONTAINER_OF(at, struct drain_node, by_id));
	}
	bucket = 0;
	for (struct lookup_node *at = lookup_walk(&b->jobs, &bucket, NULL); at; at = next) {
		next = lookup_walk(&b->jobs, &bucket, at);
		free_job(CONTAINER_OF(at, struct drain_job, by_name));
	}
	lookup_free(&b->nodes);
	lookup_free(&b->jobs);
	pthread_mutex_destroy(&b->mutex);
}

static struct drain_node *find_node(const struct drain_book *b, const struct uuid *id)
{
	for (struct lookup_node *at = lookup_first(&b->nodes, uuid_hash(id)); at;
		at = lookup_next(at)) {
		struct drain_node *node = CONTAINER_OF(at, struct drain_node, by_id);
		if (uuid_equal(&node->id, id))
			return node;
	}
	return NULL;
}

static struct drain_job *find_job(
	const struct drain_book *b, const char *namespace_name, const char *id)
{
	for (struct lookup_node *at = lookup_first(&b->jobs, hash_names(namespace_name, id)); at;
		at = lookup_next(at)) {
		struct drain_job *job = CONTAINER_OF(at, struct drain_job, by_name);
		if (strcmp(job->id, id) == 0 && strcmp(job->namespace_name, namespace_name) == 0)
			return job;
	}
	return NULL;
}

static bool touch_node(struct drain_book *b, struct drain_node *node)
{
	if (!node)
		return false;
	if (!node->is_dirty) {
		node->next_dirty = b->dirty_nodes;
		b->dirty_nodes = node;
	}
	node->is_dirty = true;
	return true;
}

static bool touch_job(struct drain_book *b, struct drain_job *job)
{
	if (!job)
		return false;
	if (!job->is_dirty) {
		job->next_dirty = b->dirty_jobs;
		b->dirty_jobs = job;
	}
	job->is_dirty = true;
	return true;
}

static struct drain_node *add_node(struct drain_book *b, const struct uuid *id)
{
	struct drain_node *node = memory_take(sizeof *node);

	node->id = *id;
	lookup_add(&b->nodes, &node->by_id, uuid_hash(id));
	return node;
}

bool drain_book_note_node(struct drain_book *b, const struct node *after)
{
	pthread_mutex_lock(&b->mutex);
	struct drain_node *known = find_node(b, &after->id);
	if (!known && after->drain && !after->record.deleted)
		known = add_node(b, &after->id);
	bool is_noted = touch_node(b, known);
	pthread_mutex_unlock(&b->mutex);
	return is_noted;
}

bool drain_book_note_allocation(struct drain_book *b, const struct allocation *after)
{
	bool is_noted = false;

	pthread_mutex_lock(&b->mutex);
	if (b->nodes.count > 0) {
		is_noted |= touch_node(b, find_node(b, &after->node_id));
		is_noted |= touch_job(b, find_job(b, after->job->namespace_name, after->job->id));
	}
	pthread_mutex_unlock(&b->mutex);
	return is_noted;
}

bool drain_book_note_job(struct drain_book *b, const struct job *after)
{
	pthread_mutex_lock(&b->mutex);
	bool is_noted =
		b->jobs.count > 0 && touch_job(b, find_job(b, after->namespace_name, after->id));
	pthread_mutex_unlock(&b->mutex);
	return is_noted;
}

void drain_book_add_job(struct drain_book *b, const struct job *of)
{
	pthread_mutex_lock(&b->mutex);
	if (!find_job(b, of->namespace_name, of->id)) {
		struct drain_job *job = memory_take(sizeof *job);
		job->namespace_name = text_copy(text_of(of->namespace_name));
		job->id = text_copy(text_of(of->id));
		lookup_add(&b->jobs, &job->by_name, hash_names(job->namespace_name, job->id));
		touch_job(b, job);
	}
	pthread_mutex_unlock(&b->mutex);
}

struct array drain_book_take_nodes(struct drain_book *b)
{
	struct array nodes = {0};

	pthread_mutex_lock(&b->mutex);
	for (struct drain_node *node = b->dirty_nodes; node; node = node->next_dirty) {
		*(struct drain_node **)array_append(&nodes, sizeof node) = node;
		node->is_dirty = false;
	}
	b->dirty_nodes = NULL;
	pthread_mutex_unlock(&b->mutex);
	return nodes;
}

struct array drain_book_take_jobs(struct drain_book *b)
{
	struct array jobs = {0};

	pthread_mutex_lock(&b->mutex);
	for (struct drain_job *job = b->dirty_jobs; job; job = job->next_dirty) {
		*(struct drain_job **)array_append(&jobs, sizeof job) = job;
		job->is_dirty = false;
	}
	b->dirty_jobs = NULL;
	pthread_mutex_unlock(&b->mutex);
	return jobs;
}

bool drain_book_has_dirty_jobs(struct drain_book *b)
{
	pthread_mutex_lock(&b->mutex);
	bool has = b->dirty_jobs != NULL;
	pthread_mutex_unlock(&b->mutex);
	return has;
}

void drain_book_keep_node(struct drain_book *b, struct drain_node *node)
{
	pthread_mutex_lock(&b->mutex);
	touch_node(b, node);
	pthread_mutex_unlock(&b->mutex);
}

void drain_book_keep_job(struct drain_book *b, struct drain_job *job)
{
	pthread_mutex_lock(&b->mutex);
	touch_job(b, job);
	pthread_mutex_unlock(&b->mutex);
}

void drain_book_forget_node(struct drain_book *b, struct drain_node *node)
{
	pthread_mutex_lock(&b->mutex);
	bool is_gone = !node->is_dirty;
	if (is_gone)
		lookup_remove(&b->nodes, &node->by_id);
	pthread_mutex_unlock(&b->mutex);
	if (is_gone)
		free(node);
}

void drain_book_forget_job(struct drain_book *b, struct drain_job *job)
{
	pthread_mutex_lock(&b->mutex);
	bool is_gone = !job->is_dirty;
	if (is_gone)
		lookup_remove(&b->jobs, &job->by_name);
	pthread_mutex_unlock(&b->mutex);
	if (is_gone)
		free_job(job);
}
