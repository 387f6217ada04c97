#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/tables/tables.h"

static int term_check(const struct state *state, const void *body)
{
	const uint64_t *term = body;

	// Terms are counted up for as long as the system lives (snapshot_load.c says the same).
	return *term > state->term && *term < UINT64_MAX / 2 ? 0 : -ERROR_CORRUPT;
}

static void term_apply(struct state *state, void *body, int64_t time_ns)
{
	const uint64_t *term = body;

	state->term = *term;
}

static const struct {
	entry_body_check *check; // NULL: no check is needed
	entry_body_apply *apply;
} rules[] = {
	[ENTRY_TERM] = {term_check, term_apply},
	[ENTRY_NODE_REGISTER] = {node_register_check, node_register_apply},
	[ENTRY_NODE_AWAITED] = {node_register_check, node_register_apply},
	[ENTRY_NODE_STATUS] = {node_status_check, node_status_apply},
	[ENTRY_NODE_STANDING] = {node_standing_check, node_standing_apply},
	[ENTRY_NODE_ELIGIBILITY] = {node_eligibility_check, node_eligibility_apply},
	[ENTRY_NODE_DRAIN] = {node_drain_check, node_drain_apply},
	[ENTRY_NODE_PURGE] = {node_purge_check, node_purge_apply},
	[ENTRY_JOB_REGISTER] = {job_register_check, job_register_apply},
	[ENTRY_JOB_DEREGISTER] = {job_deregister_check, job_deregister_apply},
	[ENTRY_JOB_STABLE] = {job_stable_check, job_stable_apply},
	[ENTRY_JOB_NOTE] = {job_note_check, job_note_apply},
	[ENTRY_CLIENT] = {client_check, client_apply},
	[ENTRY_ALLOC_PLACE] = {alloc_place_check, alloc_place_apply},
	[ENTRY_PLACE_REQUEST] = {place_request_check, place_request_apply},
	[ENTRY_ALLOC_RELEASE] = {alloc_release_check, alloc_release_apply},
	[ENTRY_COLLECT] = {NULL, collect_apply},
	[ENTRY_ALLOC_UPDATE] = {alloc_update_check, alloc_update_apply},
	[ENTRY_ALLOC_TRANSITION] = {alloc_transition_check, alloc_transition_apply},
	[ENTRY_PLAN] = {plan_entry_check, plan_apply},
	[ENTRY_DEPLOYMENT] = {deployment_entry_check, deployment_entry_apply},
	[ENTRY_VM] = {vm_entry_check, vm_entry_apply},
	[ENTRY_VM_NOTED] = {vm_entry_check, vm_entry_apply},
	[ENTRY_RECORD_PUT] = {record_put_check, record_put_apply},
	[ENTRY_RECORD_DELETE] = {record_delete_check, record_delete_apply},
	[ENTRY_GC] = {gc_check, gc_apply},
	[ENTRY_PLACE_IN_PART] = {place_request_check, place_request_apply},
};
_Static_assert(sizeof rules / sizeof rules[0] == ENTRY_KINDS, "every kind has its row");

int entry_check(const struct state *state, const struct entry *e)
{
	CHECK(e->kind > 0 && e->kind < ENTRY_KINDS);
	return rules[e->kind].check ? rules[e->kind].check(state, e->body) : 0;
}

void entry_apply(struct state *state, struct entry *e)
{
	CHECK(e->kind > 0 && e->kind < ENTRY_KINDS);
	uint64_t before = state->index++;
	state->time_ns = e->time_ns;
	rules[e->kind].apply(state, e->body, e->time_ns);
	entry_release(e);
	CHECK(state->index > before);
}
