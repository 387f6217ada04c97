#include "state/records/plan.h"
#include "state/base/bytes_delta.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/schema_table.h"
#include "state/records/metrics.h"
#include "state/records/slab.h"
#include <stdlib.h>
#include <string.h>

#define METRICS_BYTES_USUAL 2048u

static const struct field desired_updates_fields[] = {
	{"Group", FIELD_STRING, OF(desired_updates, group)},
	{"Ignore", FIELD_I64, OF(desired_updates, ignore)},
	{"Place", FIELD_I64, OF(desired_updates, place)},
	{"Migrate", FIELD_I64, OF(desired_updates, migrate)},
	{"Stop", FIELD_I64, OF(desired_updates, stop)},
	{"InPlaceUpdate", FIELD_I64, OF(desired_updates, in_place_update)},
	{"DestructiveUpdate", FIELD_I64, OF(desired_updates, destructive_update)},
	{"Canary", FIELD_I64, OF(desired_updates, canary)},
	{"Preemptions", FIELD_I64, OF(desired_updates, preemptions)},
};
DESCRIBE(desired_updates_description, desired_updates);

// Where what they rest on stands.
static size_t rest_offset(size_t kept)
{
	const size_t alignment = _Alignof(struct metrics_rest);

	return (offsetof(struct shared_metrics, bytes) + kept + alignment - 1) / alignment *
	       alignment;
}

static size_t metrics_bytes(size_t kept, bool rests)
{
	return rests ? rest_offset(kept) + sizeof(struct metrics_rest)
		     : offsetof(struct shared_metrics, bytes) + kept;
}

static struct metrics_rest *rest_of(const struct shared_metrics *shared)
{
	return shared->rests ? (struct metrics_rest *)((char *)shared + rest_offset(shared->kept))
			     : NULL;
}

struct shared_metrics *shared_metrics_base(const struct shared_metrics *shared)
{
	return shared->rests ? rest_of(shared)->base : NULL;
}

uint32_t shared_metrics_back(const struct shared_metrics *shared)
{
	return shared->rests ? rest_of(shared)->back : 0;
}

static struct shared_metrics *take_shared_metrics(
	const uint8_t *bytes, size_t kept, struct shared_metrics *whole, int64_t back)
{
	struct shared_metrics *shared = slab_take(metrics_bytes(kept, back > 0));

	atomic_init(&shared->references, 1);
	shared->kept = (uint32_t)kept;
	shared->whole = shared_metrics_share(whole);
	shared->rests = back > 0;
	memcpy(shared->bytes, bytes, kept);
	if (back > 0)
		rest_of(shared)->back = (uint32_t)back;
	return shared;
}

// Whether a delta of so many bytes is worth while. One of a few bytes always is; a longer one is, unless the whole has
// served so many that others had better differ from newer ones.
static bool is_short(const struct shared_metrics *whole, size_t kept)
{
	enum { USERS_OF_LONG = 16 };
	uint32_t users = atomic_load_explicit(&whole->references, memory_order_relaxed);

	return kept <= whole->kept / 8 || (kept <= whole->kept / 2 && users < USERS_OF_LONG);
}

// Keeps what differs from the whole of the metrics before, or all of it. What rests on others is the whole of none, so
// that nothing is kept for longer than those that rest on it.
static struct shared_metrics *keep_metrics(
	const uint8_t *bytes, size_t size, int64_t back, const struct shared_metrics *before)
{
	uint8_t delta[METRICS_BYTES_USUAL / 2];
	struct shared_metrics *whole =
		before && before->whole ? before->whole : (struct shared_metrics *)before;
	size_t kept = whole && whole->kept == size && !whole->rests
			      ? bytes_delta_make(whole->bytes, bytes, size, delta, sizeof delta)
			      : BYTES_DELTA_NONE;

	return kept != BYTES_DELTA_NONE && is_short(whole, kept)
		       ? take_shared_metrics(delta, kept, whole, back)
		       : take_shared_metrics(bytes, size, NULL, back);
}

