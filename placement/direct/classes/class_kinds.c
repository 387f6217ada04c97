#include "placement/direct/classes/class_kinds.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/nodes/node.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 64u

struct class_kinds *class_kinds_create(struct look_bytes key)
{
	struct class_kinds *k = memory_take(sizeof *k);
	k->key = key;
	class_looks_begin(&k->looks, &key);
	k->log = memory_take_array(FIT_LOG_CHANGES, sizeof k->log[0]);
	k->mask = BUCKETS_FIRST - 1;
	k->buckets = memory_take_array(BUCKETS_FIRST, sizeof k->buckets[0]);
	k->from = UINT64_MAX;
	return k;
}

void class_kinds_destroy(struct class_kinds *k)
{
	for (uint32_t i = 0; i < k->count; i++)
		free(k->kinds[i].seen.bytes);
	class_looks_release(&k->looks);
	free(k->key.bytes);
	free(k->kinds);
	free(k->buckets);
	free(k->of_class);
	free(k->of_slot);
	free(k->classes);
	free(k->log);
	free(k->stale);
	free(k->newest.bytes);
	free(k);
}

static void make_room(struct class_kinds *k, uint32_t classes, uint32_t slots)
{
	if (classes > k->class_room) {
		k->class_room = classes + classes / 2;
		k->classes = memory_resize(k->classes, k->class_room * sizeof k->classes[0]);
		k->of_class = memory_resize(k->of_class, k->class_room * sizeof k->of_class[0]);
	}
	for (; k->class_count < classes; k->class_count++) {
		k->classes[k->class_count] = (struct kind_of_class){.speaker = SPEAKER_NONE};
		k->of_class[k->class_count] = KIND_NONE;
	}
	if (slots > k->slot_room) {
		k->slot_room = slots + slots / 2;
		k->of_slot = memory_resize(k->of_slot, k->slot_room * sizeof k->of_slot[0]);
	}
	for (; k->slots < slots; k->slots++)
		k->of_slot[k->slots] = KIND_NONE;
}

static void enter_bucket(struct class_kinds *k, uint32_t number)
{
	uint32_t *bucket = &k->buckets[k->kinds[number].hash & k->mask];

	k->kinds[number].next = *bucket;
	*bucket = number + 1;
}

static void leave_bucket(struct class_kinds *k, uint32_t number)
{
	uint32_t *at = &k->buckets[k->kinds[number].hash & k->mask];

	while (*at != number + 1)
		at = &k->kinds[*at - 1].next;
	*at = k->kinds[number].next;
}

static void grow_buckets(struct class_kinds *k)
{
	free(k->buckets);
	k->mask = 2 * k->mask + 1;
	k->buckets = memory_take_array((size_t)k->mask + 1, sizeof k->buckets[0]);
	for (uint32_t i = 0; i < k->count; i++)
		if (k->kinds[i].first)
			enter_bucket(k, i);
}

static uint32_t free_number(struct class_kinds *k)
{
	uint32_t number = k->free ? k->free - 1 : k->count;

	if (k->free) {
		k->free = k->kinds[number].next;
		return number;
	}
	if (k->count == k->room) {
		k->room = k->room ? 2 * k->room : 16;
		k->kinds = memory_resize(k->kinds, k->room * sizeof k->kinds[0]);
	}
	k->kinds[k->count++] = (struct class_kind){0};
	if (k->count > k->mask)
		grow_buckets(k);
	return number;
}

// The kind of what was seen last, which may be new: then it has no class yet.
static uint32_t kind_of_newest(struct class_kinds *k)
{
	uint64_t hash = hash_bytes(0, k->newest.bytes, k->newest.size);

	for (uint32_t at = k->buckets[hash & k->mask]; at; at = k->kinds[at - 1].next) {
		const struct class_kind *kind = &k->kinds[at - 1];
		if (kind->hash == hash && kind->seen.size == k->newest.size &&
			memcmp(kind->seen.bytes, k->newest.bytes, k->newest.size) == 0)
			return at - 1;
	}
	uint32_t number = free_number(k);
	struct class_kind *kind = &k->kinds[number];
	free(kind->seen.bytes);
	*kind = (struct class_kind){.hash = hash, .since = ++k->class_epoch};
	kind->seen =
		(struct look_bytes){memory_take(k->newest.size), k->newest.size, k->newest.size};
	memcpy(kind->seen.bytes, k->newest.bytes, k->newest.size);
	enter_bucket(k, number);
	return number;
}

static void join_kind(struct class_kinds *k, uint32_t id, uint32_t number)
{
	struct class_kind *kind = &k->kinds[number];

	k->of_class[id] = number;
	k->classes[id].next = kind->first;
	k->classes[id].previous = 0;
	if (kind->first)
		k->classes[kind->first - 1].previous = id + 1;
	kind->first = id + 1;
	kind->bits |= 1ull << id % 64;
	k->class_epoch++;
}

