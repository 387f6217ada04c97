#include "placement/scheduler/stack/refusal_counts.h"
#include "state/base/check.h"
#include <string.h>

// So few are compared one by one.
#define COUNTS_FEW 16u

// Pointers tell reasons and class names apart, as each is kept once; where one is not, equal texts are one reason, and
// the metrics add up equal class names.
static bool is_about(const struct refusal_count *count, const char *reason, const char *class_name,
	enum stack_outcome outcome)
{
	return count->reason == reason && count->class_name == class_name &&
	       count->outcome == outcome;
}

// Returns the place of a count's number (counted from 1), or where it would go.
static uint32_t *find_bucket(const struct refusal_counts *t, const char *reason,
	const char *class_name, enum stack_outcome outcome)
{
	CHECK(t->buckets);
	uint64_t hash = ((uint64_t)(uintptr_t)reason * 31 + (uint64_t)(uintptr_t)class_name +
				(uint64_t)outcome) *
			0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)(hash >> 32) & t->mask;
	while (t->buckets[at] &&
		!is_about(&t->items[t->buckets[at] - 1], reason, class_name, outcome))
		at = (at + 1) & t->mask;
	return &t->buckets[at];
}

// Returns a count's number, counted from 1; 0: there is none.
static uint32_t find_count(const struct refusal_counts *t, const char *reason,
	const char *class_name, enum stack_outcome outcome)
{
	if (t->buckets)
		return *find_bucket(t, reason, class_name, outcome);
	for (uint32_t i = 0; i < t->count; i++)
		if (is_about(&t->items[i], reason, class_name, outcome))
			return i + 1;
	return 0;
}

static void put_in_bucket(struct refusal_counts *t, uint32_t number)
{
	const struct refusal_count *count = &t->items[number - 1];
	*find_bucket(t, count->reason, count->class_name, count->outcome) = number;
}

static void grow_buckets(struct refusal_counts *t)
{
	t->mask = t->buckets ? t->mask * 2 + 1 : 4 * COUNTS_FEW - 1;
	t->buckets = arena_take(t->arena, ((size_t)t->mask + 1) * sizeof *t->buckets);
	for (uint32_t number = 1; number <= t->count; number++)
		put_in_bucket(t, number);
	CHECK(t->count <= t->mask);
}

// The newest count has no bucket yet, if there are buckets.
static void follow_counts(struct refusal_counts *t)
{
	if (t->buckets && t->count <= t->mask / 2)
		put_in_bucket(t, t->count);
	else if (t->buckets || t->count > COUNTS_FEW)
		grow_buckets(t);
}

static uint32_t *sorted_of(const struct refusal_reasons *r)
{
	return (uint32_t *)(r->items + r->room);
}

static uint32_t *changed_of(const struct refusal_reasons *r)
{
	return sorted_of(r) + r->room;
}