static void place_metrics(const struct shared_metrics *shared, uint8_t *bytes)
{
	const struct shared_metrics *whole = shared->whole ? shared->whole : shared;

	memcpy(bytes, whole->bytes, whole->kept);
	if (shared->whole)
		bytes_delta_apply(bytes, shared->bytes, shared->kept);
}

struct shared_metrics *shared_metrics_create(
	const struct alloc_metrics *metrics, struct shared_metrics *base)
{
	return shared_metrics_create_after(metrics, base, NULL);
}

struct shared_metrics *shared_metrics_create_after(const struct alloc_metrics *metrics,
	struct shared_metrics *base, const struct shared_metrics *before)
{
	CHECK(!base == (metrics->back == 0) && metrics->back >= 0);
	uint8_t room[METRICS_BYTES_USUAL];
	struct bytes_writer w = bytes_writer_over(room, sizeof room);

	record_encode(&metrics_description, metrics, &w);
	bool is_usual = !w.failed;
	if (!is_usual) {
		w = bytes_writer_growing(2 * sizeof room);
		record_encode(&metrics_description, metrics, &w);
	}
	// What cannot be encoded is not sound either, and the plan is refused.
	struct shared_metrics *shared =
		keep_metrics(w.data, w.failed ? 0 : w.size, metrics->back, before);
	shared->is_sound = !w.failed && record_is_sound(&metrics_description, metrics);
	CHECK(!base || shared_metrics_rest_on(shared, base) == 0);
	if (!is_usual)
		bytes_writer_free(&w);
	return shared;
}

int shared_metrics_rest_on(struct shared_metrics *shared, struct shared_metrics *base)
{
	CHECK(shared->rests && !rest_of(shared)->base);
	if (base->bases >= METRICS_BASES_MAX || (base->rests && !rest_of(base)->base))
		return -ERROR_CORRUPT;
	rest_of(shared)->base = shared_metrics_share(base);
	shared->bases = base->bases + 1;
	return 0;
}

static void read_own(const struct shared_metrics *shared, struct alloc_metrics *metrics)
{
	uint32_t size = shared_metrics_size(shared);
	uint8_t *bytes = memory_take(size);
	struct bytes_reader r = bytes_reader_over(bytes, size);

	place_metrics(shared, bytes);
	record_init(&metrics_description, metrics);
	CHECK(record_decode(&metrics_description, metrics, &r) == 0);
	free(bytes);
}

// Which of two items of ordered maps comes first, the older one with the name of a newer one among them: negative,
// positive, or 0 for the same name.
static int order_of(const struct array *newer, uint32_t i, const struct array *older, uint32_t j)
{
	if (i == newer->count || j == older->count)
		return i == newer->count ? 1 : -1;
	return strcmp(ARRAY_AT(newer, struct named_count, i)->name,
		ARRAY_AT(older, struct named_count, j)->name);
}

// Adds what older counts say of names that the newer ones do not have, and takes their texts.
static void add_older(struct array *newer, struct array *older)
{
	struct array all = {
		memory_take_array(newer->count + older->count + 1, sizeof(struct named_count)), 0};
	uint32_t i = 0, j = 0;

	while (i < newer->count || j < older->count) {
		int order = order_of(newer, i, older, j);
		if (order == 0)
			free(ARRAY_AT(older, struct named_count, j++)->name);
		*ARRAY_AT(&all, struct named_count, all.count++) =
			order <= 0 ? *ARRAY_AT(newer, struct named_count, i++)
				   : *ARRAY_AT(older, struct named_count, j++);
	}
	free(newer->items);
	free(older->items);
	*newer = all;
	*older = (struct array){0};
}

static void drop_zeros(struct array *counts)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < counts->count; i++) {
		struct named_count *count = ARRAY_AT(counts, struct named_count, i);
		if (count->count == 0)
			free(count->name);
		else
			*ARRAY_AT(counts, struct named_count, kept++) = *count;
	}
	counts->count = kept;
}

