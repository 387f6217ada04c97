#include "placement/direct/fleet.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define ALGORITHMS (PLACEMENT_SPREAD + 1)

struct fleet {
	struct fleet_source source;
	struct fleet_index indexes[ALGORITHMS]; // fit NULL: nobody asked for it
	bool is_current;                        // with the present view
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
		fit_index_destroy(f->indexes[i].fit);
	}
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
}

void fleet_reread_all(struct fleet *f)
{
	for (uint32_t i = 0; i < ALGORITHMS; i++)
		if (f->indexes[i].fit)
			read_all_into(f, f->indexes[i].fit);
}

void fleet_begin_view(struct fleet *f)
{
	f->is_current = false;
}

const struct fleet_index *fleet_index(struct fleet *f, enum placement_algorithm algorithm)
{
	struct fleet_index *x = &f->indexes[algorithm];

	if (!f->is_current && f->source.catch_up)
		f->source.catch_up(f->source.context, f);
	f->is_current = true;
	if (!x->fit) {
		x->fit = fit_index_create(algorithm);
		x->sets = class_sets_create(x->fit);
		read_all_into(f, x->fit);
	}
	return x;
}
