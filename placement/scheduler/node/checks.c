#include "placement/scheduler/node/checks.h"
#include "state/base/check.h"
#include <stdio.h>
#include <string.h>

const char reason_class_ineligible[] = "computed class ineligible";
const char reason_distinct_hosts[] = "distinct_hosts";
static const char reason_volumes[] = "missing compatible host volumes";

static const char *check_rules(const struct rule_list *list, const struct node *n)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (!list->items[i].condition ||
			!constraint_matches_node(list->items[i].condition, n))
			return list->items[i].text;
	return NULL;
}

static bool is_true(const char *value)
{
	static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
	for (uint32_t i = 0; value && i < sizeof yes / sizeof yes[0]; i++)
		if (strcmp(value, yes[i]) == 0)
			return true;
	return false;
}

static bool has_driver(const struct node *n, const char *driver)
{
	CHECK(driver);
	const struct node_class *c = n->node_class;
	char name[NAME_BYTES_MAX + sizeof "driver."];
	for (uint32_t i = 0; i < c->driver_count; i++)
		if (strcmp(c->drivers[i].name, driver) == 0)
			return strcmp(c->drivers[i].value, "1") == 0;
	snprintf(name, sizeof name, "driver.%s", driver);
	return is_true(node_attribute(n, name));
}

static bool has_drivers(const struct group_rules *g, const struct node *n)
{
	for (uint32_t i = 0; i < g->driver_count; i++)
		if (!has_driver(n, g->drivers[i]))
			return false;
	return true;
}

static bool has_devices(const struct group_rules *g, const struct node *n)
{
	struct device_choice ignored;
	struct device_set all = device_set_of_class(n->node_class);
	return g->devices.count == 0 ||
	       device_needs_choose(&g->devices, n->node_class, &all, &ignored);
}

static bool has_network(const struct node *n, const char *mode)
{
	const char *wanted = mode && mode[0] ? mode : "host";
	if (strcmp(wanted, "none") == 0)
		return true;
	const struct node_fittings *fittings = node_fittings(n);
	for (uint32_t i = 0; i < fittings->network_count; i++) {
		const char *own = fittings->networks[i].mode;
		if (strcmp(own && own[0] ? own : "host", wanted) == 0)
			return true;
	}
	return false;
}

static const char *check_port(struct stack *s, const struct port *port, const struct node *n)
{
	char id[UUID_TEXT_BYTES];
	const char *label = port->label ? port->label : "";
	if (!port->host_network || !port->host_network[0])
		return NULL;
	const char *name = port_host_network(n, port->host_network, id);
	if (!name)
		return reasons_format(&s->reasons,
			"invalid host network \"%s\" template for port \"%s\"", port->host_network,
			label);
	if (port_address(n, port->host_network))
		return NULL;
	return reasons_format(
		&s->reasons, "missing host network \"%s\" for port \"%s\"", name, label);
}

static const char *check_ports(struct stack *s, const struct array *ports, const struct node *n)
{
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct port *port = ARRAY_AT(ports, struct port, i);
		const char *refusal = check_port(s, port, n);
		if (refusal)
			return refusal;
	}
	return NULL;
}

static const char *check_network(struct stack *s, const struct group_rules *g, const struct node *n)
{
	const struct network_ask *ask = g->network;
	if (!ask)
		return NULL;
	if (!has_network(n, ask->mode))
		return "missing network";
	if (ask->mode && strcmp(ask->mode, "none") == 0)
		return NULL;
	const char *refusal = check_ports(s, &ask->dynamic_ports, n);
	return refusal ? refusal : check_ports(s, &ask->reserved_ports, n);
}

static const struct host_volume *find_volume(const struct node *n, const char *name)
{
	CHECK(name);
	const struct node_fittings *fittings = node_fittings(n);
	for (uint32_t i = 0; i < fittings->volume_count; i++)
		if (strcmp(fittings->volumes[i].name, name) == 0)
			return &fittings->volumes[i];
	return NULL;
}

static bool volume_fits(const struct volume_ask *ask, const struct node *n, uint32_t name_index)
{
	char source[NAME_BYTES_MAX + 16];
	// A volume that is not the host's own needs a plugin, and there are none.
	if (ask->type && ask->type[0] && strcmp(ask->type, "host") != 0)
		return false;
	if (ask->per_alloc)
		snprintf(source, sizeof source, "%s[%u]", ask->source ? ask->source : "",
			name_index);
	else
		snprintf(source, sizeof source, "%s", ask->source ? ask->source : "");
	const struct host_volume *volume = find_volume(n, source);
	return volume && (!volume->read_only || ask->read_only);
}

static bool volumes_fit(const struct group_rules *g, const struct node *n, uint32_t name_index)
{
	CHECK(g->volumes);
	for (uint32_t i = 0; i < g->group->volumes.count; i++)
		if (!volume_fits(ARRAY_AT(&g->group->volumes, struct volume_ask, i), n, name_index))
			return false;
	return true;
}

