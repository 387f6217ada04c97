#include "state/tables/publish.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/node_report.h"
#include "state/tables/node_slots.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

void change_add(struct change_list *list, enum change_kind kind, void *cell, struct record *record)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? list->capacity * 2 : 256;
		list->items = memory_resize(list->items, list->capacity * sizeof list->items[0]);
	}
	list->items[list->count++] = (struct change){kind, cell, record};
}

void publish_pointer(void **where, void *what)
{
	__atomic_store_n(where, what, __ATOMIC_RELEASE);
}

static void *published_of(const struct change *change)
{
	switch (change->kind) {
	case CHANGE_NODE: return &((struct node_cell *)change->cell)->published;
	case CHANGE_JOB: return &((struct job_cell *)change->cell)->published;
	case CHANGE_ALLOCATION: return &((struct alloc_cell *)change->cell)->published;
	case CHANGE_EVALUATION: return &((struct eval_cell *)change->cell)->published;
	case CHANGE_CONFIG: return &((struct config_cell *)change->cell)->published;
	case CHANGE_REPORT: return &((struct node_cell *)change->cell)->report;
	case CHANGE_DEPLOYMENT: return &((struct deployment_cell *)change->cell)->published;
	case CHANGE_VM: return &((struct vm_cell *)change->cell)->published;
	case CHANGE_VM_WORKER: return &((struct vm_worker_cell *)change->cell)->published;
	case CHANGE_CLUSTER_SETTINGS:
		return &((struct cluster_settings_cell *)change->cell)->published;
	}
	return NULL;
}

// The node learns with its next heartbeat that something about its allocations is new that it did not
// report itself.
static void announce(struct state *state, const struct allocation *a)
{
	if (a->record.deleted || a->node_slot == NODE_SLOT_NONE)
		return;
	struct node_line *line = &state->node_table->lines[a->node_slot];
	if (a->alloc_modify_index > atomic_load_explicit(&line->alloc_index, memory_order_relaxed))
		atomic_store_explicit(
			&line->alloc_index, a->alloc_modify_index, memory_order_relaxed);
}

static const enum state_table changed_table[] = {[CHANGE_NODE] = STATE_NODES,
	[CHANGE_JOB] = STATE_JOBS,
	[CHANGE_ALLOCATION] = STATE_ALLOCATIONS,
	[CHANGE_EVALUATION] = STATE_EVALUATIONS,
	[CHANGE_CONFIG] = STATE_SCHEDULER_CONFIG,
	[CHANGE_DEPLOYMENT] = STATE_DEPLOYMENTS,
	[CHANGE_VM] = STATE_VMS,
	[CHANGE_VM_WORKER] = STATE_VM_WORKERS,
	[CHANGE_CLUSTER_SETTINGS] = STATE_CLUSTER_SETTINGS};

// For who waits for changes of a list. Stored before the published index, which they see first.
static void note_index(struct state *state, const struct change *change)
{
	uint64_t index = change->record->modify_index;

	if (change->kind == CHANGE_REPORT) // of no table that anybody watches
		return;
	atomic_store_explicit(
		&state->table_index[changed_table[change->kind]], index, memory_order_relaxed);
	if (change->kind == CHANGE_ALLOCATION)
		atomic_store_explicit(
			&((struct alloc_cell *)change->cell)->job_cell->allocations_index, index,
			memory_order_relaxed);
	if (change->kind == CHANGE_EVALUATION)
		atomic_store_explicit(
			&((struct eval_cell *)change->cell)->job_cell->evaluations_index, index,
			memory_order_relaxed);
	if (change->kind == CHANGE_DEPLOYMENT)
		atomic_store_explicit(
			&((struct deployment_cell *)change->cell)->job_cell->deployments_index,
			index, memory_order_relaxed);
}

// What is kept of a job but shown with its versions.
static void show_kept(struct job_keep *keep)
{
	__atomic_store_n(&keep->versions[0]->status, keep->status, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < keep->version_count; i++)
		__atomic_store_n(
			&keep->versions[i]->stable, (keep->stable >> i & 1) != 0, __ATOMIC_RELAXED);
}

