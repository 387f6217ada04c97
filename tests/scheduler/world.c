#include "tests/scheduler/world.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tests/placement/job_build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world_class {
	struct node_class record;
	char *content; // what nodes of it agree in
	struct world_class *next;
};

static void *keep(struct world *w, void *memory)
{
	w->kept = memory_resize(w->kept, (w->kept_count + 1) * sizeof *w->kept);
	w->kept[w->kept_count++] = memory;
	return memory;
}

struct world *world_create(void)
{
	struct world *w = memory_take(sizeof *w);
	w->nodes = memory_map(WORLD_NODES_MAX * sizeof *w->nodes);
	w->of_node = memory_map(WORLD_NODES_MAX * sizeof(*w->of_node));
	CHECK(w->nodes && w->of_node);
	w->allocations_end = &w->allocations;
	w->config.preemption.system = true;
	w->index = 1;
	return w;
}

void world_destroy(struct world *w)
{
	for (struct world_allocation *a = w->allocations, *next; a; a = next) {
		next = a->next;
		alloc_details_release(a->record.details);
		alloc_report_release(a->record.report);
		free(a);
	}
	for (uint32_t i = 0; i < w->job_count; i++)
		job_free(w->jobs[i]);
	for (uint32_t i = 0; i < w->kept_count; i++)
		free(w->kept[i]);
	free(w->kept);
	free(w->jobs);
	memory_unmap(w->nodes, WORLD_NODES_MAX * sizeof *w->nodes);
	memory_unmap(w->of_node, WORLD_NODES_MAX * sizeof(*w->of_node));
	free(w);
}

// --- The view ------------------------------------------------------------------------------------------

static uint64_t view_index(void *context)
{
	return ((struct world *)context)->index;
}

static uint32_t view_slots(void *context)
{
	return ((struct world *)context)->node_count;
}

static const struct node *view_node_at(void *context, uint32_t slot)
{
	const struct world *w = context;
	return slot < w->node_count ? w->nodes[slot] : NULL;
}

static const struct node *view_node_by_id(void *context, const struct uuid *id)
{
	const struct world *w = context;
	for (uint32_t i = 0; i < w->node_count; i++)
		if (w->nodes[i] && uuid_equal(&w->nodes[i]->id, id))
			return w->nodes[i];
	return NULL;
}

static bool is_job(const struct job *job, const char *namespace_name, const char *id)
{
	return strcmp(job->namespace_name, namespace_name) == 0 && strcmp(job->id, id) == 0;
}

static const struct job *view_job(void *context, const char *namespace_name, const char *id)
{
	const struct world *w = context;
	for (uint32_t i = w->job_count; i > 0; i--)
		if (is_job(w->jobs[i - 1], namespace_name, id))
			return w->jobs[i - 1];
	return NULL;
}

static void view_job_allocations(void *context, const char *namespace_name, const char *id,
	state_allocation_visit *visit, void *visit_context)
{
	const struct world *w = context;
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		if (is_job(a->record.job, namespace_name, id) && !visit(&a->record, visit_context))
			return;
}

static void view_node_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	const struct world *w = context;
	for (const struct world_allocation *a = w->of_node[slot]; a; a = a->next_of_node)
		if (!visit(&a->record, visit_context))
			return;
}

static const struct allocation *view_allocation(void *context, const struct uuid *id)
{
	const struct world *w = context;
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		if (uuid_equal(&a->record.id, id))
			return &a->record;
	return NULL;
}

static struct node_use view_node_use(void *context, uint32_t slot)
{
	const struct world *w = context;
	struct node_use use = {0};
	for (const struct world_allocation *a = w->of_node[slot]; a; a = a->next_of_node) {
		const struct alloc_details *d = a->record.details;
		if (allocation_is_terminal(&a->record))
			continue;
		use.used = resources_plus(use.used, a->record.resources);
		for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
			use.devices.groups[i] |= a->record.devices.groups[i];
		use.with_details += d && (d->ports.count || d->networks.count || d->tasks.count);
	}
	return use;
}

static const struct scheduler_config *view_config(void *context)
{
	return &((struct world *)context)->config;
}

