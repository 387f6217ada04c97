#include "placement/feasibility/node_needs.h"
#include "placement/feasibility/host_network.h"
#include "state/base/check.h"
#include "state/records/job_traits.h"
#include <stdio.h>
#include <string.h>

void node_needs_of_job(struct node_needs *needs, const struct job *job, struct arena *memory)
{
	uint32_t rules = job->constraints.count;
	*needs = (struct node_needs){0};
	if (rules > 0)
		needs->rules.items = arena_room(memory, rules * sizeof *needs->rules.items);
	rule_list_add(&needs->rules, job, &job->constraints);
}

static void add_needed_driver(struct node_needs *needs, const char *driver)
{
	const char *name = driver ? driver : "";
	for (uint32_t i = 0; i < needs->driver_count; i++)
		if (strcmp(name, needs->drivers[i]) == 0)
			return;
	needs->drivers[needs->driver_count++] = name;
}

static uint32_t count_rules(const struct task_group *group)
{
	uint32_t count = group->constraints.count;
	for (uint32_t i = 0; i < group->tasks.count; i++)
		count += ARRAY_AT(&group->tasks, struct task, i)->constraints.count;
	return count;
}

static void need_parts_to_run(
	struct node_needs *needs, const struct task_group *group, struct arena *memory)
{
	const struct array *volumes = &group->volumes;
	needs->drivers = arena_room(memory, group->tasks.count * sizeof *needs->drivers);
	for (uint32_t i = 0; i < group->tasks.count; i++)
		add_needed_driver(needs, ARRAY_AT(&group->tasks, struct task, i)->driver);
	if (group->networks.count > 0)
		needs->network = ARRAY_AT(&group->networks, struct network_ask, 0);
	needs->volumes = volumes->count > 0 ? volumes : NULL;
	for (uint32_t i = 0; i < volumes->count; i++)
		needs->volumes_per_alloc |= ARRAY_AT(volumes, struct volume_ask, i)->per_alloc;
}

void node_needs_of_group(
	struct node_needs *needs, const struct job *job, uint32_t number, struct arena *memory)
{
	CHECK(number < job->task_groups.count);
	const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, number);
	uint32_t rules = count_rules(group);

	*needs = (struct node_needs){0};
	if (rules > 0)
		needs->rules.items = arena_room(memory, rules * sizeof *needs->rules.items);
	rule_list_add(&needs->rules, job, &group->constraints);
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		rule_list_add(&needs->rules, job, &task->constraints);
	}
	device_needs_compile(&needs->devices, job, group, memory);
	if (!job_is_direct(job))
		need_parts_to_run(needs, group, memory);
	CHECK(needs->driver_count <= group->tasks.count);
}

void node_needs_release(struct node_needs *needs)
{
	rule_list_release(&needs->rules);
	device_needs_release(&needs->devices);
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

static bool has_drivers(const struct node_needs *needs, const struct node *n)
{
	for (uint32_t i = 0; i < needs->driver_count; i++)
		if (!has_driver(n, needs->drivers[i]))
			return false;
	return true;
}

static bool has_devices(const struct device_needs *needs, const struct node *n)
{
	struct device_choice ignored;
	struct device_set all = device_set_of_class(n->node_class);
	uint8_t counts[NODE_DEVICE_GROUPS_MAX];
	device_counts(&all, counts);
	return device_needs_choose(needs, n->node_class, NULL, counts, &ignored);
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

static struct unmet_need find_unmet_port(const struct array *ports, const struct node *n)
{
	char id[UUID_TEXT_BYTES];
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct port *port = ARRAY_AT(ports, struct port, i);
		if (!port->host_network || !port->host_network[0])
			continue;
		if (!port_host_network(n, port->host_network, id))
			return (struct unmet_need){.kind = UNMET_PORT_TEMPLATE, .port = port};
		if (!port_address(n, port->host_network))
			return (struct unmet_need){.kind = UNMET_PORT_NETWORK, .port = port};
	}
	return (struct unmet_need){UNMET_NONE};
}

static struct unmet_need find_unmet_network(const struct network_ask *ask, const struct node *n)
{
	if (!has_network(n, ask->mode))
		return (struct unmet_need){UNMET_NETWORK};
	if (ask->mode && strcmp(ask->mode, "none") == 0)
		return (struct unmet_need){UNMET_NONE};
	struct unmet_need unmet = find_unmet_port(&ask->dynamic_ports, n);
	return unmet.kind != UNMET_NONE ? unmet : find_unmet_port(&ask->reserved_ports, n);
}

struct unmet_need node_needs_unmet(
	const struct node_needs *needs, const struct node *n, enum rule_scope scope)
{
	bool of_class = scope != RULES_OF_NODE;
	if (of_class && !has_drivers(needs, n))
		return (struct unmet_need){UNMET_DRIVER};
	uint32_t refused = rule_list_refused(&needs->rules, n, scope);
	if (refused < needs->rules.count)
		return (struct unmet_need){.kind = UNMET_RULE, .rule = refused};
	if (of_class && needs->devices.count > 0 && !has_devices(&needs->devices, n))
		return (struct unmet_need){UNMET_DEVICE};
	if (of_class && needs->network)
		return find_unmet_network(needs->network, n);
	return (struct unmet_need){UNMET_NONE};
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

bool node_needs_volumes_met(
	const struct node_needs *needs, const struct node *n, uint32_t name_index)
{
	for (uint32_t i = 0; needs->volumes && i < needs->volumes->count; i++)
		if (!volume_fits(ARRAY_AT(needs->volumes, struct volume_ask, i), n, name_index))
			return false;
	return true;
}
