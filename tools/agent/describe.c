// What the agent tells of its node: what it measured, and what it was told to offer.
#include "state/base/check.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/agent.h"
#include "tools/agent/confinement.h"
#include "tools/agent/vm_worker.h"
#include <stdio.h>
#include <string.h>

// NAME=PATH or NAME=PATH:ro.
static void add_volume(struct agent *a, const char *text)
{
	char name[ATTRIBUTE_NAME_BYTES_MAX + 1], value[ATTRIBUTE_VALUE_BYTES_MAX];
	const char *path = strchr(text, '=') + 1;
	size_t size = strlen(path);
	bool read_only = size > 3 && strcmp(path + size - 3, ":ro") == 0;
	snprintf(name, sizeof name, "%.*s", (int)(path - text - 1), text);
	snprintf(value, sizeof value, "%s %.*s", read_only ? "ro" : "rw",
		(int)(read_only ? size - 3 : size), path);
	fingerprint_pair(&a->fingerprint, WIRE_PAIR_VOLUME, name, text_of(value));
}

static void add_driver(struct agent *a, const char *name)
{
	char attribute[40];
	snprintf(attribute, sizeof attribute, "driver.%s", name);
	fingerprint_pair(&a->fingerprint, WIRE_PAIR_ATTRIBUTE, attribute, TEXT("1"));
	fingerprint_pair(&a->fingerprint, WIRE_PAIR_DRIVER, name, TEXT("1"));
}

static void add_boot(struct agent *a)
{
	char boot[17];
	CHECK(a->boot != 0);
	snprintf(boot, sizeof boot, "%016lx", (unsigned long)a->boot);
	fingerprint_pair(&a->fingerprint, WIRE_PAIR_SETTING, "boot.id", text_of(boot));
}

// Adds what the node offers to allocations besides what the agent measured.
static void add_offers(struct agent *a)
{
	const struct agent_options *o = a->options;
	if (!o->no_raw_exec)
		add_driver(a, driver_raw_exec.name);
	confinement_describe(&a->confine, &a->fingerprint);
	add_driver(a, driver_mock.name);
	engines_describe(&a->engines, &a->fingerprint);
	for (uint32_t i = 0; i < o->volumes.count; i++)
		add_volume(a, o->volumes.items[i]);
	if (o->reserved_ports)
		fingerprint_pair(&a->fingerprint, WIRE_PAIR_SETTING, "ports.reserved",
			text_of(o->reserved_ports));
	if (o->dynamic_ports)
		fingerprint_pair(&a->fingerprint, WIRE_PAIR_SETTING, "ports.dynamic",
			text_of(o->dynamic_ports));
	if (o->reservable_cores)
		fingerprint_pair(&a->fingerprint, WIRE_PAIR_SETTING, "cores.reservable",
			text_of(o->reservable_cores));
}

static void add_settings(struct agent *a)
{
	const struct agent_options *o = a->options;
	struct wire_register *d = &a->fingerprint.description;
	d->node = a->identity.node;
	if (o->name)
		d->name = text_of(o->name);
	d->datacenter = text_of(o->datacenter);
	d->class_name = text_of(o->class_name);
	d->pool = text_of(o->pool);
	d->reserved_cpu_mhz = o->reserved_cpu_mhz;
	d->reserved_memory_mb = o->reserved_memory_mb;
	d->reserved_disk_mb = o->reserved_disk_mb;
	add_boot(a);
	add_offers(a);
	for (uint32_t i = 0; i < o->meta.count; i++) {
		char name[ATTRIBUTE_NAME_BYTES_MAX + 1];
		const char *equals = strchr(o->meta.items[i], '=');
		snprintf(name, sizeof name, "%.*s", (int)(equals - o->meta.items[i]),
			o->meta.items[i]);
		fingerprint_pair(&a->fingerprint, WIRE_PAIR_META, name, text_of(equals + 1));
	}
}

// Gives the runner what tasks see of the node: views into the description, which is next rebuilt here.
static void know_node(struct agent *a)
{
	const struct wire_register *d = &a->fingerprint.description;
	struct node_facts facts = {.id = a->identity.node,
		.name = d->name.data,
		.datacenter = a->options->datacenter,
		.class_name = a->options->class_name,
		.pool = a->options->pool,
		.pairs = d->pairs,
		.pair_count = d->pair_count};
	runner_know_node(&a->runner, &facts);
}

bool agent_describe(struct agent *a)
{
	const struct agent_options *o = a->options;
	struct fingerprint_source source = {.topology = a->topology,
		.root = "",
		.volume = o->data_dir ? o->data_dir : o->state_dir,
		.address = a->address,
		.cpu_mhz = o->cpu_mhz};
	if (!fingerprint_take(&a->fingerprint, &source))
		return false;
	add_settings(a);
	if (!vm_worker_describe(&a->fingerprint, o)) {
		snprintf(a->fingerprint.failure, sizeof a->fingerprint.failure,
			"there is no room for what the worker has; give fewer --worker-label");
		return false;
	}
	struct beat *b = &a->beat;
	uint64_t sequence = beat_registration(b, time_wall_ns(&time_source_real) / NS_PER_MS);
	if (!description_encode(&a->fingerprint.description, sequence, b->session.key_id,
		    &b->session.key, &a->description)) {
		snprintf(a->fingerprint.failure, sizeof a->fingerprint.failure,
			"the description does not fit %u frames; give less --meta",
			REGISTER_PARTS_MAX);
		return false;
	}
	node_session_registering(&b->session, sequence);
	b->describe = false;
	know_node(a);
	return true;
}