struct scheduler_view world_view(struct world *w)
{
	return (struct scheduler_view){
		.context = w,
		.index = view_index,
		.slots = view_slots,
		.node_at = view_node_at,
		.node_by_id = view_node_by_id,
		.job = view_job,
		.job_allocations = view_job_allocations,
		.node_allocations = view_node_allocations,
		.allocation = view_allocation,
		.node_use = view_node_use,
		.config = view_config,
		.supports_disconnect = true,
	};
}

// --- Nodes ---------------------------------------------------------------------------------------------

// What the words of one node say, before it is divided into what is of its class and what is not.
#define PARTS_MAX 64u
struct parts {
	struct attribute attributes[PARTS_MAX], meta[PARTS_MAX], drivers[PARTS_MAX];
	uint32_t attribute_count, meta_count, driver_count;
	struct device_group devices[NODE_DEVICE_GROUPS_MAX];
	uint32_t device_count;
	struct attribute device_attributes[NODE_DEVICE_GROUPS_MAX][PARTS_MAX];
	struct host_volume volumes[PARTS_MAX];
	struct node_network networks[PARTS_MAX];
	struct node_address addresses[PARTS_MAX];
	uint32_t volume_count, network_count;
	const char *datacenter, *class_name, *pool;
	bool no_driver, no_net;
};

static char *keep_text(struct world *w, const char *text)
{
	return keep(w, text_copy(text_of(text)));
}

static void put(struct attribute *to, uint32_t *count, const char *name, const char *value)
{
	CHECK(*count < PARTS_MAX);
	uint32_t at = (*count)++;
	for (; at > 0 && strcmp(to[at - 1].name, name) > 0; at--)
		to[at] = to[at - 1];
	to[at] = (struct attribute){name, value};
}

static void put_device(struct parts *p, char *name, const char *instances)
{
	CHECK(p->device_count < NODE_DEVICE_GROUPS_MAX);
	struct device_group *d = &p->devices[p->device_count++];
	d->vendor = strsep(&name, "/");
	d->type = strsep(&name, "/");
	d->name = name;
	d->instances = (uint8_t)atoi(instances);
	d->attributes = p->device_attributes[p->device_count - 1];
}

static void put_network(struct parts *p, char *text)
{
	uint32_t at = p->network_count;
	const char *mode = strsep(&text, "/"), *device = strsep(&text, "/");
	const char *alias = strsep(&text, "/"), *address = strsep(&text, "/");
	p->addresses[at] = (struct node_address){alias, address, text ? text : ""};
	bool same = at > 0 && strcmp(p->networks[at - 1].device, device) == 0;
	CHECK(!same && at < PARTS_MAX);
	p->networks[at] =
		(struct node_network){mode, device, 1000, alias ? 1 : 0, &p->addresses[at]};
	p->network_count++;
}

static void put_volume(struct parts *p, const char *name, char *value)
{
	const char *path = strsep(&value, ":");
	p->volumes[p->volume_count++] = (struct host_volume){name, path, value != NULL};
}

static struct resources parse_resources(const char *value)
{
	struct resources r;
	CHECK(sscanf(value, "%u/%u/%u", &r.cpu_mhz, &r.memory_mb, &r.disk_mb) == 3);
	return r;
}