static const char *check_group(struct stack *s, const struct group_rules *g, const struct node *n)
{
	if (!has_drivers(g, n))
		return "missing drivers";
	const char *refusal = check_rules(&g->constraints, n);
	if (refusal)
		return refusal;
	if (!has_devices(g, n))
		return "missing devices";
	return check_network(s, g, n);
}

// known: the memo's verdict on the class; NULL: nodes of the class may differ. g: NULL checks the job.
static const char *check_level(
	uint8_t *known, struct stack *s, const struct group_rules *g, const struct node *n)
{
	CHECK(!known || *known <= CLASS_INELIGIBLE);
	if (known && *known == CLASS_ELIGIBLE)
		return NULL;
	if (known && *known == CLASS_INELIGIBLE)
		return reason_class_ineligible;
	const char *refusal = g ? check_group(s, g, n) : check_rules(&s->job_rules.constraints, n);
	if (known)
		*known = refusal ? CLASS_INELIGIBLE : CLASS_ELIGIBLE;
	return refusal;
}

const char *stack_check_static(
	struct stack *s, const struct group_rules *g, const struct node *n, uint32_t name_index)
{
	CHECK(g->number < s->group_count);
	struct remembered_class *memo = class_memo_of(&s->classes, n->node_class);
	uint8_t *of_job = s->job_rules.constraints.escapes ? NULL : &memo->job;
	uint8_t *of_group = g->constraints.escapes ? NULL : &memo->groups[g->number];
	const char *refusal = check_level(of_job, s, NULL, n);
	if (!refusal)
		refusal = check_level(of_group, s, g, n);
	if (!refusal && g->volumes && !volumes_fit(g, n, name_index))
		refusal = reason_volumes;
	return refusal;
}

const char *stack_check_class(
	struct stack *s, const struct group_rules *g, const struct node *any, bool *by_job)
{
	const struct rule_list *of_job = &s->job_rules.constraints;
	const char *refusal = of_job->escapes ? NULL : check_rules(of_job, any);
	*by_job = refusal != NULL;
	return refusal || g->constraints.escapes ? refusal : check_group(s, g, any);
}

const char *stack_check_own(struct stack *s, const struct group_rules *g, const struct node *n,
	uint32_t name_index, bool *by_job)
{
	const struct rule_list *of_job = &s->job_rules.constraints;
	const char *refusal = of_job->escapes ? check_rules(of_job, n) : NULL;
	*by_job = refusal != NULL;
	if (!refusal && g->constraints.escapes)
		refusal = check_group(s, g, n);
	return refusal || !g->volumes || volumes_fit(g, n, name_index) ? refusal : reason_volumes;
}

struct collision_search {
	const struct stack *s;
	const struct group_rules *g;
	bool found;
};

static bool is_collision(const struct proposed_allocation *a, void *context)
{
	struct collision_search *search = context;
	const struct job *job = search->s->job;
	if (strcmp(a->job->id, job->id) != 0 ||
		strcmp(a->job->namespace_name, job->namespace_name) != 0)
		return true;
	const struct task_group *group =
		ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	search->found = search->s->job_rules.distinct.hosts ||
			strcmp(group->name, search->g->group->name) == 0;
	return !search->found;
}

static bool has_collision(const struct stack *s, const struct group_rules *g, const struct node *n)
{
	CHECK(n->slot != NODE_SLOT_NONE);
	struct collision_search search = {s, g, false};
	proposal_walk(&s->proposal, n->slot, is_collision, &search);
	return search.found;
}

const char *stack_check_property(
	struct stack *s, const struct property_set *set, const struct node *n)
{
	CHECK(!set->usable || set->limit >= 0);
	char id[UUID_TEXT_BYTES];
	const char *value = property_set_value(set, n, id);
	if (!set->usable)
		return reasons_format(&s->reasons,
			"distinct_property: the limit for %s is no number", set->attribute);
	if (!value)
		return reasons_format(&s->reasons, "missing property \"%s\"", set->attribute);
	int64_t used = property_set_used(set, value);
	if (used < set->limit)
		return NULL;
	return reasons_format(&s->reasons, "distinct_property: %s=%s used by %lld allocs",
		set->attribute, value, (long long)used);
}

static const char *check_properties(
	struct stack *s, const struct distinct_rules *distinct, const struct node *n)
{
	const char *refusal = NULL;
	for (uint32_t i = 0; i < distinct->property_count && !refusal; i++)
		refusal = stack_check_property(s, &distinct->properties[i], n);
	return refusal;
}

const char *stack_check_properties(struct stack *s, struct group_rules *g, const struct node *n)
{
	CHECK(g->job == s->job);
	const char *refusal = check_properties(s, &s->job_rules.distinct, n);
	return refusal ? refusal : check_properties(s, &g->distinct, n);
}

const char *stack_check_distinct(struct stack *s, struct group_rules *g, const struct node *n)
{
	CHECK(g->job == s->job);
	bool hosts = s->kind == STACK_GENERIC && (s->job_rules.distinct.hosts || g->distinct.hosts);
	if (hosts && has_collision(s, g, n))
		return reason_distinct_hosts;
	return stack_check_properties(s, g, n);
}
