// The schedulers' view of the daemon's state: its published records, under RCU.
#include "placement/scheduler/common/view.h"
#include "state/base/check.h"

static uint64_t view_index(void *context)
{
	return state_index(context);
}

static uint32_t view_slots(void *context)
{
	return state_node_slots(context);
}

static const struct node *view_node_at(void *context, uint32_t slot)
{
	state_node_prefetch(context, slot);
	return state_node_at(context, slot);
}

static const struct node *view_node_by_id(void *context, const struct uuid *id)
{
	return state_node_by_id(context, id);
}

static const struct node *view_node_alone(void *context, uint32_t slot)
{
	return state_node_at(context, slot);
}

static void view_prefetch_node(void *context, uint32_t slot, bool is_near)
{
	state_node_prefetch_one(context, slot, is_near);
}

static const struct job *view_job(void *context, const char *namespace_name, const char *id)
{
	CHECK(namespace_name && id);
	return state_job(context, text_of(namespace_name), text_of(id));
}

static const struct job *view_job_version(
	void *context, const char *namespace_name, const char *id, uint64_t version)
{
	CHECK(namespace_name && id);
	return state_job_version(context, text_of(namespace_name), text_of(id), version);
}

static const struct deployment *view_latest_deployment(
	void *context, const char *namespace_name, const char *id)
{
	CHECK(namespace_name && id);
	return state_latest_deployment(context, text_of(namespace_name), text_of(id));
}

static void view_job_deployments(void *context, const char *namespace_name, const char *id,
	state_deployment_visit *visit, void *visit_context)
{
	CHECK(namespace_name && id);
	state_job_deployments(context, text_of(namespace_name), text_of(id), visit, visit_context);
}

static void view_job_allocations(void *context, const char *namespace_name, const char *id,
	state_allocation_visit *visit, void *visit_context)
{
	CHECK(namespace_name && id);
	state_job_allocations(context, text_of(namespace_name), text_of(id), visit, visit_context);
}

static void view_node_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	state_node_allocations(context, slot, visit, visit_context);
}

static const struct allocation *view_allocation(void *context, const struct uuid *id)
{
	return state_allocation(context, id);
}

static struct node_use view_node_use(void *context, uint32_t slot)
{
	return state_node_use(context, slot);
}

static const struct scheduler_config *view_config(void *context)
{
	return state_scheduler_config(context);
}

static const struct node_pool *view_pool(void *context, const char *name)
{
	return state_node_pool(context, text_of(name));
}

static const char *view_quota_lacks(void *context, const char *namespace_name,
	const struct quota_amount *change, struct array *texts)
{
	return state_quota_lacks(context, text_of(namespace_name), change, texts);
}

struct scheduler_view state_view_begin(struct state *state)
{
	CHECK(state);
	state_read_begin();
	return (struct scheduler_view){
		.context = state,
		.index = view_index,
		.slots = view_slots,
		.node_at = view_node_at,
		.node_by_id = view_node_by_id,
		.node_alone = view_node_alone,
		.prefetch_node = view_prefetch_node,
		.job = view_job,
		.job_version = view_job_version,
		.latest_deployment = view_latest_deployment,
		.job_deployments = view_job_deployments,
		.job_allocations = view_job_allocations,
		.node_allocations = view_node_allocations,
		.allocation = view_allocation,
		.node_use = view_node_use,
		.config = view_config,
		.pool = view_pool,
		.quota_lacks = view_quota_lacks,
		.supports_disconnect = true,
	};
}

void state_view_end(void)
{
	state_read_end();
}
