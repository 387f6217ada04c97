// A view that passes on to another one.
#include "placement/scheduler/common/view.h"

static uint64_t below_index(void *context)
{
	const struct scheduler_view *below = context;
	return below->index(below->context);
}

static uint32_t below_slots(void *context)
{
	const struct scheduler_view *below = context;
	return below->slots(below->context);
}

static const struct node *below_node_at(void *context, uint32_t slot)
{
	const struct scheduler_view *below = context;
	return below->node_at(below->context, slot);
}

static const struct node *below_node_by_id(void *context, const struct uuid *id)
{
	const struct scheduler_view *below = context;
	return below->node_by_id(below->context, id);
}

static const struct job *below_job(void *context, const char *namespace_name, const char *id)
{
	const struct scheduler_view *below = context;
	return below->job(below->context, namespace_name, id);
}

static const struct job *below_job_version(
	void *context, const char *namespace_name, const char *id, uint64_t version)
{
	const struct scheduler_view *below = context;
	return below->job_version(below->context, namespace_name, id, version);
}

static const struct deployment *below_latest_deployment(
	void *context, const char *namespace_name, const char *id)
{
	const struct scheduler_view *below = context;
	return below->latest_deployment(below->context, namespace_name, id);
}

static void below_job_deployments(void *context, const char *namespace_name, const char *id,
	state_deployment_visit *visit, void *visit_context)
{
	const struct scheduler_view *below = context;
	below->job_deployments(below->context, namespace_name, id, visit, visit_context);
}

static void below_job_allocations(void *context, const char *namespace_name, const char *id,
	state_allocation_visit *visit, void *visit_context)
{
	const struct scheduler_view *below = context;
	below->job_allocations(below->context, namespace_name, id, visit, visit_context);
}

static void below_node_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	const struct scheduler_view *below = context;
	below->node_allocations(below->context, slot, visit, visit_context);
}

static const struct allocation *below_allocation(void *context, const struct uuid *id)
{
	const struct scheduler_view *below = context;
	return below->allocation(below->context, id);
}

static struct node_use below_node_use(void *context, uint32_t slot)
{
	const struct scheduler_view *below = context;
	return below->node_use(below->context, slot);
}

static const struct scheduler_config *below_config(void *context)
{
	const struct scheduler_view *below = context;
	return below->config(below->context);
}

static const struct node_pool *below_pool(void *context, const char *name)
{
	const struct scheduler_view *below = context;
	return below->pool(below->context, name);
}

static const char *below_quota_lacks(void *context, const char *namespace_name,
	const struct quota_amount *change, struct array *texts)
{
	const struct scheduler_view *below = context;
	return below->quota_lacks(below->context, namespace_name, change, texts);
}

struct scheduler_view view_over(struct scheduler_view *below)
{
	return (struct scheduler_view){
		.context = below,
		.index = below_index,
		.slots = below_slots,
		.node_at = below_node_at,
		.node_by_id = below_node_by_id,
		.job = below_job,
		.job_version = below_job_version,
		.latest_deployment = below_latest_deployment,
		.job_deployments = below_job_deployments,
		.job_allocations = below_job_allocations,
		.node_allocations = below_node_allocations,
		.allocation = below_allocation,
		.node_use = below_node_use,
		.config = below_config,
		.pool = below_pool,
		.quota_lacks = below->quota_lacks ? below_quota_lacks : NULL,
		.supports_disconnect = below->supports_disconnect,
	};
}
