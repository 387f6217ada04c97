#include "placement/watch/deployments/watched.h"
#include "placement/watch/frame/watcher.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "state/records/slab.h"
#include <stdlib.h>

static bool is_earlier(const struct heap_node *a, const struct heap_node *b)
{
	return CONTAINER_OF(a, struct watched, order)->due_ns <
	       CONTAINER_OF(b, struct watched, order)->due_ns;
}

void watched_table_init(struct watched_table *t)
{
	*t = (struct watched_table){0};
	LIST_INIT(&t->touched);
	heap_init(&t->due, is_earlier);
}

void watched_table_free(struct watched_table *t)
{
	struct lookup_node *n;
	uint32_t bucket;

	while ((n = lookup_walk(&t->deployments, &bucket, NULL)))
		watched_drop(t, CONTAINER_OF(n, struct watched, by_id));
	CHECK(t->allocations.count == 0);
	lookup_free(&t->deployments);
	lookup_free(&t->allocations);
	heap_free(&t->due);
}

struct watched *watched_find(const struct watched_table *t, const struct uuid *id)
{
	struct lookup_node *n = lookup_first(&t->deployments, uuid_hash(id));

	while (n && !uuid_equal(&CONTAINER_OF(n, struct watched, by_id)->id, id))
		n = lookup_next(n);
	return n ? CONTAINER_OF(n, struct watched, by_id) : NULL;
}

struct watched *watched_add(struct watched_table *t, const struct uuid *id)
{
	struct watched *w = memory_take(sizeof *w);

	w->id = *id;
	w->due_ns = WATCH_NEVER;
	LIST_INIT(&w->settled);
	LIST_INIT(&w->open);
	lookup_add(&t->deployments, &w->by_id, uuid_hash(id));
	watched_touch(t, w);
	return w;
}

void watched_touch(struct watched_table *t, struct watched *w)
{
	if (!w->is_touched)
		LIST_INSERT_HEAD(&t->touched, w, touched);
	w->is_touched = true;
}

void watched_untouch(struct watched *w)
{
	if (w->is_touched)
		LIST_REMOVE(w, touched);
	w->is_touched = false;
}

void watched_due_at(struct watched_table *t, struct watched *w, int64_t due_ns)
{
	if (due_ns == w->due_ns)
		return;
	if (heap_holds(&w->order))
		heap_remove(&t->due, &w->order);
	w->due_ns = due_ns;
	if (due_ns != WATCH_NEVER)
		heap_push(&t->due, &w->order);
}

static struct judged *find_judged(const struct watched_table *t, const struct uuid *id)
{
	struct lookup_node *n = lookup_first(&t->allocations, uuid_hash(id));

	while (n && !uuid_equal(&CONTAINER_OF(n, struct judged, by_id)->id, id))
		n = lookup_next(n);
	return n ? CONTAINER_OF(n, struct judged, by_id) : NULL;
}

static void count_group(struct judged *j, uint32_t by)
{
	struct group_health *h = &j->watched->groups[j->group].health;

	h->healthy += j->is_healthy ? by : 0;
	h->healthy_canaries += j->is_healthy && j->is_canary ? by : 0;
}

static void drop_judged(struct watched_table *t, struct judged *j)
{
	count_group(j, -1u);
	LIST_REMOVE(j, of_deployment);
	lookup_remove(&t->allocations, &j->by_id);
	slab_give(j, sizeof *j);
}

static void drop_list(struct watched_table *t, struct judged_list *list)
{
	while (!LIST_EMPTY(list))
		drop_judged(t, LIST_FIRST(list));
}

void watched_drop(struct watched_table *t, struct watched *w)
{
	drop_list(t, &w->settled);
	drop_list(t, &w->open);
	for (uint32_t i = 0; i < w->group_count; i++)
		free(w->groups[i].name);
	free(w->groups);
	watched_untouch(w);
	if (w->is_waiting)
		LIST_REMOVE(w, waiting);
	watched_due_at(t, w, WATCH_NEVER);
	lookup_remove(&t->deployments, &w->by_id);
	free(w);
}

static uint32_t find_group(const struct watched *w, const char *name)
{
	uint32_t i = 0;

	while (i < w->group_count && strcmp(w->groups[i].name, name) != 0)
		i++;
	return i;
}

static uint32_t group_of(struct watched *w, const struct allocation *a)
{
	const char *name = allocation_group(a)->name;
	uint32_t i = find_group(w, name);

	if (i == w->group_count) {
		w->groups = memory_resize(w->groups, (i + 1) * sizeof *w->groups);
		w->groups[i] = (struct watched_group){.name = text_copy(text_of(name))};
		w->group_count++;
	}
	return i;
}

static void add_judged(struct watched_table *t, struct watched *w, const struct allocation *a)
{
	const struct alloc_deployment_status *status = allocation_health(a);
	const struct optional_bool *flag = &a->details->transition.reschedule;
	struct judged *j = slab_take_brief(sizeof *j); // until the deployment is over
	bool is_open = !status->healthy.value && !(flag->set && flag->value);

	j->id = a->id;
	j->watched = w;
	j->group = group_of(w, a);
	j->is_healthy = status->healthy.value && !allocation_is_terminal(a);
	j->is_canary = status->canary;
	lookup_add(&t->allocations, &j->by_id, uuid_hash(&j->id));
	LIST_INSERT_HEAD(is_open ? &w->open : &w->settled, j, of_deployment);
	count_group(j, 1);
	if (status->healthy.value && status->modify_index > w->healthy_index)
		w->healthy_index = status->modify_index;
}

void watched_note(struct watched_table *t, const struct uuid *id, const struct allocation *a,
	struct watched *w)
{
	struct judged *known = find_judged(t, id);

	if (known) {
		watched_touch(t, known->watched);
		drop_judged(t, known);
	}
	const struct alloc_deployment_status *health = a ? allocation_health(a) : NULL;
	if (!w || !health || !health->healthy.set)
		return;
	add_judged(t, w, a);
	watched_touch(t, w);
}

void watched_health(
	const struct watched *w, const struct deployment *d, struct group_health *health)
{
	for (uint32_t i = 0; i < d->groups.count; i++) {
		uint32_t at =
			find_group(w, ARRAY_AT(&d->groups, struct deployment_group, i)->group);
		health[i] = at < w->group_count ? w->groups[at].health : (struct group_health){0};
	}
}
