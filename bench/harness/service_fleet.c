#include "bench/harness/service_fleet.h"
#include "bench/harness/bench.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/records/allocation.h"
#include <stdio.h>
#include <stdlib.h>

#define RACK_NODES 40u
#define STORAGES 8u
#define REGISTERED_AT_ONCE 256u
#define REPORTED_AT_ONCE 512u
#define NODE_TEXT_BYTES 64u
#define NODE_TEXTS 6u
#define GPUS 16u
#define CORE_MHZ 2000u

const struct service_shape service_shapes[SERVICE_SHAPES] = {
	{.name = "plain"},
	{.name = "affinity", .affinity = true},
	{.name = "spread", .spread = true},
	{.name = "distinct_property", .distinct = true},
	{.name = "affinity, spread and distinct_property",
		.affinity = true,
		.spread = true,
		.distinct = true},
	{.name = "static port", .port = true},
	{.name = "device", .device = true},
	{.name = "host volume", .volume = true},
	{.name = "unique attribute", .unique = true},
	{.name = "device with affinity", .device = true, .likes_device = true},
	{.name = "affinity for a node", .likes_node = true},
	{.name = "reserved core", .core = true},
	{.name = "spread over nodes", .spread = true, .by_name = true},
	{.name = "distinct_property of nodes", .distinct = true, .by_name = true},
	{.name = "snapshot", .snapshot = true},
	{.name = "spread beside an affinity for a node", .spread = true, .likes_node = true},
};

static const struct resources sizes[] = {{8000, 16384, 200000}, {16000, 32768, 200000},
	{32000, 65536, 200000}, {64000, 262144, 200000}};

static struct resources size_of_node(uint32_t number)
{
	return sizes[number % 7 % (sizeof sizes / sizeof sizes[0])];
}

static void add_pair(struct node_registration *d, uint8_t kind, const char *name, const char *value)
{
	d->pairs[d->pair_count++] =
		(struct node_pair){.kind = kind, .name = text_of(name), .value = text_of(value)};
}

static uint32_t gpus_of_node(uint32_t number)
{
	return number % STORAGES == 3 ? GPUS : 0;
}

static bool has_volume(uint32_t number)
{
	return number % STORAGES == 5;
}

static uint32_t cores_of_node(uint32_t number)
{
	return number % STORAGES == 6 ? size_of_node(number).cpu_mhz / CORE_MHZ : 0;
}

static void describe_hardware(struct node_registration *d, uint32_t number,
	char text[NODE_TEXT_BYTES], char cores[NODE_TEXT_BYTES])
{
	snprintf(text, NODE_TEXT_BYTES, "host:eth0 10.%u.%u.%u", number >> 16, number >> 8 & 255,
		number & 255);
	add_pair(d, PAIR_NETWORK, "host:eth0", "25000");
	add_pair(d, PAIR_ADDRESS, text, "default");
	if (has_volume(number))
		add_pair(d, PAIR_VOLUME, "data", "rw /data");
	if (gpus_of_node(number))
		d->device_groups[d->device_group_count++] =
			(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("h100"), GPUS};
	if (cores_of_node(number) == 0)
		return;
	snprintf(cores, NODE_TEXT_BYTES, "0-%u", cores_of_node(number) - 1);
	add_pair(d, PAIR_SETTING, "cores.reservable", cores);
}

static void describe_node(struct node_registration *d, uint32_t number, bool own_class,
	char texts[NODE_TEXTS][NODE_TEXT_BYTES])
{
	struct prng prng;
	prng_seed(&prng, number + 1);
	*d = (struct node_registration){.node = prng_uuid(&prng),
		.sequence = 1,
		.parts = 1,
		.total = size_of_node(number),
		.datacenter = TEXT("dc1"),
		.class_name = TEXT("general"),
		.pool = TEXT("default"),
		.version = TEXT("1")};
	snprintf(texts[0], NODE_TEXT_BYTES, "node-%08u", number);
	snprintf(texts[1], NODE_TEXT_BYTES, "r%u", number / RACK_NODES);
	snprintf(texts[2], NODE_TEXT_BYTES, "nvme%u", number % STORAGES);
	snprintf(texts[3], NODE_TEXT_BYTES, "1");
	d->name = text_of(texts[0]);
	add_pair(d, PAIR_ATTRIBUTE, "platform.rack", texts[1]);
	add_pair(d, PAIR_ATTRIBUTE, "storage.class", texts[2]);
	add_pair(d, PAIR_ATTRIBUTE, "unique.hostname", texts[0]);
	if (own_class)
		add_pair(d, PAIR_ATTRIBUTE, "serial.number", texts[0]);
	add_pair(d, PAIR_DRIVER, "raw_exec", texts[3]);
	describe_hardware(d, number, texts[4], texts[5]);
}

static void keep_node(struct service_fleet *f, const struct node_registration *d, uint32_t number)
{
	CHECK(d->slot < f->nodes);
	struct naive_service_node *n = &f->naive->nodes[d->slot];
	f->generations[d->slot] = d->generation;
	n->capacity = size_of_node(number);
	n->rack = number / RACK_NODES;
	n->preferred = number % STORAGES == 1;
	n->devices = gpus_of_node(number);
	n->cores = cores_of_node(number);
	n->has_volume = has_volume(number);
	n->is_named = number == 0;
}