static void exchange(struct state *state, const struct change *change)
{
	void **published = published_of(change);

	if (change->kind == CHANGE_JOB && !change->record->deleted)
		show_kept((struct job_keep *)change->record);
	void *old = uatomic_xchg(published, change->record);
	CHECK(old == change->record->older);
	note_index(state, change);
	if (change->kind == CHANGE_NODE)
		node_slot_follow(state, change->cell, (struct node *)change->record);
	if (change->kind == CHANGE_ALLOCATION) {
		node_use_follow(state, old, (struct allocation *)change->record);
		announce(state, (struct allocation *)change->record);
	}
	if (change->kind == CHANGE_VM)
		vm_published(state, change->cell, old, (struct vm *)change->record);
	if (change->kind == CHANGE_VM_WORKER)
		vm_worker_published(&state->vms, change->cell);
}

static void free_vm(struct rcu_head *head)
{
	vm_free(caa_container_of(head, struct vm, record.rcu));
}

static void free_worker(struct rcu_head *head)
{
	vm_worker_free(caa_container_of(head, struct vm_worker, record.rcu));
}

static void free_settings(struct rcu_head *head)
{
	cluster_settings_free(caa_container_of(head, struct cluster_settings, record.rcu));
}

static void free_allocation(struct rcu_head *head)
{
	allocation_free(caa_container_of(head, struct allocation, record.rcu));
}

static void free_evaluation(struct rcu_head *head)
{
	evaluation_free(caa_container_of(head, struct evaluation, record.rcu));
}

static void free_deployment(struct rcu_head *head)
{
	deployment_free(caa_container_of(head, struct deployment, record.rcu));
}

static void free_config(struct rcu_head *head)
{
	free(caa_container_of(head, struct scheduler_config, record.rcu));
}

static void free_report(struct rcu_head *head)
{
	free(caa_container_of(head, struct node_report, record.rcu));
}

// The job that a version changed to stays; the one that it changed from is let go with that version.
static void retire_allocation(
	struct state *state, struct allocation *old, const struct allocation *now)
{
	if (old->job != now->job)
		job_version_release(state, old->job);
	call_rcu(&old->record.rcu, free_allocation);
}

static void retire(struct state *state, const struct change *change)
{
	struct record *old = change->record->older;

	switch (change->kind) {
	case CHANGE_NODE: node_retire(state, (struct node *)old); break;
	case CHANGE_JOB: job_keep_retire(state, (struct job_keep *)old); break;
	case CHANGE_ALLOCATION:
		retire_allocation(
			state, (struct allocation *)old, (struct allocation *)change->record);
		break;
	case CHANGE_EVALUATION: call_rcu(&old->rcu, free_evaluation); break;
	case CHANGE_CONFIG: call_rcu(&old->rcu, free_config); break;
	case CHANGE_REPORT: call_rcu(&old->rcu, free_report); break;
	case CHANGE_DEPLOYMENT: call_rcu(&old->rcu, free_deployment); break;
	case CHANGE_VM: call_rcu(&old->rcu, free_vm); break;
	case CHANGE_VM_WORKER: call_rcu(&old->rcu, free_worker); break;
	case CHANGE_CLUSTER_SETTINGS: call_rcu(&old->rcu, free_settings); break;
	}
}

// --- Observers -----------------------------------------------------------------------------------

void state_observe(struct state *state, struct state_observer *observer)
{
	observer->next = state->observers;
	state->observers = observer;
}

// Of a job its newest version is shown. Its record is shared with every keep, so that of a job that is
// gone is a copy that says so, made by hand.
static const struct record *shown(const struct change *change, const struct record *record)
{
	const struct job_keep *keep = (const struct job_keep *)record;

	if (!record || change->kind != CHANGE_JOB)
		return record;
	return record->deleted ? NULL : &keep->versions[0]->record;
}

static struct state_change *observed_next(struct state *state, uint32_t count)
{
	if (count == state->observed_capacity) {
		state->observed_capacity = count ? count * 2 : 256;
		state->observed = memory_resize(
			state->observed, state->observed_capacity * sizeof state->observed[0]);
	}
	return &state->observed[count];
}