static bool has_prefix(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

static enum node_status status_named(const char *name)
{
	uint32_t i = 0;
	while (strcmp(node_status_names[i], name) != 0)
		CHECK(++i < NODE_STATUSES);
	return i;
}

static bool take_part(struct parts *p, char *name, char *value)
{
	if (has_prefix(name, "attr."))
		put(p->attributes, &p->attribute_count, name + 5, value);
	else if (has_prefix(name, "meta."))
		put(p->meta, &p->meta_count, name + 5, value);
	else if (has_prefix(name, "driver."))
		put(p->drivers, &p->driver_count, name + 7, value);
	else if (has_prefix(name, "device-attr."))
		put(p->device_attributes[p->device_count - 1],
			&p->devices[p->device_count - 1].attribute_count, name + 12, value);
	else if (has_prefix(name, "device."))
		put_device(p, name + 7, value);
	else if (has_prefix(name, "volume."))
		put_volume(p, name + 7, value);
	else if (strcmp(name, "net") == 0)
		put_network(p, value);
	else
		return false;
	return true;
}

static bool take_text(struct parts *p, struct node *n, const char *name, const char *value)
{
	const struct {
		const char *name, **field;
	} rows[] = {{"dc", &p->datacenter}, {"class", &p->class_name}, {"pool", &p->pool},
		{"name", &n->name}, {"ports", &n->reserved_ports}, {"cores", &n->reservable_cores}};
	for (uint32_t i = 0; i < COUNT(rows); i++)
		if (strcmp(rows[i].name, name) == 0) {
			*rows[i].field = value;
			return true;
		}
	return false;
}

static bool take_number(struct node *n, const char *name, const char *value)
{
	unsigned least, most;
	if (strcmp(name, "cpu") == 0)
		n->total.cpu_mhz = (uint32_t)atoi(value);
	else if (strcmp(name, "memory") == 0)
		n->total.memory_mb = (uint32_t)atoi(value);
	else if (strcmp(name, "disk") == 0)
		n->total.disk_mb = (uint32_t)atoi(value);
	else if (strcmp(name, "reserved") == 0)
		n->reserved = parse_resources(value);
	else if (strcmp(name, "dynamic") == 0 && sscanf(value, "%u-%u", &least, &most) == 2)
		n->port_least = (uint16_t)least, n->port_most = (uint16_t)most;
	else
		return false;
	return true;
}

static void take_word(struct parts *p, struct node *n, char *word)
{
	static const struct drain_strategy drain;
	char *value = strchr(word, '=');
	if (value)
		*value++ = 0;
	if (!value && strcmp(word, "ineligible") == 0)
		n->eligibility = NODE_INELIGIBLE;
	else if (!value && strcmp(word, "draining") == 0)
		n->drain = &drain;
	else if (!value && strcmp(word, "no-driver") == 0)
		p->no_driver = true;
	else if (!value && strcmp(word, "no-net") == 0)
		p->no_net = true;
	else if (value && strcmp(word, "id") == 0)
		CHECK(uuid_parse(value, &n->id));
	else if (value && strcmp(word, "status") == 0)
		n->status = (uint8_t)status_named(value);
	else
		CHECK(value && (take_part(p, word, value) || take_text(p, n, word, value) ||
				       take_number(n, word, value)));
}

static void print_attributes(FILE *out, const struct attribute *a, uint32_t count, bool with_unique)
{
	for (uint32_t i = 0; i < count; i++)
		if (with_unique || !attribute_is_unique(text_of(a[i].name)))
			fprintf(out, "%s=%s ", a[i].name, a[i].value);
	fputs("| ", out);
}

static char *class_content(const struct parts *p)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	CHECK(out);
	fprintf(out, "%s %s %s | ", p->datacenter, p->class_name, p->pool);
	print_attributes(out, p->attributes, p->attribute_count, false);
	print_attributes(out, p->meta, p->meta_count, false);
	print_attributes(out, p->drivers, p->driver_count, true);
	for (uint32_t i = 0; i < p->device_count; i++) {
		const struct device_group *d = &p->devices[i];
		fprintf(out, "%s/%s/%s %u ", d->vendor, d->type, d->name, d->instances);
		print_attributes(out, d->attributes, d->attribute_count, true);
	}
	CHECK(fclose(out) == 0);
	return text;
}

// Copies those attributes that are (or are not) unique to a node.
static const struct attribute *choose(struct world *w, const struct attribute *from, uint32_t count,
	bool unique, uint32_t *chosen)
{
	struct attribute *to = keep(w, memory_take_array(count + 1, sizeof *to));
	*chosen = 0;
	for (uint32_t i = 0; i < count; i++)
		if (attribute_is_unique(text_of(from[i].name)) == unique)
			to[(*chosen)++] = from[i];
	return to;
}

static const void *keep_copy(struct world *w, const void *from, size_t bytes)
{
	void *copy = keep(w, memory_take(bytes + 1));
	memcpy(copy, from, bytes);
	return copy;
}

