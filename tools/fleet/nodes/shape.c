#include "tools/fleet/nodes/shape.h"
#include "state/base/check.h"
#include "state/base/prng.h"
#include "tools/agent/vm/vm_worker_lists.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mixed(uint64_t seed, uint64_t index, uint64_t purpose)
{
	struct prng prng;
	prng_seed(&prng, seed ^ index * 0x9e3779b97f4a7c15ull ^ purpose << 56);
	return prng_u64(&prng);
}

struct uuid shape_node_id(uint64_t seed, uint64_t index)
{
	struct prng prng;
	prng_seed(&prng, mixed(seed, index, 1));
	return prng_uuid(&prng);
}

bool shape_parse(const char *text, struct shape *shape)
{
	int used = 0;
	*shape = (struct shape){0};
	int n = sscanf(text, "%63[^=]=%u,%u,%u,%u%n", shape->class_name, &shape->weight,
		&shape->cpu_mhz, &shape->memory_mb, &shape->disk_mb, &used);
	if (n != 5 || shape->weight == 0)
		return false;
	text += used;
	if (*text == '\0')
		return true;
	n = sscanf(text, ",%u%n", &shape->gpus, &used);
	if (n != 1 || shape->gpus > NODE_DEVICES_MAX)
		return false;
	text += used;
	snprintf(shape->gpu_model, sizeof shape->gpu_model, "%s", "gpu");
	if (*text == '\0')
		return true;
	return sscanf(text, ",%63[^,]%n", shape->gpu_model, &used) == 1 && text[used] == '\0';
}

const struct shape *shape_of(const struct shapes *shapes, uint64_t index)
{
	if (shapes->of_node)
		return &shapes->list[shapes->of_node[index]];
	uint64_t total = 0;
	for (uint32_t i = 0; i < shapes->count; i++)
		total += shapes->list[i].weight;
	uint64_t at = mixed(shapes->seed, index, 2) % total;
	const struct shape *shape = shapes->list;
	while (at >= shape->weight)
		at -= shape++->weight;
	return shape;
}

// Prints into text and returns a view. A node's description is bounded, so that there is always room.
__attribute__((format(printf, 2, 3))) static struct text print(
	struct shape_text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *start = text->data + text->used;
	int n = vsnprintf(start, sizeof text->data - text->used, format, arguments);
	va_end(arguments);
	CHECK(n >= 0 && (size_t)n < sizeof text->data - text->used);
	text->used += (uint32_t)n + 1;
	return (struct text){start, (uint32_t)n};
}

static void add_pair(struct wire_register *d, uint32_t most, struct text name, struct text value)
{
	if (d->pair_count < most)
		d->pairs[d->pair_count++] = (struct wire_pair){
			.kind = WIRE_PAIR_ATTRIBUTE, .name = name, .value = value};
}

// Names and values as a real agent reports them; names show which attributes are unique.
static void add_attributes(const struct shapes *shapes, const struct shape *shape,
	struct wire_register *d, struct shape_text *t)
{
	static const char *const fixed[][2] = {{"cpu.arch", "amd64"}, {"kernel.name", "linux"},
		{"kernel.arch", "x86_64"}, {"kernel.version", "6.1.0-28-amd64"},
		{"os.name", "debian"}, {"os.version", "12"}, {"berth.version", BERTH_VERSION},
		{"cpu.modelname", "Simulated Processor"}, {"numa.node.count", "2"}};
	uint32_t most = shapes->attributes;
	if (most > NODE_ATTRIBUTES_MAX)
		most = NODE_ATTRIBUTES_MAX;
	add_pair(d, most, TEXT("unique.hostname"), d->name);
	add_pair(d, most, TEXT("unique.network.ip-address"), d->address);
	add_pair(d, most, TEXT("cpu.totalcompute"), print(t, "%u", shape->cpu_mhz));
	add_pair(d, most, TEXT("memory.totalbytes"),
		print(t, "%lu", (unsigned long)shape->memory_mb << 20));
	if (shape->gpus)
		add_pair(d, most, TEXT("gpu.model"), text_of(shape->gpu_model));
	for (uint32_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
		add_pair(d, most, text_of(fixed[i][0]), text_of(fixed[i][1]));
	for (uint32_t i = d->pair_count; i < most; i++)
		add_pair(d, most, print(t, "platform.feature.%u", i), print(t, "level-%u", i % 5));
	// No driver runs anything here.
	for (uint32_t i = 0; i < 2 && d->pair_count < NODE_ATTRIBUTES_MAX; i++)
		d->pairs[d->pair_count++] = (struct wire_pair){.kind = WIRE_PAIR_DRIVER,
			.name = i ? TEXT("raw_exec") : TEXT("mock"),
			.value = TEXT("1")};
}

static void set_pair(struct wire_register *d, struct text name, struct text value)
{
	if (d->pair_count < NODE_ATTRIBUTES_MAX)
		d->pairs[d->pair_count++] =
			(struct wire_pair){.kind = WIRE_PAIR_SETTING, .name = name, .value = value};
}

static void add_list(struct wire_register *d, struct shape_text *t, const char *prefix,
	const struct flag_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const char *item = list->items[i], *equals = strchr(item, '=');
		set_pair(d, print(t, "%s%.*s", prefix, (int)(equals - item), item),
			text_of(equals + 1));
	}
}