// Whether a text is there; *at: its place in the order, or where it would go.
static bool find_text(const struct refusal_reasons *r, const char *text, uint32_t *at)
{
	const uint32_t *sorted = sorted_of(r);
	uint32_t low = 0, high = r->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(r->items[sorted[middle]].text, text);
		if (order == 0) {
			*at = middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	return false;
}

static void make_room(struct refusal_reasons *r, struct arena *arena)
{
	struct refusal_reasons wider = *r;

	wider.room = 2 * r->room + 4;
	wider.items =
		arena_room(arena, (size_t)wider.room * (sizeof *r->items + 2 * sizeof(uint32_t)));
	for (uint32_t i = 0; i < r->count; i++) {
		wider.items[i] = r->items[i];
		sorted_of(&wider)[i] = sorted_of(r)[i];
	}
	for (uint32_t i = 0; i < r->changed_count; i++)
		changed_of(&wider)[i] = changed_of(r)[i];
	*r = wider;
	CHECK(r->count < r->room);
}

// Reasons are kept in order, so that the maps of metrics are made in order.
static uint32_t reason_number(struct refusal_reasons *r, const char *text, struct arena *arena)
{
	uint32_t at;
	if (find_text(r, text, &at))
		return sorted_of(r)[at];
	if (r->count == r->room)
		make_room(r, arena);
	uint32_t *sorted = sorted_of(r);
	memmove(&sorted[at + 1], &sorted[at], (r->count - at) * sizeof *sorted);
	sorted[at] = r->count;
	r->items[r->count] = (struct refusal_reason){.text = text};
	CHECK(r->count < r->room);
	return r->count++;
}

// The number of a count that may be new.
static uint32_t count_number(struct refusal_counts *t, const char *reason, const char *class_name,
	enum stack_outcome outcome)
{
	uint32_t number = find_count(t, reason, class_name, outcome);
	if (number)
		return number - 1;
	ARENA_GROW(t->arena, t->items, t->count, t->room);
	t->items[t->count++] = (struct refusal_count){
		.reason = reason, .class_name = class_name, .outcome = outcome};
	follow_counts(t);
	return t->count - 1;
}

static uint32_t class_number(
	struct refusal_counts *t, const char *class_name, enum stack_outcome outcome)
{
	uint32_t before = t->count, number = count_number(t, NULL, class_name, outcome);
	if (number < before)
		return number;
	t->items[number].next_class = t->first_class;
	t->first_class = number + 1;
	return number;
}

static void note_changed(struct refusal_reasons *r, uint32_t number)
{
	CHECK(number < r->count);
	if (r->items[number].is_changed)
		return;
	r->items[number].is_changed = true;
	CHECK(r->changed_count < r->room);
	changed_of(r)[r->changed_count++] = number;
}

void refusal_counts_add(struct refusal_counts *t, const char *reason, const char *class_name,
	enum stack_outcome outcome, int64_t by)
{
	CHECK(reason && outcome != STACK_FITS);
	if (by == 0)
		return;
	struct refusal_reasons *reasons = outcome == STACK_FILTERED ? &t->filtered : &t->exhausted;
	uint32_t before = t->count, number = count_number(t, reason, class_name, outcome);
	if (number == before) {
		uint32_t of_class = class_number(t, class_name, outcome);
		t->items[number].of_class = of_class;
		t->items[number].of_reason = reason_number(reasons, reason, t->arena);
	}
	struct refusal_count *count = &t->items[number];
	count->count += by;
	CHECK(count->count >= 0);
	t->items[count->of_class].count += by;
	reasons->items[count->of_reason].count += by;
	note_changed(reasons, count->of_reason);
}

static void lend_count(struct arena *arena, struct array *counts, const char *name, int64_t by)
{
	struct named_count *count = arena_map_item(arena, counts, sizeof *count, name);
	count->count += by;
}

static void report_class(
	const struct refusal_count *of, struct alloc_metrics *m, struct arena *arena)
{
	bool filtered = of->outcome == STACK_FILTERED;

	*(filtered ? &m->nodes_filtered : &m->nodes_exhausted) += of->count;
	if (of->count && of->class_name && of->class_name[0])
		lend_count(arena, filtered ? &m->class_filtered : &m->class_exhausted,
			of->class_name, of->count);
}

static void report_classes(
	const struct refusal_counts *t, struct alloc_metrics *m, struct arena *arena)
{
	for (uint32_t at = t->first_class; at; at = t->items[at - 1].next_class)
		report_class(&t->items[at - 1], m, arena);
}

// In the order of the texts, so that each of the first is appended.
static void report_reasons(
	const struct refusal_reasons *r, struct array *counts, struct arena *arena)
{
	for (uint32_t i = 0; i < r->count; i++) {
		const struct refusal_reason *reason = &r->items[sorted_of(r)[i]];
		if (reason->count)
			lend_count(arena, counts, reason->text, reason->count);
	}
}

void refusal_counts_report(
	const struct refusal_counts *t, struct alloc_metrics *m, struct arena *arena)
{
	report_classes(t, m, arena);
	report_reasons(&t->filtered, &m->constraint_filtered, arena);
	report_reasons(&t->exhausted, &m->dimension_exhausted, arena);
}

static int64_t count_of(const struct refusal_reasons *r, const char *text)
{
	uint32_t at;
	return find_text(r, text, &at) ? r->items[sorted_of(r)[at]].count : 0;
}

void refusal_counts_report_changes(const struct refusal_counts *t,
	const struct refusal_counts *beside, struct alloc_metrics *m, struct arena *arena)
{
	const struct refusal_reasons *r = &t->filtered;

	report_classes(t, m, arena);
	report_classes(beside, m, arena);
	for (uint32_t i = 0; i < r->changed_count; i++) {
		const struct refusal_reason *reason = &r->items[changed_of(r)[i]];
		lend_count(arena, &m->constraint_filtered, reason->text,
			reason->count + count_of(&beside->filtered, reason->text));
	}
	report_reasons(&t->exhausted, &m->dimension_exhausted, arena);
	report_reasons(&beside->exhausted, &m->dimension_exhausted, arena);
}

static void forget_changes(struct refusal_reasons *r)
{
	for (uint32_t i = 0; i < r->changed_count; i++)
		r->items[changed_of(r)[i]].is_changed = false;
	r->changed_count = 0;
}

void refusal_counts_forget_changes(struct refusal_counts *t)
{
	forget_changes(&t->filtered);
	forget_changes(&t->exhausted);
}
