// Evaluations in the tables: by id and by job, and how many allocations each made. For state/ only; applier thread.
#pragma once
#include "state/records/evaluation.h"
#include "state/tables/table.h"

struct job_cell;
struct alloc_cell;

struct eval_cell {
	CELL_OF(struct evaluation, struct uuid id);
	struct job_cell *job_cell;
	struct cds_list_head of_job;  // RCU list
	struct cds_list_head blocked; // in its job's list, while it is blocked
	uint32_t allocations;         // that it made or changed last, without deleted ones
	uint8_t counted_status;       // 1 + enum eval_status; 0: not counted
};

extern const struct kind evaluation_kind;

static inline struct eval_cell *eval_cell_find(const struct state *state, const struct uuid *id)
{
	return (struct eval_cell *)table_find(state, STATE_EVALUATIONS, id);
}
static inline bool eval_cell_is_there(const struct eval_cell *cell)
{
	return cell_is_there(&cell->cell);
}

// Call it when an allocation came, changed or went: its evaluation counts it.
void eval_follow_allocation(struct state *, struct alloc_cell *);
// Whether the tables can rely on the record.
bool evaluation_is_sound(const void *record);
bool evaluations_have_room(const struct state *, uint32_t count);
