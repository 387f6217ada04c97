// Where a job may run: constraints, affinities, spreads, networks, volumes.
#include "placement/job_check/job_check_placement.h"
#include "placement/constraint/constraint.h"
#include <stdlib.h>

#define PORT_MOST 65535

static const char *const volume_types[] = {"host", "csi", NULL};
static const char *const network_modes[] = {"host", "bridge", "none", NULL};

static bool text_is(const char *text, const char *word)
{
	return text && strcmp(text, word) == 0;
}

static void check_distinct_property(struct checker *c, const struct constraint *constraint)
{
	const char *count = constraint->r_target ? constraint->r_target : "";
	char *end = NULL;
	if (!constraint->l_target || !constraint->l_target[0])
		checker_mistake(c, "constraint distinct_property needs an LTarget");
	if (count[0] && (strtol(count, &end, 10) < 1 || *end))
		checker_mistake(c,
			"constraint distinct_property has RTarget \"%.64s\", which is no number "
			"of allocations",
			count);
}

static void check_compiles(struct checker *c, const char *what, const char *left, const char *right,
	const char *operand)
{
	struct constraint_error error;
	struct compiled_constraint *compiled = constraint_compile(left, right, operand, &error);
	if (!compiled)
		checker_mistake(c, "%s \"%.64s %.32s %.64s\": %s", what, left ? left : "",
			operand ? operand : "", right ? right : "", error.text);
	else if (constraint_searches(compiled)) // placement of direct jobs is the applier's
		checker_allow_part(c, PART_PLACED_BY_NOMAD, "constraint regexp is");
	constraint_free(compiled);
}

void check_constraints(struct checker *c, const struct array *constraints, bool of_device)
{
	for (uint32_t i = 0; i < constraints->count && i < JOB_CONSTRAINTS_MAX; i++) {
		const struct constraint *item = ARRAY_AT(constraints, struct constraint, i);
		if (!constraint_is_distinct(item->operand))
			check_compiles(c, of_device ? "device constraint" : "constraint",
				item->l_target, item->r_target, item->operand);
		else if (of_device)
			checker_mistake(
				c, "constraint %s is of nodes, not of devices", item->operand);
		else if (checker_allow_part(c, PART_DISTINCT,
				 text_is(item->operand, "distinct_hosts")
					 ? "constraint distinct_hosts is"
					 : "constraint distinct_property is") &&
			 text_is(item->operand, "distinct_property"))
			check_distinct_property(c, item);
	}
}

void check_affinities(struct checker *c, const struct array *affinities, bool of_device)
{
	if (affinities->count > 0 && !(of_device && c->allowed & PART_PLACED_BY_NOMAD) &&
		!checker_allow_part(c, PART_RANKING,
			of_device ? "Affinities of a device are" : "Affinities are"))
		return;
	for (uint32_t i = 0; i < affinities->count && i < JOB_RANKINGS_MAX; i++) {
		const struct affinity *item = ARRAY_AT(affinities, struct affinity, i);
		if (constraint_is_distinct(item->operand))
			checker_mistake(c,
				"affinity %s makes no sense: it belongs into a constraint",
				item->operand);
		else
			check_compiles(c, of_device ? "device affinity" : "affinity",
				item->l_target, item->r_target, item->operand);
		if (item->weight == 0 || item->weight < -100 || item->weight > 100)
			checker_mistake(c,
				"Weight of an affinity is %ld but must be between -100 and 100 "
				"and not 0",
				(long)item->weight);
	}
}

static void check_targets(struct checker *c, const struct spread *spread)
{
	int64_t sum = 0;
	uint32_t count =
		checker_at_most(c, "targets of a spread", spread->targets.count, JOB_LIST_MAX);
	for (uint32_t i = 0; i < count; i++) {
		const struct spread_target *target =
			ARRAY_AT(&spread->targets, struct spread_target, i);
		const char *value = target->value ? target->value : "";
		if (target->percent < 0 || target->percent > 100)
			checker_mistake(c,
				"Percent of spread target \"%.64s\" is %ld but must be between 0 "
				"and 100",
				value, (long)target->percent);
		else
			sum += target->percent;
		for (uint32_t k = 0; k < i; k++)
			if (text_is(ARRAY_AT(&spread->targets, struct spread_target, k)->value,
				    value)) {
				checker_mistake(c, "spread target \"%.64s\" comes twice", value);
				break;
			}
	}
	if (sum > 100)
		checker_mistake(c,
			"Percent of the targets of spread \"%.64s\" sum up to %ld, more than 100",
			spread->attribute ? spread->attribute : "", (long)sum);
}

