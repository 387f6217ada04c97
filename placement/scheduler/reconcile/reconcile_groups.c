// Sorts allocations once by the name of the group, the number in the name, and the id, and goes through them by group.
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include <stdlib.h>

#define GROUPS_REMEMBERED 64u // of versions of the job
#define SHORT_RUN 8u

struct sort_key {
	const struct allocation *allocation;
	uint32_t index;
	uint16_t group; // of the sorting's spans
	uint8_t client_status;
	bool is_current;
};

// A group of a version of the job: which span has its name, and whether the version is what the job asks for.
struct known_group {
	const struct job *job;
	uint16_t group, span;
	bool is_current;
};

struct sorting {
	struct array spans; // member_span
	struct known_group known[GROUPS_REMEMBERED];
	struct sort_key *keys, *other; // two halves of one piece of memory
	uint32_t count, highest;       // highest: of the numbers in names
};

static struct member_span *span_at(const struct sorting *s, uint32_t i)
{
	CHECK(i < s->spans.count);
	return ARRAY_AT(&s->spans, struct member_span, i);
}

static uint16_t find_span(struct sorting *s, const char *name)
{
	uint32_t i = 0;
	while (i < s->spans.count && strcmp(span_at(s, i)->group, name) != 0)
		i++;
	if (i == s->spans.count)
		APPEND(&s->spans, struct member_span)->group = name;
	CHECK(i < UINT16_MAX);
	return (uint16_t)i;
}

static const struct known_group *know_group(
	struct sorting *s, const struct reconcile_ask *ask, const struct allocation *a)
{
	struct known_group *known =
		&s->known[((uintptr_t)a->job / 64 + a->group) % GROUPS_REMEMBERED];
	if (known->job == a->job && known->group == a->group)
		return known;
	known->job = a->job;
	known->group = a->group;
	known->span = find_span(s, allocation_group(a)->name);
	known->is_current = ask->job && a->job->job_modify_index == ask->job->job_modify_index;
	return known;
}

static void collect_keys(struct sorting *s, const struct reconcile_ask *ask)
{
	enum { AHEAD = 16 };

	for (uint32_t i = 0; i < ask->allocation_count; i++) {
		const struct allocation *a = ask->allocations[i];
		if (i + AHEAD < ask->allocation_count)
			__builtin_prefetch(&ask->allocations[i + AHEAD]->index);
		const struct known_group *known = know_group(s, ask, a);
		s->keys[i] = (struct sort_key){
			a, a->index, known->span, a->client_status, known->is_current};
		if (a->index > s->highest)
			s->highest = a->index;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct member_span *x = a, *y = b;
	return strcmp(x->group, y->group);
}

// Puts the spans into the order of their names, and tells keys the new numbers.
static void order_spans(struct sorting *s)
{
	if (s->spans.count < 2)
		return;
	uint16_t *moved = memory_take_array(s->spans.count, sizeof *moved);
	for (uint32_t i = 0; i < s->spans.count; i++)
		span_at(s, i)->first = i;
	qsort(s->spans.items, s->spans.count, sizeof(struct member_span), by_name);
	for (uint32_t i = 0; i < s->spans.count; i++)
		moved[span_at(s, i)->first] = (uint16_t)i;
	for (uint32_t i = 0; i < s->count; i++)
		s->keys[i].group = moved[s->keys[i].group];
	free(moved);
}

static uint32_t key_number(const struct sort_key *key, bool by_group)
{
	return by_group ? key->group : key->index;
}

// A counting sort, which keeps the order of equal ones: numbers in names are mostly dense.
static void sort_by_number(struct sorting *s, bool by_group, uint32_t highest)
{
	uint32_t *at = memory_take_array((size_t)highest + 2, sizeof *at);
	for (uint32_t i = 0; i < s->count; i++)
		at[key_number(&s->keys[i], by_group) + 1]++;
	for (uint32_t number = 0; number < highest; number++)
		at[number + 1] += at[number];
	for (uint32_t i = 0; i < s->count; i++)
		s->other[at[key_number(&s->keys[i], by_group)]++] = s->keys[i];
	struct sort_key *sorted = s->other;
	s->other = s->keys;
	s->keys = sorted;
	free(at);
}

static int key_compare(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return uuid_compare(&x->allocation->id, &y->allocation->id);
}

// Sorts keys of one name by their ids: few, unless instances fail again and again.
static void sort_run(struct sort_key *run, uint32_t count)
{
	if (count > SHORT_RUN) {
		qsort(run, count, sizeof *run, key_compare);
		return;
	}
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t at = i; at > 0 && key_compare(&run[at - 1], &run[at]) > 0; at--) {
			struct sort_key key = run[at];
			run[at] = run[at - 1];
			run[at - 1] = key;
		}
}