static struct record *job_gone(const struct record *before)
{
	struct job *gone = memory_take(sizeof *gone);

	*gone = *(const struct job *)before;
	gone->record.deleted = true;
	return &gone->record;
}

// Returns how many there are; what came and went within one batch nobody saw.
static uint32_t observe(struct state *state, const struct change_list *changes)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < changes->count; i++) {
		const struct change *change = &changes->items[i];
		const struct record *before = change->record->older;
		if (change->kind == CHANGE_REPORT ||
			((!before || before->deleted) && change->record->deleted))
			continue;
		struct state_change *seen = observed_next(state, count++);
		seen->table = changed_table[change->kind];
		seen->before = shown(change, before && before->deleted ? NULL : before);
		seen->after = change->kind == CHANGE_JOB && change->record->deleted
				      ? job_gone(seen->before)
				      : shown(change, change->record);
	}
	return count;
}

static void tell_observers(struct state *state, const struct change_list *changes, uint64_t index)
{
	bool is_recovery = state->placer == NULL;

	if (is_recovery || !state->observers || changes->count == 0)
		return;
	uint32_t count = observe(state, changes);
	for (struct state_observer *o = state->observers; o && count > 0; o = o->next)
		o->changed(o->context, state->observed, count, index);
	for (uint32_t i = 0; i < count; i++)
		if (state->observed[i].table == STATE_JOBS && state->observed[i].after->deleted)
			free((struct record *)state->observed[i].after);
}

// --- Publication ---------------------------------------------------------------------------------

void state_publish(struct state *state, struct change_list *changes, uint64_t index,
	const struct summary *summary)
{
	for (uint32_t i = 0; i < changes->count; i++)
		exchange(state, &changes->items[i]);
	for (uint32_t i = 0; i < changes->count; i++)
		if (changes->items[i].kind == CHANGE_ALLOCATION)
			node_use_take_devices(state, (struct allocation *)changes->items[i].record);

	pthread_mutex_lock(&state->summary_lock);
	state->published = *summary;
	atomic_store_explicit(&state->published_index, index, memory_order_release);
	pthread_mutex_unlock(&state->summary_lock);
	watch_wake(state->watch);
	tell_observers(state, changes, index);

	// Only now: a snapshot that still saw the index before has begun its read section before
	// this, so it keeps the versions that it follows.
	atomic_thread_fence(memory_order_seq_cst);
	for (uint32_t i = 0; i < changes->count; i++)
		if (changes->items[i].record->older)
			retire(state, &changes->items[i]);
	changes->count = 0;
	state_bury(state);
}

// --- Burying -------------------------------------------------------------------------------------

void state_grave_add(struct state *state, enum grave_kind kind, void *item)
{
	if (state->grave_count == state->grave_capacity) {
		state->grave_capacity = state->grave_capacity ? state->grave_capacity * 2 : 256;
		state->graves = memory_resize(
			state->graves, state->grave_capacity * sizeof state->graves[0]);
	}
	state->graves[state->grave_count++] = (struct grave){kind, item};
}

static void alloc_cell_free(struct rcu_head *head)
{
	struct alloc_cell *cell = caa_container_of(head, struct alloc_cell, rcu);

	allocation_free(cell->working);
	free(cell);
}

static void job_cell_free(struct rcu_head *head)
{
	struct job_cell *cell = caa_container_of(head, struct job_cell, rcu);

	job_keep_free(cell->working);
	free(cell->namespace_name);
	free(cell->id);
	free(cell);
}

static void version_free(struct rcu_head *head)
{
	job_free(caa_container_of(head, struct job, record.rcu));
}

static void request_free(struct rcu_head *head)
{
	free(caa_container_of(head, struct place_request, rcu));
}

// When the last thing that refers to a deleted job goes, so does its place.
static void bury_job_if_idle(struct state *state, struct job_cell *cell)
{
	if (!job_cell_keep(cell) && job_cell_is_idle(cell))
		state_grave_add(state, GRAVE_JOB, cell);
}

