#include "placement/direct/fleet.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define ALGORITHMS (PLACEMENT_SPREAD + 1)
// Each takes about 90 bytes a node.
#define PRIORITIES_KEPT 4u

struct fleet {
	struct fleet_source source;
	struct fleet_index indexes[ALGORITHMS];   // fit NULL: nobody asked for it
	bool is_current;                          // with the present view
	struct victims *victims[PRIORITIES_KEPT]; // the one that was asked for last goes first
	uint32_t victims_count;
};

struct fleet *fleet_create(const struct fleet_source *source)
{
	struct fleet *f = memory_take(sizeof *f);
	f->source = *source;
	return f;
}

void fleet_destroy(struct fleet *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < ALGORITHMS; i++) {
		class_sets_destroy(f->indexes[i].sets);
		node_values_kept_destroy(f->indexes[i].values);
		fit_index_destroy(f->indexes[i].fit);
	}
	for (uint32_t i = 0; i < f->victims_count; i++)
		victims_destroy(f->victims[i]);
	free(f);
}

static void read_into(struct fleet *f, struct fit_index *x, uint32_t slot)
{
	struct fit_input in;
	bool is_there = f->source.read(f->source.context, slot, &in);
	fit_index_set(x, slot, is_there ? &in : NULL);
}

static void read_all_into(struct fleet *f, struct fit_index *x)
{
	uint32_t slots = f->source.slots(f->source.context);
	for (uint32_t slot = 0; slot < slots || slot < fit_index_slots(x); slot++)
		read_into(f, x, slot);
}

void fleet_reread(struct fleet *f, uint32_t slot)
{
	for (uint32_t i = 0; i < ALGORITHMS; i++)
		if (f->indexes[i].fit)
			read_into(f, f->indexes[i].fit, slot);
	for (uint32_t i = 0; i < f->victims_count; i++)
		victims_touch(f->victims[i], slot);
}

void fleet_reread_all(struct fleet *f)
{
	for (uint32_t i = 0; i < ALGORITHMS; i++)
		if (f->indexes[i].fit)
			read_all_into(f, f->indexes[i].fit);
	for (uint32_t i = 0; i < f->victims_count; i++)
		for (uint32_t slot = 0; slot < victims_slots(f->victims[i]); slot++)
			victims_touch(f->victims[i], slot);
}

void fleet_begin_view(struct fleet *f)
{
	f->is_current = false;
}

static void be_current(struct fleet *f)
{
	if (!f->is_current && f->source.catch_up)
		f->source.catch_up(f->source.context, f);
	f->is_current = true;
}

const struct fleet_index *fleet_index(struct fleet *f, enum placement_algorithm algorithm)
{
	struct fleet_index *x = &f->indexes[algorithm];

	be_current(f);
	if (!x->fit) {
		x->fit = fit_index_create(algorithm);
		x->sets = class_sets_create(x->fit);
		x->values = node_values_kept_create(x->fit);
		read_all_into(f, x->fit);
	}
	return x;
}

static bool use_of_node(
	void *context, uint32_t slot, struct resources *capacity, struct resources *used)
{
	struct fleet *f = context;
	struct fit_input in;
	bool is_there = f->source.read(f->source.context, slot, &in);

	if (is_there) {
		*capacity = in.capacity;
		*used = in.used;
	}
	return is_there;
}

static void allocations_of_node(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	struct fleet *f = context;
	f->source.allocations(f->source.context, slot, visit, visit_context);
}

// The one that was asked for longest ago turns to a priority that is new.
static struct victims *find_victims(struct fleet *f, int64_t priority)
{
	uint32_t at = 0;

	while (at < f->victims_count && victims_priority(f->victims[at]) != priority)
		at++;
	if (at == f->victims_count && at < PRIORITIES_KEPT)
		f->victims[f->victims_count++] = victims_create(priority);
	at = at < PRIORITIES_KEPT ? at : PRIORITIES_KEPT - 1;
	struct victims *found = f->victims[at];
	if (victims_priority(found) != priority)
		victims_turn_to(found, priority);
	for (; at > 0; at--)
		f->victims[at] = f->victims[at - 1];
	return f->victims[0] = found;
}

struct victims *fleet_victims(struct fleet *f, int64_t priority)
{
	struct victims_source source = {use_of_node, allocations_of_node, f};

	be_current(f);
	struct victims *v = find_victims(f, priority);
	victims_catch_up(v, &source, f->source.slots(f->source.context));
	return v;
}