static void open_fleet(
	struct service_fleet *f, struct controller *c, uint32_t nodes, bool own_classes)
{
	static struct node_registration described[REGISTERED_AT_ONCE];
	static char texts[REGISTERED_AT_ONCE][NODE_TEXTS][NODE_TEXT_BYTES];
	static struct command commands[REGISTERED_AT_ONCE];

	*f = (struct service_fleet){.nodes = nodes, .racks = (nodes + RACK_NODES - 1) / RACK_NODES};
	f->generations = memory_take_array(nodes, sizeof f->generations[0]);
	f->reports = memory_take_array(nodes, sizeof f->reports[0]);
	f->naive = naive_service_create(nodes, f->racks);
	for (uint32_t from = 0; from < nodes; from += REGISTERED_AT_ONCE) {
		uint32_t left = nodes - from;
		uint32_t count = left < REGISTERED_AT_ONCE ? left : REGISTERED_AT_ONCE;
		for (uint32_t i = 0; i < count; i++) {
			describe_node(&described[i], from + i, own_classes, texts[i]);
			commands[i] = (struct command){
				.type = COMMAND_NODE_REGISTER, .node_register = &described[i]};
		}
		controller_run(c, commands, count);
		for (uint32_t i = 0; i < count; i++) {
			keep_node(f, &described[i], from + i);
			commands[i] = (struct command){.type = COMMAND_NODE_RETURNED,
				.node = {described[i].slot, described[i].generation}};
		}
		controller_run(c, commands, count);
	}
}

void service_fleet_open(struct service_fleet *f, struct controller *c, uint32_t nodes)
{
	open_fleet(f, c, nodes, false);
}

void service_fleet_open_own_classes(struct service_fleet *f, struct controller *c, uint32_t nodes)
{
	open_fleet(f, c, nodes, true);
}

void service_fleet_close(struct service_fleet *f)
{
	naive_service_destroy(f->naive);
	free(f->reports);
	free(f->generations);
}

struct report {
	struct command_alloc_update update;
	struct alloc_update_item items[ALLOC_UPDATES_MAX];
};

static struct alloc_update_item describe_item(const struct census_note *note, bool healthy)
{
	return (struct alloc_update_item){.allocation = note->id,
		.client_status = note->stops ? ALLOC_COMPLETE : ALLOC_RUNNING,
		.healthy = {healthy && !note->stops, healthy && !note->stops}};
}

// Fills a report with notes of one node, as many as a frame takes. Returns how many.
static uint32_t fill_report(struct service_fleet *f, struct report *r,
	const struct census_note *notes, uint32_t count, bool healthy,
	struct alloc_report *describe(void))
{
	uint32_t slot = notes[0].slot, n = 0;

	while (n < count && n < ALLOC_UPDATES_MAX && notes[n].slot == slot) {
		r->items[n] = describe_item(&notes[n], healthy);
		r->items[n].report = describe ? describe() : NULL;
		n++;
	}
	r->update = (struct command_alloc_update){.slot = slot,
		.generation = f->generations[slot],
		.sequence = ++f->reports[slot],
		.count = n,
		.items = r->items};
	return n;
}

void service_fleet_report(struct service_fleet *f, struct controller *c,
	const struct census_note *notes, uint32_t count, bool healthy)
{
	service_fleet_report_with(f, c, notes, count, healthy, NULL);
}

void service_fleet_report_with(struct service_fleet *f, struct controller *c,
	const struct census_note *notes, uint32_t count, bool healthy,
	struct alloc_report *describe(void))
{
	struct report *reports = memory_take_array(REPORTED_AT_ONCE, sizeof *reports);
	struct command commands[REPORTED_AT_ONCE];

	for (uint32_t at = 0; at < count;) {
		uint32_t sent = 0;
		for (; sent < REPORTED_AT_ONCE && at < count; sent++) {
			at += fill_report(
				f, &reports[sent], &notes[at], count - at, healthy, describe);
			commands[sent] = (struct command){.type = COMMAND_ALLOC_UPDATE,
				.alloc_update = &reports[sent].update};
		}
		controller_run(c, commands, sent);
		for (uint32_t i = 0; i < sent; i++)
			for (uint32_t n = 0; n < reports[i].update.count; n++)
				CHECK(reports[i].items[n].known);
	}
	free(reports);
}

void service_fleet_tell(struct service_fleet *f, struct controller *c, enum command_type type,
	const uint32_t *slots, uint32_t count)
{
	struct command *commands = memory_take_array(count, sizeof *commands);

	for (uint32_t i = 0; i < count; i++)
		commands[i] = (struct command){.type = type,
			.node = {.slot = slots[i], .generation = f->generations[slots[i]]}};
	controller_run(c, commands, count);
	free(commands);
}

