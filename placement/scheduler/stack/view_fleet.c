#include "placement/scheduler/stack/view_fleet.h"
#include "placement/direct/fit_input.h"
#include "placement/direct/fleet.h"
#include "state/base/memory.h"
#include <stdlib.h>

struct view_fleet {
	struct scheduler_view view;
	struct fleet *fleet;
	uint32_t views;
};

static uint32_t fleet_slots(void *context)
{
	const struct view_fleet *f = context;
	return f->view.slots(f->view.context);
}

static bool fleet_read(void *context, uint32_t slot, struct fit_input *in)
{
	const struct view_fleet *f = context;
	bool is_there = slot < fleet_slots(context);
	const struct node *n = is_there ? f->view.node_at(f->view.context, slot) : NULL;

	if (!n)
		return false;
	struct node_use use = f->view.node_use(f->view.context, slot);
	const char *snapshot = n->snapshot ? n->snapshot : "";
	*in = fit_input_of(n, use.used, &use.devices, use.living > 0 ? NULL : snapshot);
	in->has_details = use.with_details > 0;
	in->stamp = f->views; // a view does not say what nodes changed since the one before
	return true;
}

static void fleet_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	const struct view_fleet *f = context;
	f->view.node_allocations(f->view.context, slot, visit, visit_context);
}

static void read_again(void *context, struct fleet *fleet)
{
	fleet_reread_all(fleet);
}

struct view_fleet *view_fleet_create(void)
{
	struct view_fleet *f = memory_take(sizeof *f);
	struct fleet_source source = {fleet_slots, fleet_read, fleet_allocations, read_again, f};
	f->fleet = fleet_create(&source);
	return f;
}

void view_fleet_destroy(struct view_fleet *f)
{
	if (!f)
		return;
	fleet_destroy(f->fleet);
	free(f);
}

void view_fleet_begin(struct view_fleet *f, struct scheduler_view *view)
{
	f->view = *view;
	f->views++;
	fleet_begin_view(f->fleet);
	view->fleet = f->fleet;
}
