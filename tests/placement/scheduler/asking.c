#include "tests/placement/scheduler/asking.h"
#include "placement/scheduler/stack/view_fleet.h"
#include "state/base/check.h"
#include "tests/placement/job_check/job_build.h"
#include <string.h>

void asking_setup(struct asking *b)
{
	*b = (struct asking){.world = world_create(), .fleet = view_fleet_create()};
}

static void forget(struct asking *b)
{
	alloc_details_release(b->option.details);
	b->option = (struct stack_option){0};
	stack_destroy(b->stack);
	plan_free(b->plan);
}

void asking_begin(struct asking *b, enum stack_kind kind, const struct job *job)
{
	forget(b);
	b->view = world_view(b->world);
	view_fleet_begin(b->fleet, &b->view);
	b->plan = plan_create();
	b->stack = stack_create(kind, &b->view, b->plan);
	stack_break_ties(b->stack, b->ties);
	stack_set_job(b->stack, job);
}

void asking_teardown(struct asking *b)
{
	forget(b);
	view_fleet_destroy(b->fleet);
	world_destroy(b->world);
}

const char *ask_index(struct asking *b, uint32_t slot, uint32_t index)
{
	alloc_details_release(b->option.details);
	bool fits = stack_select_node(b->stack, 0, index, slot, &b->option);
	CHECK(fits == (b->option.outcome == STACK_FITS));
	CHECK(b->option.node == b->world->nodes[slot]);
	return b->option.reason;
}

const char *ask(struct asking *b, uint32_t slot)
{
	return ask_index(b, slot, 0);
}

bool select_keeping(struct stack *s, const struct stack_request *r, struct stack_option *o,
	struct alloc_metrics *m)
{
	struct alloc_metrics lent;
	bool found = stack_select(s, r, o, &lent);
	metrics_copy(m, &lent);
	return found;
}

uint32_t select_with(struct asking *b, const struct stack_request *r, struct alloc_metrics *m)
{
	alloc_details_release(b->option.details);
	bool found = select_keeping(b->stack, r, &b->option, m);
	CHECK(found == (b->option.slot != NODE_SLOT_NONE));
	return b->option.slot;
}

uint32_t select_any(struct asking *b)
{
	struct stack_request r = {.preferred_slot = NODE_SLOT_NONE};
	struct alloc_metrics m = {0};
	uint32_t slot = select_with(b, &r, &m);
	metrics_release(&m);
	return slot;
}

void asking_place(struct asking *b, uint32_t slot)
{
	struct plan_placement p = {.node_id = b->world->nodes[slot]->id,
		.slot = slot,
		.resources = b->option.resources,
		.devices = b->option.devices,
		.details = b->option.details,
		.metrics = PLAN_NO_METRICS};
	uint32_t number = b->plan->placements.count + 1;
	p.id.bytes[0] = 0xb0;
	memcpy(p.id.bytes + 12, &number, sizeof number);
	b->option.details = NULL;
	stack_plan_place(b->stack, &p);
}

struct network_ask *ask_network(struct job *job, const char *mode)
{
	struct network_ask *network = array_append(&group_of(job)->networks, sizeof *network);
	set(&network->mode, mode);
	return network;
}

struct port *ask_port(struct array *ports, const char *label, int64_t value, int64_t to)
{
	struct port *port = array_append(ports, sizeof *port);
	set(&port->label, label);
	port->value = value;
	port->to = to;
	return port;
}