static struct node_class *class_of(struct world *w, const struct parts *p)
{
	char *content = class_content(p);
	uint32_t id = 0;
	for (struct world_class *c = w->classes; c; c = c->next, id++)
		if (strcmp(c->content, content) == 0) {
			free(content);
			return &c->record;
		}
	struct world_class *entry = keep(w, memory_take(sizeof *entry));
	struct node_class *c = &entry->record;
	entry->content = keep(w, content);
	entry->next = w->classes;
	w->classes = entry;
	c->id = id;
	c->serial = id + 1;
	c->hash = 1000 + id;
	c->datacenter = p->datacenter;
	c->class_name = p->class_name;
	c->pool = p->pool;
	c->attributes = choose(w, p->attributes, p->attribute_count, false, &c->attribute_count);
	c->meta = choose(w, p->meta, p->meta_count, false, &c->meta_count);
	c->drivers = keep_copy(w, p->drivers, p->driver_count * sizeof *p->drivers);
	c->driver_count = p->driver_count;
	struct device_group *devices =
		keep(w, memory_take_array(p->device_count + 1, sizeof *devices));
	for (uint32_t i = 0; i < p->device_count; i++) {
		devices[i] = p->devices[i];
		devices[i].attributes = keep_copy(w, p->devices[i].attributes,
			p->devices[i].attribute_count * sizeof(struct attribute));
	}
	c->devices = devices;
	c->device_count = p->device_count;
	return c;
}

static void settle_networks(struct world *w, struct parts *p, struct node *n)
{
	char text[64];
	uint32_t number = n->slot + 1;
	if (p->network_count == 0 && !p->no_net) {
		snprintf(text, sizeof text, "host/eth0/default/10.%u.%u.%u", number >> 16,
			number >> 8 & 255, number & 255);
		put_network(p, keep_text(w, text));
	}
	struct node_address *addresses = keep(w, memory_take(sizeof p->addresses));
	memcpy(addresses, p->addresses, sizeof p->addresses);
	for (uint32_t i = 0; i < p->network_count; i++)
		p->networks[i].addresses = &addresses[i];
	n->networks = keep_copy(w, p->networks, p->network_count * sizeof *p->networks);
	n->network_count = p->network_count;
	n->volumes = keep_copy(w, p->volumes, p->volume_count * sizeof *p->volumes);
	n->volume_count = p->volume_count;
}

struct node *world_node(struct world *w, const char *words)
{
	struct node *n = keep(w, memory_take(sizeof *n));
	struct parts *p = memory_take(sizeof *p);
	char name[32], *text = keep_text(w, words), *word;
	CHECK(w->node_count < WORLD_NODES_MAX);
	n->slot = w->node_count++;
	n->generation = 1;
	n->id.bytes[0] = 0x40;
	for (uint32_t i = 0; i < 4; i++)
		n->id.bytes[12 + i] = (uint8_t)(n->slot >> (24 - 8 * i));
	snprintf(name, sizeof name, "node-%u", n->slot);
	n->name = keep_text(w, name);
	n->address = n->version = n->status_description = "";
	n->reserved_ports = n->reservable_cores = "";
	n->status = NODE_READY;
	n->total = (struct resources){4000, 8192, 50000};
	p->datacenter = "dc1";
	p->class_name = "";
	p->pool = "default";
	while ((word = strsep(&text, " ")))
		if (*word)
			take_word(p, n, word);
	if (p->driver_count == 0 && !p->no_driver)
		put(p->drivers, &p->driver_count, "exec", "1");
	n->node_class = class_of(w, p);
	n->unique_attributes =
		choose(w, p->attributes, p->attribute_count, true, &n->unique_attribute_count);
	n->unique_meta = choose(w, p->meta, p->meta_count, true, &n->unique_meta_count);
	settle_networks(w, p, n);
	n->record.create_index = n->record.modify_index = n->register_index = ++w->index;
	w->nodes[n->slot] = n;
	free(p);
	return n;
}

void world_purge(struct world *w, uint32_t slot)
{
	w->nodes[slot] = NULL;
	for (struct world_allocation *a = w->of_node[slot]; a; a = a->next_of_node)
		a->record.node_slot = NODE_SLOT_NONE;
	w->of_node[slot] = NULL;
}

// --- Jobs ----------------------------------------------------------------------------------------------

static void enter(struct world *w, struct job *job)
{
	w->jobs = memory_resize(w->jobs, (w->job_count + 1) * sizeof(*w->jobs));
	w->jobs[w->job_count++] = job;
	job->record.modify_index = job->job_modify_index = ++w->index;
}