// Adds what a real agent reports as a worker. One core for each GHz, unless its resources say otherwise.
static void add_worker(const struct shape_vm_workers *w, const struct shape *shape,
	struct wire_register *d, struct shape_text *t)
{
	uint32_t cores = shape->cpu_mhz < 1000 ? 1 : shape->cpu_mhz / 1000;
	set_pair(d, TEXT("vm.worker"), TEXT("1"));
	set_pair(d, TEXT("vm.arch"), TEXT("amd64"));
	if (w->default_cpu)
		set_pair(d, TEXT("vm.default_cpu"), print(t, "%u", w->default_cpu));
	if (w->default_memory_mib)
		set_pair(d, TEXT("vm.default_memory"), print(t, "%u", w->default_memory_mib));
	if (!vm_worker_list_says(&w->resources, VM_WORKER_RESOURCE_CORES))
		set_pair(d, TEXT("vm.resource." VM_WORKER_RESOURCE_CORES), print(t, "%u", cores));
	if (!vm_worker_list_says(&w->resources, VM_WORKER_RESOURCE_MEMORY))
		set_pair(d, TEXT("vm.resource." VM_WORKER_RESOURCE_MEMORY),
			print(t, "%u", shape->memory_mb));
	add_list(d, t, "vm.resource.", &w->resources);
	add_list(d, t, "vm.label.", &w->labels);
}

void shape_describe(const struct shapes *shapes, uint64_t index, struct wire_register *d,
	struct shape_text *text)
{
	const struct shape *shape = shape_of(shapes, index);
	text->used = 0;
	memset(d, 0, offsetof(struct wire_register, pairs));
	d->node = shape_node_id(shapes->seed, index);
	d->parts = 1;
	d->cpu_mhz = shape->cpu_mhz;
	d->memory_mb = shape->memory_mb;
	d->disk_mb = shape->disk_mb;
	d->name = print(text, "%s%lu", shapes->name_prefix, (unsigned long)index);
	d->address = print(text, "10.%u.%u.%u", (unsigned)(index >> 16) & 255,
		(unsigned)(index >> 8) & 255, (unsigned)index & 255);
	d->version = TEXT(BERTH_VERSION);
	d->class_name = text_of(shape->class_name);
	d->pool = TEXT("default");
	uint64_t place = mixed(shapes->seed, index, 3) % shapes->datacenter_count;
	d->datacenter = text_of(shapes->datacenters[place]);
	if (shape->gpus) {
		d->device_group_count = 1;
		d->device_groups[0] = (struct wire_device_group){.vendor = TEXT("nvidia"),
			.type = TEXT("gpu"),
			.name = text_of(shape->gpu_model),
			.instances = (uint8_t)shape->gpus};
	}
	d->pair_count = 0;
	add_attributes(shapes, shape, d, text);
	const struct shape_vm_workers *w = &shapes->workers;
	if (index - w->first < w->count)
		add_worker(w, shape, d, text);
}
