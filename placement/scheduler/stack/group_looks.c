#include "placement/scheduler/stack/group_looks.h"
#include "placement/scheduler/common/growing.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdio.h>
#include <stdlib.h>

struct look_texts {
	const char **items;
	uint32_t count, room;
};

static void add_text(struct look_texts *to, const char *text)
{
	GROW(to->items, to->count, to->room);
	to->items[to->count++] = text;
}

// Those of distinct properties among them.
static void add_constraints(struct look_texts *to, const struct array *constraints)
{
	for (uint32_t i = 0; i < constraints->count; i++) {
		const struct constraint *c = ARRAY_AT(constraints, struct constraint, i);
		add_text(to, c->l_target);
		add_text(to, c->r_target);
	}
}

static void add_affinities(struct look_texts *to, const struct array *affinities)
{
	for (uint32_t i = 0; i < affinities->count; i++) {
		const struct affinity *a = ARRAY_AT(affinities, struct affinity, i);
		add_text(to, a->l_target);
		add_text(to, a->r_target);
	}
}

// What is asked of devices may be about their node, too.
static void add_devices(struct look_texts *to, const struct device_needs *needs)
{
	if (needs->count > 0)
		add_text(to, LOOK_AT_DEVICES);
	for (uint32_t i = 0; i < needs->count; i++) {
		add_constraints(to, &needs->items[i].ask->constraints);
		add_affinities(to, &needs->items[i].ask->affinities);
	}
}

static void add_group(struct look_texts *to, const struct group_rules *g)
{
	add_constraints(to, &g->group->constraints);
	add_affinities(to, &g->group->affinities);
	for (uint32_t i = 0; i < g->group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&g->group->tasks, struct task, i);
		add_constraints(to, &task->constraints);
		add_affinities(to, &task->affinities);
	}
	for (uint32_t i = 0; i < g->spread_count; i++)
		add_text(to, g->spreads[i].counts.attribute);
}

static bool name_networks(const struct array *ports)
{
	for (uint32_t i = 0; i < ports->count; i++) {
		const char *name = ARRAY_AT(ports, struct port, i)->host_network;
		if (name && name[0])
			return true;
	}
	return false;
}

bool group_looks_at_networks(const struct group_rules *g)
{
	return g->needs.network && !name_networks(&g->needs.network->dynamic_ports) &&
	       !name_networks(&g->needs.network->reserved_ports);
}

struct driver_looks {
	char driver[sizeof LOOK_AT_DRIVER + NAME_BYTES_MAX], attribute[NAME_BYTES_MAX + 32];
};

// A class that says nothing of a driver may have an attribute for it.
static struct driver_looks *add_drivers(struct look_texts *to, const struct group_rules *g)
{
	struct driver_looks *looks = memory_take_array(g->needs.driver_count + 1, sizeof *looks);

	for (uint32_t i = 0; i < g->needs.driver_count; i++) {
		snprintf(looks[i].driver, sizeof looks[i].driver, LOOK_AT_DRIVER "%s",
			g->needs.drivers[i]);
		snprintf(looks[i].attribute, sizeof looks[i].attribute, "${attr.driver.%s}",
			g->needs.drivers[i]);
		add_text(to, looks[i].driver);
		add_text(to, looks[i].attribute);
	}
	return looks;
}

struct look_bytes group_looks(const struct group_rules *g)
{
	static const char *const of_all[] = {LOOKS_OF_ALL};
	struct look_texts texts = {0};

	for (uint32_t i = 0; i < sizeof of_all / sizeof of_all[0]; i++)
		add_text(&texts, of_all[i]);
	add_constraints(&texts, &g->job->constraints);
	add_affinities(&texts, &g->job->affinities);
	add_group(&texts, g);
	add_devices(&texts, &g->needs.devices);
	if (group_looks_at_networks(g))
		add_text(&texts, LOOK_AT_NETWORKS);
	struct driver_looks *of_drivers = add_drivers(&texts, g);
	struct look_bytes ordered = class_looks_order(texts.items, texts.count);
	CHECK(ordered.size > 0);
	free(of_drivers);
	free(texts.items);
	return ordered;
}