static void take_job_word(struct job *job, const char *word)
{
	struct task_group *group = group_of(job);
	struct task *task = task_of(job);
	const char *value = strchr(word, '=');
	CHECK(value++);
	if (has_prefix(word, "dc="))
		set(array_append(&job->datacenters, sizeof(char *)), value);
	else if (has_prefix(word, "pool="))
		set(&job->node_pool, value);
	else if (has_prefix(word, "name="))
		set(&job->name, value);
	else if (has_prefix(word, "driver="))
		set(&task->driver, value);
	else if (has_prefix(word, "priority="))
		job->priority = atoi(value);
	else if (has_prefix(word, "count="))
		group->count = atoi(value);
	else if (has_prefix(word, "cpu="))
		task->resources.cpu = atoi(value);
	else if (has_prefix(word, "memory="))
		task->resources.memory_mb = atoi(value);
	else if (has_prefix(word, "disk="))
		group->disk.size_mb = atoi(value);
	else
		CHECK(!"a word of a job that is not known");
}

struct job *world_job(struct world *w, const char *words)
{
	char *copy = text_copy(text_of(words)), *text = copy, *word;
	const char *type = strsep(&text, " "), *id = strsep(&text, " ");
	uint32_t number = 0;
	while (strcmp(job_type_names[number], type) != 0)
		CHECK(++number < JOB_TYPES);
	struct job *job = job_of((enum job_type)number);
	set(&job->id, id);
	set(&job->name, id);
	set(&job->namespace_name, "default");
	set(&job->node_pool, "default");
	set(&group_of(job)->name, "a");
	set(&task_of(job)->name, "t");
	job->priority = 50;
	group_of(job)->count = 1;
	group_of(job)->disk.size_mb = 0;
	task_of(job)->resources.cpu = 100;
	task_of(job)->resources.memory_mb = 64;
	while ((word = strsep(&text, " ")))
		if (*word)
			take_job_word(job, word);
	if (job->datacenters.count == 0)
		set(array_append(&job->datacenters, sizeof(char *)), "dc1");
	free(copy);
	world_job_changed(job);
	enter(w, job);
	job->record.create_index = job->record.modify_index;
	return job;
}

struct job *world_job_version(struct world *w, const struct job *from)
{
	struct job *job = job_copy(from);
	job->record.create_index = from->record.create_index;
	job->version = from->version + 1;
	enter(w, job);
	return job;
}

void world_job_changed(struct job *job)
{
	CHECK(job_derive(job));
}

// --- Allocations ---------------------------------------------------------------------------------------

struct allocation *world_allocate(
	struct world *w, struct job *job, uint32_t group, uint32_t slot, uint32_t index)
{
	struct world_allocation *entry = memory_take(sizeof *entry);
	struct allocation *a = &entry->record;
	uint32_t number = ++w->allocation_count;
	a->id.bytes[0] = 0xa0;
	for (uint32_t i = 0; i < 4; i++)
		a->id.bytes[12 + i] = (uint8_t)(number >> (24 - 8 * i));
	a->node_id = w->nodes[slot]->id;
	a->node_slot = slot;
	a->client = CLIENT_NONE;
	a->job = job;
	a->group = (uint16_t)group;
	a->client_status = ALLOC_RUNNING;
	a->index = index;
	a->resources = ARRAY_AT(&job->asks, struct group_ask, group)->resources;
	a->desired_description = a->client_description = "";
	a->record.create_index = a->record.modify_index = a->alloc_modify_index = ++w->index;
	entry->next_of_node = w->of_node[slot];
	w->of_node[slot] = entry;
	*w->allocations_end = entry;
	w->allocations_end = &entry->next;
	return a;
}

static struct alloc_details *details_of(struct allocation *a)
{
	if (!a->details)
		a->details = alloc_details_create();
	return a->details;
}

void world_hold_port(struct allocation *a, const char *label, int64_t value, const char *address)
{
	struct allocated_port *port = array_append(&details_of(a)->ports, sizeof *port);
	set(&port->label, label);
	set(&port->host_ip, address);
	port->value = value;
}

void world_hold_cores(struct allocation *a, const char *name, int64_t first, int64_t count)
{
	struct allocated_task *task = array_append(&details_of(a)->tasks, sizeof *task);
	set(&task->task, name);
	for (int64_t i = 0; i < count; i++)
		*(int64_t *)array_append(&task->reserved_cores, sizeof(int64_t)) = first + i;
}
