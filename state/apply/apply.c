#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/tables/publish.h"

int entry_check(const struct state *state, const struct entry *e)
{
	switch (e->kind) {
	case ENTRY_TERM: return e->term == state->term + 1 ? 0 : -ERROR_CORRUPT;
	case ENTRY_NODE_REGISTER: return node_register_check(state, &e->node_register);
	case ENTRY_NODE_STATUS: return node_status_check(state, &e->node_status);
	case ENTRY_JOB_REGISTER: return job_register_check(state, &e->job_register);
	case ENTRY_JOB_DEREGISTER: return job_deregister_check(state, &e->job_deregister);
	case ENTRY_CLIENT: return client_check(state, &e->client);
	case ENTRY_ALLOC_PLACE: return alloc_place_check(state, &e->alloc_place);
	case ENTRY_PLACE_REQUEST: return place_request_check(state, &e->place_request);
	case ENTRY_ALLOC_RELEASE: return alloc_release_check(state, &e->alloc_release);
	case ENTRY_COLLECT: return 0;
	case ENTRY_EVALUATION: return evaluation_check(state, &e->evaluation);
	case ENTRY_SCHEDULER_CONFIG: return scheduler_config_check(state, &e->scheduler_config);
	case ENTRY_GC: return gc_check(state, &e->gc);
	case ENTRY_PLAN: return plan_entry_check(state, &e->plan);
	case ENTRY_ALLOC_UPDATE: return alloc_update_check(state, &e->alloc_update);
	case ENTRY_ALLOC_TRANSITION: return alloc_transition_check(state, &e->alloc_transition);
	case ENTRY_NODE_ELIGIBILITY: return node_eligibility_check(state, &e->node_eligibility);
	case ENTRY_NODE_PURGE: return node_purge_check(state, &e->node_purge);
	case ENTRY_NODE_DRAIN: return node_drain_check(state, &e->node_drain);
	case ENTRY_NODE_LIFECYCLE: return node_lifecycle_check(state, &e->node_lifecycle);
	case ENTRY_JOB_STABLE: return job_stable_check(state, &e->job_stable);
	case ENTRY_JOB_NOTE: return job_note_check(state, &e->job_note);
	case ENTRY_DEPLOYMENT: return deployment_entry_check(state, &e->deployment);
	case ENTRY_VM: return vm_entry_check(state, &e->vm);
	case ENTRY_VM_WORKER: return vm_worker_entry_check(state, &e->vm_worker);
	case ENTRY_CLUSTER_SETTINGS: return cluster_settings_check(&e->cluster_settings);
	case ENTRY_KINDS: break;
	}
	return -ERROR_CORRUPT;
}

void entry_apply(struct state *state, struct entry *e)
{
	state->index++;
	state->time_ns = e->time_ns;
	switch (e->kind) {
	case ENTRY_TERM: state->term = e->term; break;
	case ENTRY_NODE_REGISTER: node_register_apply(state, &e->node_register, e->time_ns); break;
	case ENTRY_NODE_STATUS: node_status_apply(state, &e->node_status, e->time_ns); break;
	case ENTRY_JOB_REGISTER: job_register_apply(state, &e->job_register, e->time_ns); break;
	case ENTRY_JOB_DEREGISTER:
		job_deregister_apply(state, &e->job_deregister, e->time_ns);
		break;
	case ENTRY_CLIENT: client_add(state, e->client.name, state->index); break;
	case ENTRY_ALLOC_PLACE: alloc_place_apply(state, &e->alloc_place, e->time_ns); break;
	case ENTRY_PLACE_REQUEST:
		place_request_apply(state, &e->place_request, state->index);
		break;
	case ENTRY_ALLOC_RELEASE: alloc_release_apply(state, &e->alloc_release, e->time_ns); break;
	case ENTRY_COLLECT: collect_apply(state, &e->collect); break;
	case ENTRY_EVALUATION: evaluation_apply(state, &e->evaluation); break;
	case ENTRY_SCHEDULER_CONFIG: scheduler_config_apply(state, &e->scheduler_config); break;
	case ENTRY_GC: gc_apply(state, &e->gc); break;
	case ENTRY_PLAN: plan_apply(state, &e->plan, e->time_ns); break;
	case ENTRY_ALLOC_UPDATE: alloc_update_apply(state, &e->alloc_update, e->time_ns); break;
	case ENTRY_ALLOC_TRANSITION:
		alloc_transition_apply(state, &e->alloc_transition, e->time_ns);
		break;
	case ENTRY_NODE_ELIGIBILITY:
		node_eligibility_apply(state, &e->node_eligibility, e->time_ns);
		break;
	case ENTRY_NODE_PURGE: node_purge_apply(state, &e->node_purge, e->time_ns); break;
	case ENTRY_NODE_DRAIN: node_drain_apply(state, &e->node_drain, e->time_ns); break;
	case ENTRY_NODE_LIFECYCLE: node_lifecycle_apply(state, &e->node_lifecycle); break;
	case ENTRY_JOB_STABLE: job_stable_apply(state, &e->job_stable); break;
	case ENTRY_JOB_NOTE: job_note_apply(state, &e->job_note); break;
	case ENTRY_VM: vm_entry_apply(state, &e->vm, e->time_ns); break;
	case ENTRY_VM_WORKER: vm_worker_entry_apply(state, &e->vm_worker); break;
	case ENTRY_CLUSTER_SETTINGS: cluster_settings_apply(state, &e->cluster_settings); break;
	case ENTRY_DEPLOYMENT: deployment_entry_apply(state, &e->deployment, e->time_ns); break;
	case ENTRY_KINDS: break;
	}
}

static int apply_entries(struct state *state, struct bytes_reader *r, uint32_t count)
{
	struct node_registration description;
	struct entry entry;

	for (uint32_t i = 0; i < count; i++) {
		int error = entry_decode(&entry, &description, r);
		if (error)
			return error;
		error = entry_check(state, &entry);
		if (error) {
			entry_release(&entry);
			return error;
		}
		entry_apply(state, &entry);
	}
	return bytes_left(r) == 0 ? 0 : -ERROR_CORRUPT;
}

int batch_apply(struct state *state, uint64_t first_index, const void *batch, uint32_t size)
{
	struct bytes_reader r = bytes_reader_over(batch, size);
	struct batch_header header;
	int error = batch_open(&r, &header);

	if (error)
		return error;
	if (header.first_index != first_index || header.indexes == 0)
		return -ERROR_CORRUPT;
	uint64_t last = first_index + header.indexes - 1;
	if (last <= state->index)
		return 0;
	if (first_index != state->index + 1)
		return -ERROR_CORRUPT;
	error = apply_entries(state, &r, header.entries);
	if (error)
		return error;
	if (state->index != last)
		return -ERROR_CORRUPT;
	struct summary summary = state_summary_now(state);
	state_publish(state, state->changes, last, &summary);
	state->unpublished_from = last + 1;
	return 0;
}