void shared_metrics_read(const struct shared_metrics *shared, struct alloc_metrics *metrics)
{
	read_own(shared, metrics);
	for (const struct shared_metrics *base = shared; base->rests;) {
		struct alloc_metrics older;
		base = rest_of(base)->base;
		CHECK(base);
		read_own(base, &older);
		add_older(&metrics->constraint_filtered, &older.constraint_filtered);
		metrics_release(&older);
	}
	if (metrics->back > 0)
		drop_zeros(&metrics->constraint_filtered);
	metrics->back = 0;
}

void shared_metrics_encode(const struct shared_metrics *shared, struct bytes_writer *w)
{
	const struct shared_metrics *whole = shared->whole ? shared->whole : shared;

	bytes_put(w, whole->bytes, whole->kept);
	if (shared->whole && !w->failed)
		bytes_delta_apply(w->data + w->size - whole->kept, shared->bytes, shared->kept);
}

int shared_metrics_decode(struct shared_metrics **shared, struct bytes_reader *r)
{
	return shared_metrics_decode_after(shared, NULL, r);
}

int shared_metrics_decode_after(
	struct shared_metrics **shared, const struct shared_metrics *before, struct bytes_reader *r)
{
	struct alloc_metrics metrics;
	size_t from = r->at;

	int error = record_decode_scalars(&metrics_description, &metrics, r);
	int64_t back = metrics.back;
	*shared = NULL;
	if (error == 0 && (r->failed || back < 0 || back > UINT32_MAX))
		error = -ERROR_CORRUPT;
	if (error != 0)
		return error;
	*shared = keep_metrics(r->data + from, r->at - from, back, before);
	(*shared)->is_sound = true;
	return 0;
}

struct shared_metrics *shared_metrics_share(struct shared_metrics *shared)
{
	if (shared)
		atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
	return shared;
}

void shared_metrics_release(struct shared_metrics *shared)
{
	while (shared &&
		atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) == 1) {
		struct shared_metrics *base = shared_metrics_base(shared);
		shared_metrics_release(shared->whole);
		slab_give(shared, metrics_bytes(shared->kept, shared->rests));
		shared = base;
	}
}

struct plan *plan_create(void)
{
	return memory_take(sizeof(struct plan));
}

void plan_placement_release(struct plan_placement *p)
{
	alloc_details_release(p->details);
	alloc_report_release(p->report);
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (uint32_t i = 0; i < plan->placements.count; i++)
		plan_placement_release(ARRAY_AT(&plan->placements, struct plan_placement, i));
	for (uint32_t i = 0; i < plan->updates.count; i++)
		alloc_details_release(ARRAY_AT(&plan->updates, struct plan_update, i)->details);
	for (uint32_t i = 0; i < plan->metrics.count; i++)
		shared_metrics_release(*ARRAY_AT(&plan->metrics, struct shared_metrics *, i));
	for (uint32_t i = 0; i < plan->annotations.count; i++)
		record_release(&desired_updates_description,
			ARRAY_AT(&plan->annotations, struct desired_updates, i));
	for (uint32_t i = 0; i < plan->deployment_updates.count; i++)
		free(ARRAY_AT(&plan->deployment_updates, struct deployment_update, i)->description);
	deployment_free(plan->deployment);
	free(plan->deployment_updates.items);
	free(plan->stops.items);
	free(plan->preemptions.items);
	free(plan->placements.items);
	free(plan->updates.items);
	free(plan->metrics.items);
	free(plan->annotations.items);
	free(plan->namespace_name);
	free(plan->job_id);
	free(plan);
}

bool plan_is_no_op(const struct plan *plan)
{
	return plan->stops.count == 0 && plan->placements.count == 0 && plan->updates.count == 0 &&
	       !plan->deployment && plan->deployment_updates.count == 0;
}

void plan_result_release(struct plan_result *result)
{
	map_free(&result->placed_by_group, sizeof(struct named_count));
	free(result->rejections.items);
	*result = (struct plan_result){0};
}
