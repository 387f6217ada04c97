// One stack over one world, and questions to it.
#pragma once
#include "placement/scheduler/stack/stack.h"
#include "tests/placement/scheduler/world.h"

struct asking {
	struct world *world;
	struct view_fleet *fleet;
	struct scheduler_view view;
	struct plan *plan;
	struct stack *stack;
	uint64_t ties;              // as in scheduler_settings
	struct stack_option option; // the newest answer; the next one releases its details
};

void asking_setup(struct asking *);
// As stack_select(), with metrics that the caller releases.
bool select_keeping(struct stack *, const struct stack_request *, struct stack_option *,
	struct alloc_metrics *);
// Makes a plan and a stack for the job, in place of earlier ones.
void asking_begin(struct asking *, enum stack_kind, const struct job *);
void asking_teardown(struct asking *);

// Why the node cannot take an instance of the first group; "" when it can.
const char *ask(struct asking *, uint32_t slot);
const char *ask_index(struct asking *, uint32_t slot, uint32_t name_index);
// Selects the best node of all, counted in the metrics; NODE_SLOT_NONE: none.
uint32_t select_with(struct asking *, const struct stack_request *, struct alloc_metrics *);
uint32_t select_any(struct asking *); // asks for nothing in particular
// Places on the node what the newest answer found for it.
void asking_place(struct asking *, uint32_t slot);

// Add parts to the first group.
struct network_ask *ask_network(struct job *, const char *mode);
struct port *ask_port(struct array *ports, const char *label, int64_t value, int64_t to);
