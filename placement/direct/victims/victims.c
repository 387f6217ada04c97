#include "placement/direct/victims/victims.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct victims {
	int64_t priority;
	struct victims_of_node *nodes;
	bool *is_touched; // by slot
	uint32_t *touched;
	uint32_t touched_count;
	uint32_t slots, room;
	uint64_t head;
	uint32_t log[VICTIMS_LOG];
};

struct victims *victims_create(int64_t priority)
{
	struct victims *v = memory_take(sizeof *v);
	v->priority = priority;
	return v;
}

void victims_destroy(struct victims *v)
{
	if (!v)
		return;
	free(v->nodes);
	free(v->is_touched);
	free(v->touched);
	free(v);
}

int64_t victims_priority(const struct victims *v)
{
	return v->priority;
}

void victims_touch(struct victims *v, uint32_t slot)
{
	// New slots are read anyway.
	if (slot >= v->slots || v->is_touched[slot])
		return;
	v->is_touched[slot] = true;
	v->touched[v->touched_count++] = slot;
	CHECK(v->touched_count <= v->slots);
}

void victims_turn_to(struct victims *v, int64_t priority)
{
	v->priority = priority;
	for (uint32_t slot = 0; slot < v->slots; slot++)
		victims_touch(v, slot);
}

static void make_room(struct victims *v, uint32_t slots)
{
	if (slots <= v->room)
		return;
	v->room = slots + slots / 4;
	v->nodes = memory_resize(v->nodes, v->room * sizeof v->nodes[0]);
	v->is_touched = memory_resize(v->is_touched, v->room * sizeof v->is_touched[0]);
	v->touched = memory_resize(v->touched, v->room * sizeof v->touched[0]);
}

struct reading {
	int64_t priority;
	struct victims_of_node *node;
};

static uint32_t greater(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static bool add_victim(const struct allocation *a, void *context)
{
	const struct reading *r = context;
	struct victims_of_node *n = r->node;

	if (!allocation_holds_room(a) || a->job->priority > r->priority)
		return true;
	n->held.cpu_mhz += a->resources.cpu_mhz;
	n->held.memory_mb += a->resources.memory_mb;
	n->held.disk_mb += a->resources.disk_mb;
	n->most.cpu_mhz = greater(n->most.cpu_mhz, a->resources.cpu_mhz);
	n->most.memory_mb = greater(n->most.memory_mb, a->resources.memory_mb);
	n->most.disk_mb = greater(n->most.disk_mb, a->resources.disk_mb);
	n->least = n->count == 0 || a->job->priority < n->least ? a->job->priority : n->least;
	n->count++;
	return true;
}

static void read_slot(struct victims *v, const struct victims_source *source, uint32_t slot)
{
	struct victims_of_node *n = &v->nodes[slot];
	struct reading reading = {v->priority, n};

	*n = (struct victims_of_node){0};
	if (source->use(source->context, slot, &n->capacity, &n->used))
		source->allocations(source->context, slot, add_victim, &reading);
	v->is_touched[slot] = false;
	v->log[v->head++ % VICTIMS_LOG] = slot;
}

void victims_catch_up(struct victims *v, const struct victims_source *source, uint32_t slots)
{
	for (uint32_t i = 0; i < v->touched_count; i++)
		read_slot(v, source, v->touched[i]);
	v->touched_count = 0;
	make_room(v, slots);
	for (; v->slots < slots; v->slots++)
		read_slot(v, source, v->slots);
}

uint32_t victims_slots(const struct victims *v)
{
	return v->slots;
}

const struct victims_of_node *victims_at(const struct victims *v, uint32_t slot)
{
	CHECK(slot < v->slots);
	return &v->nodes[slot];
}

uint64_t victims_head(const struct victims *v)
{
	return v->head;
}

uint32_t victims_reading(const struct victims *v, uint64_t number)
{
	CHECK(number < v->head && v->head - number <= VICTIMS_LOG);
	return v->log[number % VICTIMS_LOG];
}