static void count_ready(struct class_kinds *k, uint32_t id, bool is_ready)
{
	struct class_kind *kind = &k->kinds[k->of_class[id]];

	if (k->classes[id].is_ready == is_ready)
		return;
	k->classes[id].is_ready = is_ready;
	kind->ready_classes += is_ready ? 1 : -1u;
	k->class_epoch +=
		k->looks.networks && kind->ready_classes == 1; // somebody speaks for the kind
}

static void leave_kind(struct class_kinds *k, uint32_t id)
{
	uint32_t number = k->of_class[id];
	struct class_kind *kind = &k->kinds[number];
	struct kind_of_class *c = &k->classes[id];

	count_ready(k, id, false);
	if (c->previous)
		k->classes[c->previous - 1].next = c->next;
	else
		kind->first = c->next;
	if (c->next)
		k->classes[c->next - 1].previous = c->previous;
	k->of_class[id] = KIND_NONE;
	if (kind->first)
		return;
	CHECK(kind->ready_classes == 0);
	leave_bucket(k, number);
	kind->next = k->free;
	k->free = number + 1;
}

// What a follower needs.
struct following {
	struct class_kinds *k;
	const struct fit_index *x;
	kind_speech *speech;
	void *context;
	bool has_moved; // a class with ready nodes that no change tells of
};

static void be_stale(struct class_kinds *k, uint32_t id)
{
	if (k->classes[id].is_stale)
		return;
	if (k->stale_count == k->stale_room) {
		k->stale_room = k->stale_room + k->stale_room / 2 + 16;
		k->stale = memory_resize(k->stale, k->stale_room * sizeof k->stale[0]);
	}
	k->stale[k->stale_count++] = id;
	k->classes[id].is_stale = true;
}

// A number of a class may have come to mean another one.
static void follow_class(const struct following *f, uint32_t id)
{
	uint64_t since = fit_index_class(f->x, id) ? fit_index_class_since(f->x, id) : 0;
	struct kind_of_class *c = &f->k->classes[id];

	if (c->since == since)
		return;
	if (f->k->of_class[id] != KIND_NONE)
		leave_kind(f->k, id);
	c->since = since;
	c->speaker = SPEAKER_NONE;
	be_stale(f->k, id);
}

static void follow_speaker(const struct following *f, const struct fit_change *change)
{
	bool spoke = fit_is_ready(&change->before), speaks = fit_is_ready(&change->after);
	struct kind_of_class *classes = f->k->classes;

	if (!f->k->looks.networks || (spoke && speaks && !change->described_anew))
		return;
	if (spoke && classes[change->before.node_class].speaker == change->slot)
		be_stale(f->k, change->before.node_class);
	if (!speaks || change->slot > classes[change->after.node_class].speaker)
		return;
	classes[change->after.node_class].speaker = change->slot;
	be_stale(f->k, change->after.node_class);
}

// No ready node of the class is below the one that spoke.
static void find_speaker(const struct following *f, uint32_t id)
{
	uint32_t slot = f->k->classes[id].speaker;

	if (slot == SPEAKER_NONE || fit_index_class_ready(f->x, id) == 0) {
		f->k->classes[id].speaker = SPEAKER_NONE;
		return;
	}
	while (!fit_is_ready(fit_index_node(f->x, slot)) ||
		fit_index_node(f->x, slot)->node_class != id)
		slot++;
	CHECK(slot < fit_index_slots(f->x));
	f->k->classes[id].speaker = slot;
}

static uint32_t see_class(const struct following *f, uint32_t id)
{
	struct class_kinds *k = f->k;

	class_looks_see(&k->looks, fit_index_class(f->x, id), &k->newest);
	if (k->classes[id].speaker != SPEAKER_NONE) {
		look_bytes_add(&k->newest, "networks"); // of which there may be none
		f->speech(f->context, k->classes[id].speaker, &k->newest);
	}
	return kind_of_newest(k);
}

// A class of which no node is ready stays what it was.
static void settle_class(struct following *f, uint32_t id)
{
	struct class_kinds *k = f->k;
	struct kind_of_class *c = &k->classes[id];

	c->is_stale = false;
	if (!c->since)
		return;
	if (k->looks.networks)
		find_speaker(f, id);
	if (k->of_class[id] != KIND_NONE && c->speaker == SPEAKER_NONE)
		return;
	uint32_t number = see_class(f, id);
	if (number == k->of_class[id])
		return;
	f->has_moved |= c->is_ready;
	if (k->of_class[id] != KIND_NONE)
		leave_kind(k, id);
	join_kind(k, id, number);
}

static void fetch_stale(const struct following *f, uint32_t at)
{
	const struct node_class *record =
		at < f->k->stale_count ? fit_index_class(f->x, f->k->stale[at]) : NULL;
	if (record)
		__builtin_prefetch(record);
}

// Those of a big fleet are in no order of memory, so they are fetched ahead.
static void settle_classes(struct following *f)
{
	enum { AHEAD = 16 };

	for (uint32_t i = 0; i < f->k->stale_count; i++) {
		fetch_stale(f, i + AHEAD);
		settle_class(f, f->k->stale[i]);
	}
	f->k->stale_count = 0;
}

