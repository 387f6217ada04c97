// Deployments in the tables: by id and by job, and what they count of their allocations. For state/ only; applier
// thread.
#pragma once
#include "state/records/deployment.h"
#include "state/tables/table.h"

struct job_cell;
struct alloc_cell;
struct alloc_details;

struct deployment_cell {
	CELL_OF(struct deployment, struct uuid id);
	struct job_cell *job_cell;
	struct cds_list_head of_job; // RCU list
	uint32_t living;             // living allocations that belong to it
	uint32_t checked; // while the state is verified: its place among the job's deployments
	bool is_counted, is_counted_active;
};

extern const struct kind deployment_kind;

static inline struct deployment_cell *deployment_cell_find(
	const struct state *state, const struct uuid *id)
{
	return (struct deployment_cell *)table_find(state, STATE_DEPLOYMENTS, id);
}
static inline bool deployment_cell_is_there(const struct deployment_cell *cell)
{
	return cell_is_there(&cell->cell);
}
// The same for an active deployment; NULL: it is deleted or at its end.
struct deployment_cell *deployment_cell_find_active(const struct state *, const struct uuid *);
// The cell of the very job that the deployment was made for, not of a later one of the same name; or NULL.
struct job_cell *deployment_job_cell(const struct state *, const struct deployment *);
// Whether an allocation of the job belongs to the deployment. An id is given once: nothing belongs to a
// deployment before it begins, or before its groups are known.
bool job_cell_has_members_of(const struct job_cell *, const struct uuid *deployment);
// Returns a version that may be changed until it is published. Only deployment_cell_set_status() changes its status.
struct deployment *deployment_cell_revise(struct state *, struct deployment_cell *, uint64_t index);
// When the status is successful, the job's version is stable from then on.
void deployment_cell_set_status(
	struct state *, struct deployment_cell *, int status, struct text description);
void deployment_cell_delete(struct state *, struct deployment_cell *, uint64_t index);
// Call it when an allocation came, changed or went: its deployment counts the living ones.
void deployment_follow_allocation(struct state *, struct alloc_cell *);
// What counts of an allocation in a deployment.
struct deployment_share {
	struct uuid deployment; // zero: none
	struct optional_bool healthy;
};
struct deployment_share deployment_share_of(const struct allocation *);
// Call it when an allocation joined its deployment or has a new verdict on its health. before: what it was before that;
// NULL: it is new.
void deployment_count_health(
	struct state *, const struct alloc_cell *, const struct deployment_share *before);
bool deployments_have_room(const struct state *, uint32_t count);
// Whether the tables can rely on the record.
bool deployment_is_sound(const void *record);