static uint32_t value_limit(
	const struct service_fleet *f, const struct service_shape *shape, uint32_t count)
{
	return 2 * count / (shape->by_name ? f->nodes : f->racks) + 1;
}

static void prefer(struct array *affinities, struct text attribute, struct text value)
{
	*(struct affinity *)array_append(affinities, sizeof(struct affinity)) =
		(struct affinity){text_copy(attribute), text_copy(value), text_copy(TEXT("=")), 50};
}

static void add_preferences(
	const struct service_shape *shape, struct task_group *group, uint32_t limit_per_value)
{
	const char *property = shape->by_name ? "${attr.unique.hostname}" : "${attr.platform.rack}";
	char limit[16];
	snprintf(limit, sizeof limit, "%u", limit_per_value);
	if (shape->affinity)
		prefer(&group->affinities, TEXT("${attr.storage.class}"), TEXT("nvme1"));
	if (shape->likes_node)
		prefer(&group->affinities, TEXT("${attr.unique.hostname}"), TEXT("node-00000000"));
	if (shape->spread)
		*(struct spread *)array_append(&group->spreads, sizeof(struct spread)) =
			(struct spread){.attribute = text_copy(text_of(property)), .weight = 100};
	if (shape->distinct)
		*(struct constraint *)array_append(&group->constraints, sizeof(struct constraint)) =
			(struct constraint){text_copy(text_of(property)), text_copy(text_of(limit)),
				text_copy(TEXT("distinct_property"))};
	if (shape->unique)
		*(struct constraint *)array_append(&group->constraints, sizeof(struct constraint)) =
			(struct constraint){text_copy(TEXT("${attr.unique.hostname}")),
				text_copy(TEXT("node-00000000")), text_copy(TEXT("!="))};
}

static void ask_volume(struct task_group *group)
{
	struct volume_ask *volume = array_append(&group->volumes, sizeof *volume);
	volume->name = text_copy(TEXT("data"));
	volume->type = text_copy(TEXT("host"));
	volume->source = text_copy(TEXT("data"));
}

static void ask_hardware(
	const struct service_shape *shape, struct task_group *group, struct task *task)
{
	if (shape->volume)
		ask_volume(group);
	if (shape->port) {
		struct network_ask *network = array_append(&group->networks, sizeof *network);
		struct port *port = array_append(&network->reserved_ports, sizeof *port);
		port->label = text_copy(TEXT("http"));
		port->value = SERVICE_PORT;
	}
	if (shape->core)
		task->resources.cores = 1;
	if (shape->device) {
		struct device_ask *device = array_append(&task->resources.devices, sizeof *device);
		record_init(&device_ask_description, device);
		device->name = text_copy(TEXT("nvidia/gpu"));
		device->count = 1;
		if (shape->likes_device)
			prefer(&device->affinities, TEXT("${device.model}"), TEXT("h100"));
	}
}

struct job *service_fleet_job(const struct service_fleet *f, const struct service_shape *shape,
	const char *id, int type, uint32_t count)
{
	struct job *job = job_create();
	job->namespace_name = text_copy(TEXT("default"));
	job->id = text_copy(text_of(id));
	job->name = text_copy(text_of(id));
	job->type = type;
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("dc1"));
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("g"));
	group->count = count;
	group->disk.size_mb = 10;
	if (shape->snapshot)
		group->snapshot = text_copy(TEXT("image"));
	add_preferences(shape, group, value_limit(f, shape, count));
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("t"));
	task->driver = text_copy(TEXT("raw_exec"));
	task->resources.cpu = 100;
	task->resources.memory_mb = 64;
	ask_hardware(shape, group, task);
	CHECK(job_derive(job));
	return job;
}

void service_fleet_ask(
	const struct service_fleet *f, const struct service_shape *shape, uint32_t count)
{
	f->naive->count = count;
	f->naive->ask = (struct resources){shape->core ? CORE_MHZ : 100, 64, 10};
	f->naive->affinity = shape->affinity;
	f->naive->spread = shape->spread;
	f->naive->by_name = shape->by_name;
	f->naive->value_limit = shape->distinct ? value_limit(f, shape, count) : 0;
	f->naive->port = shape->port;
	f->naive->device = shape->device;
	f->naive->core = shape->core;
	f->naive->snapshot = shape->snapshot;
	f->naive->volume = shape->volume;
	f->naive->unique = shape->unique;
	f->naive->likes_device = shape->likes_device;
	f->naive->likes_node = shape->likes_node;
}

uint32_t service_fleet_reference_count(const struct service_fleet *f, uint32_t count)
{
	uint32_t most = SERVICE_LOOKS_MOST / f->nodes;
	return most < count ? most : count;
}

double service_fleet_reference(const struct service_fleet *f, uint32_t count)
{
	uint32_t looked_for = service_fleet_reference_count(f, count);

	naive_service_reset(f->naive);
	uint64_t began_ns = bench_ns();
	for (uint32_t i = 0; i < looked_for; i++)
		CHECK(naive_service_place(f->naive) < f->nodes);
	return looked_for * 1e9 / (double)(bench_ns() - began_ns);
}