void check_spreads(struct checker *c, const struct array *spreads)
{
	if (spreads->count > 0 && !checker_allow_part(c, PART_RANKING, "Spreads are"))
		return;
	for (uint32_t i = 0; i < spreads->count && i < JOB_RANKINGS_MAX; i++) {
		const struct spread *spread = ARRAY_AT(spreads, struct spread, i);
		checker_name(
			c, "Attribute of a spread", spread->attribute, ATTRIBUTE_VALUE_BYTES_MAX);
		if (spread->weight < 1 || spread->weight > 100)
			checker_mistake(c,
				"Weight of spread \"%.64s\" is %ld but must be between 1 and 100",
				spread->attribute ? spread->attribute : "", (long)spread->weight);
		check_targets(c, spread);
	}
}

static bool has_label(const struct array *ports, uint32_t count, const char *label)
{
	for (uint32_t i = 0; i < count; i++)
		if (text_is(ARRAY_AT(ports, struct port, i)->label, label))
			return true;
	return false;
}

// The label of a port before i that asks for the same number of the same network of the node, or NULL.
static const char *label_of_value(const struct array *ports, uint32_t i)
{
	const struct port *port = ARRAY_AT(ports, struct port, i);
	for (uint32_t k = 0; k < i; k++) {
		const struct port *other = ARRAY_AT(ports, struct port, k);
		if (other->value == port->value &&
			text_equal(text_of(other->host_network), text_of(port->host_network)))
			return other->label ? other->label : "";
	}
	return NULL;
}

static void check_port(struct checker *c, const struct port *port, bool reserved, bool twice)
{
	const char *label = port->label ? port->label : "";
	if (!label[0])
		checker_mistake(c, "a port has no Label");
	else if (twice)
		checker_mistake(c, "port label \"%.64s\" comes twice", label);
	if (port->value < (reserved ? 1 : 0) || port->value > PORT_MOST)
		checker_mistake(c, "port \"%.64s\" has Value %ld, which is no port", label,
			(long)port->value);
	if (port->to < -1 || port->to > PORT_MOST)
		checker_mistake(c, "port \"%.64s\" is mapped To %ld, which is no port", label,
			(long)port->to);
}

static void check_ports(struct checker *c, const struct network_ask *network)
{
	const struct array *reserved = &network->reserved_ports, *dynamic = &network->dynamic_ports;
	uint32_t reserved_count =
		checker_at_most(c, "ReservedPorts", reserved->count, JOB_LIST_MAX);
	uint32_t dynamic_count = checker_at_most(c, "DynamicPorts", dynamic->count, JOB_LIST_MAX);
	for (uint32_t i = 0; i < reserved_count; i++) {
		const struct port *port = ARRAY_AT(reserved, struct port, i);
		check_port(c, port, true, has_label(reserved, i, port->label));
		const char *other = label_of_value(reserved, i);
		if (other)
			checker_mistake(c, "Static port %ld already reserved by \"%.64s\"",
				(long)port->value, other);
	}
	for (uint32_t i = 0; i < dynamic_count; i++) {
		const struct port *port = ARRAY_AT(dynamic, struct port, i);
		check_port(c, port, false,
			has_label(dynamic, i, port->label) ||
				has_label(reserved, reserved_count, port->label));
	}
}

static void check_network(struct checker *c, const struct network_ask *network)
{
	if (network->mode && network->mode[0] && strncmp(network->mode, "cni/", 4) != 0)
		checker_one_of(c, "Mode of a network", network->mode, network_modes);
	checker_at_least(c, "MBits of a network", network->mbits, 0);
	check_ports(c, network);
}

void check_networks(struct checker *c, const struct array *networks)
{
	if (networks->count > 0 && !checker_allow_part(c, PART_PLACED_BY_NOMAD, "Networks are"))
		return;
	if (networks->count > 1)
		checker_mistake(
			c, "there are %u Networks but only one is allowed", networks->count);
	if (networks->count > 0)
		check_network(c, ARRAY_AT(networks, struct network_ask, 0));
}

static void check_per_alloc(struct checker *c, const struct volume_ask *volume)
{
	const struct update_strategy *update = c->group->update;
	if (checker_allow_part(c, PART_PER_ALLOC, "Volumes with PerAlloc are") && update &&
		update->canary > 0)
		checker_mistake(c, "volume \"%.64s\" is PerAlloc, which canaries cannot share",
			volume->name);
}

void check_volumes(struct checker *c, const struct array *volumes)
{
	if (volumes->count > 0 && !checker_allow_part(c, PART_PLACED_BY_NOMAD, "Volumes are"))
		return;
	uint32_t count = checker_at_most(c, "Volumes", volumes->count, JOB_LIST_MAX);
	for (uint32_t i = 0; i < count; i++) {
		const struct volume_ask *volume = ARRAY_AT(volumes, struct volume_ask, i);
		checker_one_of(c, "Type of a volume", volume->type, volume_types);
		checker_name(c, "Source of a volume", volume->source, NAME_BYTES_MAX);
		if (volume->per_alloc)
			check_per_alloc(c, volume);
	}
}
