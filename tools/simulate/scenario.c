#include "tools/simulate/scenario.h"
#include "state/base/memory.h"
#include "tools/simulate/scenario_pool.h"

const struct scenario_node *scenario_node_at(const struct scenario *s, uint32_t slot)
{
	return slot < s->node_count ? &s->nodes[slot] : NULL;
}

// Place of an id in an index of records; count when the index lacks it.
static uint32_t find_id(const uint32_t *sorted, uint32_t count, const struct uuid *id,
	const struct uuid *(*id_at)(const struct scenario *, uint32_t), const struct scenario *s)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = uuid_compare(id, id_at(s, sorted[middle]));
		if (order == 0)
			return sorted[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return count;
}

static const struct uuid *node_id(const struct scenario *s, uint32_t i)
{
	return &s->nodes[i].record.id;
}

static const struct uuid *allocation_id(const struct scenario *s, uint32_t i)
{
	return &s->allocations[i].record.id;
}

const struct allocation *scenario_allocation_find(const struct scenario *s, const struct uuid *id)
{
	uint32_t at = find_id(s->allocations_by_id, s->allocation_count, id, allocation_id, s);
	return at < s->allocation_count ? &s->allocations[at].record : NULL;
}

static bool is_job(const struct job *job, const char *namespace_name, const char *id)
{
	return strcmp(job->id, id) == 0 && strcmp(job->namespace_name, namespace_name) == 0;
}

const struct job *scenario_version(
	const struct scenario *s, const char *namespace_name, const char *id, uint64_t modify_index)
{
	for (uint32_t i = 0; i < s->job_count; i++)
		if (s->jobs[i]->record.modify_index == modify_index &&
			is_job(s->jobs[i], namespace_name, id))
			return s->jobs[i];
	return NULL;
}

static uint64_t view_index(void *context)
{
	return ((const struct scenario *)context)->index;
}

static uint32_t view_slots(void *context)
{
	return ((const struct scenario *)context)->node_count;
}

static const struct node *view_node_at(void *context, uint32_t slot)
{
	const struct scenario_node *node = scenario_node_at(context, slot);
	return node ? &node->record : NULL;
}

static const struct node *view_node_by_id(void *context, const struct uuid *id)
{
	const struct scenario *s = context;
	uint32_t at = find_id(s->nodes_by_id, s->node_count, id, node_id, s);
	return at < s->node_count ? &s->nodes[at].record : NULL;
}

static const struct job *view_job(void *context, const char *namespace_name, const char *id)
{
	const struct scenario *s = context;
	if (s->current_last && is_job(s->current_last, namespace_name, id))
		return s->job;
	for (uint32_t i = s->job_count; i > 0; i--)
		if (is_job(s->jobs[i - 1], namespace_name, id))
			return s->jobs[i - 1];
	return NULL;
}

static const struct job *view_job_version(
	void *context, const char *namespace_name, const char *id, uint64_t version)
{
	const struct scenario *s = context;
	for (uint32_t i = s->job_count; i > 0; i--)
		if (s->jobs[i - 1]->version == version &&
			is_job(s->jobs[i - 1], namespace_name, id))
			return s->jobs[i - 1];
	return NULL;
}

static bool is_deployment_of(const struct deployment *d, const char *namespace_name, const char *id)
{
	return strcmp(d->job_id, id) == 0 && strcmp(d->namespace_name, namespace_name) == 0;
}

static const struct deployment *view_latest_deployment(
	void *context, const char *namespace_name, const char *id)
{
	const struct scenario *s = context;
	for (uint32_t i = 0; i < s->deployment_count; i++)
		if (is_deployment_of(s->deployments[i], namespace_name, id))
			return s->deployments[i];
	return NULL;
}

static void view_job_deployments(void *context, const char *namespace_name, const char *id,
	state_deployment_visit *visit, void *visit_context)
{
	const struct scenario *s = context;
	for (uint32_t i = 0; i < s->deployment_count; i++)
		if (is_deployment_of(s->deployments[i], namespace_name, id) &&
			!visit(s->deployments[i], visit_context))
			return;
}

static void view_job_allocations(void *context, const char *namespace_name, const char *id,
	state_allocation_visit *visit, void *visit_context)
{
	const struct scenario *s = context;
	for (uint32_t i = 0; i < s->allocation_count; i++) {
		const struct allocation *a = &s->allocations[i].record;
		if (is_job(a->job, namespace_name, id) && !visit(a, visit_context))
			return;
	}
}

static void view_node_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	const struct scenario_allocation *a = scenario_node_at(context, slot)->allocations;
	while (a && visit(&a->record, visit_context))
		a = a->next_on_node;
}

static const struct allocation *view_allocation(void *context, const struct uuid *id)
{
	return scenario_allocation_find(context, id);
}

static struct node_use view_node_use(void *context, uint32_t slot)
{
	const struct scenario_allocation *a = scenario_node_at(context, slot)->allocations;
	struct node_use use = {0};
	for (; a; a = a->next_on_node) {
		if (!allocation_holds_room(&a->record))
			continue;
		use.used = resources_plus(use.used, a->record.resources);
		for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
			use.devices.groups[i] |= allocation_devices(&a->record)->groups[i];
		use.with_details += alloc_details_hold_node(a->record.details);
		use.living += !allocation_is_terminal(&a->record);
	}
	return use;
}

static const struct scheduler_config *view_config(void *context)
{
	return &((const struct scenario *)context)->config;
}

static const struct node_pool *view_pool(void *context, const char *name)
{
	return scenario_pool_find(&((const struct scenario *)context)->pools, name);
}

static const char *view_quota_lacks(void *context, const char *namespace_name,
	const struct quota_amount *change, struct array *texts)
{
	const struct scenario *s = context;
	return scenario_quota_lacks(&s->quotas, namespace_name, change, texts);
}

struct scheduler_view scenario_view(struct scenario *s)
{
	return (struct scheduler_view){
		.context = s,
		.index = view_index,
		.slots = view_slots,
		.node_at = view_node_at,
		.node_by_id = view_node_by_id,
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
		.supports_disconnect = s->supports_disconnect,
	};
}