static void follow_ready(const struct following *f, uint32_t id)
{
	if (f->k->classes[id].since)
		count_ready(f->k, id, fit_index_class_ready(f->x, id) > 0);
}

// The speaker that a class has by now is seen again if it was described anew.
static void find_speakers(const struct following *f)
{
	struct class_kinds *k = f->k;
	uint32_t *before = memory_take_array(k->class_count + 1, sizeof before[0]);

	for (uint32_t id = 0; id < k->class_count; id++) {
		before[id] = k->classes[id].speaker;
		k->classes[id].speaker = SPEAKER_NONE;
	}
	for (uint32_t slot = k->slots; slot-- > 0;)
		if (fit_is_ready(fit_index_node(f->x, slot)))
			k->classes[fit_index_node(f->x, slot)->node_class].speaker = slot;
	for (uint32_t id = 0; id < k->class_count; id++) {
		uint32_t speaker = k->classes[id].speaker;
		if (speaker != before[id] ||
			(speaker != SPEAKER_NONE && fit_index_described(f->x, speaker) > k->seen))
			be_stale(k, id);
	}
	free(before);
}

static uint32_t kind_of_slot(const struct class_kinds *k, const struct fit_index *x, uint32_t slot)
{
	const struct fit_node *n = fit_index_node(x, slot);
	return n->place == FIT_ABSENT ? KIND_NONE : k->of_class[n->node_class];
}

static void follow_all_slots(const struct following *f)
{
	for (uint32_t slot = 0; slot < f->k->slots; slot++)
		f->k->of_slot[slot] = kind_of_slot(f->k, f->x, slot);
	f->k->from = fit_index_head(f->x);
}

static void follow_all(struct following *f)
{
	for (uint32_t id = 0; id < f->k->class_count; id++)
		follow_class(f, id);
	if (f->k->looks.networks)
		find_speakers(f);
	settle_classes(f);
	for (uint32_t id = 0; id < f->k->class_count; id++)
		follow_ready(f, id);
	follow_all_slots(f);
}

typedef void class_follow(const struct following *, uint32_t id);

static void each_class_of(
	const struct following *f, const struct fit_change *change, class_follow *follow)
{
	if (change->before.place != FIT_ABSENT)
		follow(f, change->before.node_class);
	if (change->after.place != FIT_ABSENT)
		follow(f, change->after.node_class);
}

static void log_change(struct class_kinds *k, const struct fit_index *x, uint64_t number)
{
	uint32_t slot = fit_index_change(x, number)->slot;
	struct kind_change *change = &k->log[number % FIT_LOG_CHANGES];

	*change = (struct kind_change){k->of_slot[slot], kind_of_slot(k, x, slot)};
	k->of_slot[slot] = change->after;
}

static void follow_changes(struct following *f)
{
	uint64_t head = fit_index_head(f->x), seen = f->k->seen;

	for (uint64_t i = seen; i < head; i++)
		each_class_of(f, fit_index_change(f->x, i), follow_class);
	for (uint64_t i = seen; i < head; i++)
		follow_speaker(f, fit_index_change(f->x, i));
	settle_classes(f);
	for (uint64_t i = seen; i < head; i++)
		each_class_of(f, fit_index_change(f->x, i), follow_ready);
	if (f->has_moved)
		follow_all_slots(f);
	for (uint64_t i = seen; i < head && !f->has_moved; i++)
		log_change(f->k, f->x, i);
}

void class_kinds_follow(
	struct class_kinds *k, const struct fit_index *x, kind_speech *speech, void *context)
{
	struct following f = {k, x, speech, context, false};
	bool is_lost = k->from == UINT64_MAX || fit_index_head(x) - k->seen > FIT_LOG_CHANGES;

	CHECK(speech || !k->looks.networks);
	make_room(k, fit_index_classes(x), fit_index_slots(x));
	if (is_lost)
		follow_all(&f);
	else
		follow_changes(&f);
	k->seen = fit_index_head(x);
}

uint32_t class_kinds_speaker(const struct class_kinds *k, uint32_t kind)
{
	uint32_t at = k->looks.networks ? k->kinds[kind].first : 0;

	for (; at; at = k->classes[at - 1].next)
		if (k->classes[at - 1].speaker != SPEAKER_NONE)
			return k->classes[at - 1].speaker;
	return SPEAKER_NONE;
}

const struct node_class *class_kinds_class(
	const struct class_kinds *k, const struct fit_index *x, uint32_t kind)
{
	CHECK(kind < k->count);
	return k->kinds[kind].first ? fit_index_class(x, k->kinds[kind].first - 1) : NULL;
}

const struct kind_change *class_kinds_change(const struct class_kinds *k, uint64_t number)
{
	CHECK(number >= k->from && number < k->seen && k->seen - number <= FIT_LOG_CHANGES);
	return &k->log[number % FIT_LOG_CHANGES];
}