static bool bury_allocation(struct state *state, struct alloc_cell *cell)
{
	struct job_cell *job_cell = cell->job_cell;

	if (cell->published != cell->working)
		return false;
	CHECK(cds_lfht_del(state->allocations, &cell->by_id) == 0);
	if (cell->working->node_slot != NODE_SLOT_NONE) {
		cds_list_del_rcu(&cell->on_node);
		state->cells[cell->working->node_slot].allocation_count--;
	}
	cds_list_del_rcu(&cell->of_job);
	sequence_remove(&state->allocation_order, cell);
	job_version_release(state, cell->working->job);
	job_cell->allocation_count--;
	bury_job_if_idle(state, job_cell);
	call_rcu(&cell->rcu, alloc_cell_free);
	return true;
}

static void eval_cell_free(struct rcu_head *head)
{
	struct eval_cell *cell = caa_container_of(head, struct eval_cell, rcu);

	evaluation_free(cell->working);
	free(cell);
}

static bool bury_evaluation(struct state *state, struct eval_cell *cell)
{
	if (cell->published != cell->working)
		return false;
	CHECK(cds_lfht_del(state->evaluations, &cell->by_id) == 0);
	cds_list_del_rcu(&cell->of_job);
	sequence_remove(&state->eval_order, cell);
	cell->job_cell->evaluation_count--;
	bury_job_if_idle(state, cell->job_cell);
	call_rcu(&cell->rcu, eval_cell_free);
	return true;
}

static void deployment_cell_free(struct rcu_head *head)
{
	struct deployment_cell *cell = caa_container_of(head, struct deployment_cell, rcu);

	deployment_free(cell->working);
	free(cell);
}

static bool bury_deployment(struct state *state, struct deployment_cell *cell)
{
	if (cell->published != cell->working)
		return false;
	CHECK(cds_lfht_del(state->deployments, &cell->by_id) == 0);
	cds_list_del_rcu(&cell->of_job);
	sequence_remove(&state->deployment_order, cell);
	cell->job_cell->deployment_count--;
	bury_job_if_idle(state, cell->job_cell);
	call_rcu(&cell->rcu, deployment_cell_free);
	return true;
}

// A job that was registered again meanwhile has left its grave, and may have been put into another
// since.
static bool bury_job(struct state *state, struct job_cell *cell)
{
	if (cell->published != cell->working)
		return false;
	if (job_cell_keep(cell) || !job_cell_is_idle(cell) || cell->is_buried)
		return true;
	cell->is_buried = true;
	CHECK(cds_lfht_del(state->jobs, &cell->by_name) == 0);
	sequence_remove(&state->job_order, cell);
	call_rcu(&cell->rcu, job_cell_free);
	return true;
}

static bool bury(struct state *state, const struct grave *grave)
{
	struct job *version = grave->item;
	struct place_request *request = grave->item;

	switch (grave->kind) {
	case GRAVE_ALLOCATION: return bury_allocation(state, grave->item);
	case GRAVE_JOB: return bury_job(state, grave->item);
	case GRAVE_EVALUATION: return bury_evaluation(state, grave->item);
	case GRAVE_DEPLOYMENT: return bury_deployment(state, grave->item);
	case GRAVE_VM: return vm_cell_bury(state, grave->item);
	case GRAVE_VM_WORKER: return vm_worker_cell_bury(state, grave->item);
	case GRAVE_VERSION:
		sequence_remove(&state->version_order, version);
		call_rcu(&version->record.rcu, version_free);
		return true;
	case GRAVE_REQUEST:
		if (request->forgotten_index > state->published_index)
			return false;
		sequence_remove(&state->request_order, request);
		call_rcu(&request->rcu, request_free);
		return true;
	}
	return true;
}

// A snapshot that begins after this look at the count sees the index that was published before it,
// at which all that is buried here was deleted already.
void state_bury(struct state *state)
{
	uint32_t kept = 0;

	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&state->snapshots) > 0)
		return;
	// Burying one thing may add another at the end.
	for (uint32_t i = 0; i < state->grave_count; i++) {
		struct grave grave = state->graves[i];
		if (!bury(state, &grave))
			state->graves[kept++] = grave;
	}
	state->grave_count = kept;
}