static void sort_namesakes(struct sorting *s)
{
	for (uint32_t i = 0, first = 0; i < s->count; i++) {
		const struct sort_key *next = &s->keys[i + 1];
		bool goes_on = i + 1 < s->count && next->index == s->keys[first].index &&
			       next->group == s->keys[first].group;
		if (goes_on)
			continue;
		if (i > first)
			sort_run(&s->keys[first], i + 1 - first);
		first = i + 1;
	}
}

static void sort_keys(struct sorting *s)
{
	if (s->highest / 4 > s->count) {
		qsort(s->keys, s->count, sizeof *s->keys, key_compare);
		return;
	}
	sort_by_number(s, false, s->highest);
	if (s->spans.count > 1)
		sort_by_number(s, true, s->spans.count - 1);
	sort_namesakes(s);
}

static void fill_members(struct reconciler *r, const struct sorting *s)
{
	CHECK(s->count == r->member_count);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct sort_key *key = &s->keys[i];
		struct member_span *span = span_at(s, key->group);
		if (span->count++ == 0)
			span->first = i;
		r->members[i] = (struct member){.allocation = key->allocation,
			.index = key->index,
			.client_status = key->client_status,
			.is_current = key->is_current};
	}
	r->spans = s->spans.items;
	r->span_count = s->spans.count;
}

void reconcile_members(struct reconciler *r)
{
	CHECK(!r->members);
	uint32_t count = r->ask->allocation_count;
	if (count == 0)
		return;
	struct sort_key *keys = memory_take_array((size_t)2 * count + 2, sizeof *keys);
	struct sorting s = {.keys = keys, .other = keys + count + 1, .count = count};
	collect_keys(&s, r->ask);
	order_spans(&s);
	sort_keys(&s);
	r->members = memory_take_array(count, sizeof *r->members);
	r->member_count = count;
	fill_members(r, &s);
	free(keys);
	CHECK(r->span_count <= r->member_count);
}

void reconcile_members_release(struct reconciler *r)
{
	free(r->members);
	free(r->spans);
	free(r->followups);
}

// The first name in order after `last` among the job's groups; NULL: none is left.
static const char *next_wanted(const struct reconciler *r, const char *last)
{
	const char *least = NULL;
	for (uint32_t i = 0; r->job && i < r->job->task_groups.count; i++) {
		const char *name = ARRAY_AT(&r->job->task_groups, struct task_group, i)->name;
		if ((!last || strcmp(name, last) > 0) && (!least || strcmp(name, least) < 0))
			least = name;
	}
	CHECK(!least || !last || strcmp(least, last) > 0);
	return least;
}

static void find_group(struct group_pass *g, const struct job *job)
{
	int at = job && !job->stop ? job_group_index(job, text_of(g->name)) : -1;
	if (at < 0)
		return;
	g->number = (uint32_t)at;
	g->group = ARRAY_AT(&job->task_groups, struct task_group, at);
	CHECK(g->number < job->task_groups.count);
}

bool next_group(struct reconciler *r, struct group_pass *g)
{
	const struct member_span *span =
		r->next_span < r->span_count ? &r->spans[r->next_span] : NULL;
	const char *wanted = next_wanted(r, g->name);
	int order = !span ? -1 : !wanted ? 1 : strcmp(wanted, span->group);
	if (!span && !wanted)
		return false;
	*g = (struct group_pass){.r = r, .name = order >= 0 ? span->group : wanted};
	g->members = r->members;
	if (order >= 0) {
		g->members += span->first;
		g->count = span->count;
		r->next_span++;
	}
	find_group(g, r->job);
	CHECK(g->name && r->next_span <= r->span_count);
	return true;
}
