// Makes nodes from words.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_own.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world_class {
	struct node_class record;
	char *content; // what its nodes have in common
	struct world_class *next;
};

// One node's words, before they are divided into the class's and the node's own.
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
	const char *reserved_ports, *reservable_cores;
	const char *datacenter, *class_name, *pool;
	bool no_driver, no_net;
};

static char *keep_text(struct world *w, const char *text)
{
	return world_keep(w, text_copy(text_of(text)));
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
	d->instances = (uint8_t)world_number(instances);
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

static enum node_status status_named(const char *name)
{
	uint32_t i = 0;
	while (strcmp(node_status_names[i], name) != 0)
		CHECK(++i < NODE_STATUSES);
	return i;
}

static bool take_part(struct parts *p, char *name, char *value)
{
	if (world_has_prefix(name, "attr."))
		put(p->attributes, &p->attribute_count, name + 5, value);
	else if (world_has_prefix(name, "meta."))
		put(p->meta, &p->meta_count, name + 5, value);
	else if (world_has_prefix(name, "driver."))
		put(p->drivers, &p->driver_count, name + 7, value);
	else if (world_has_prefix(name, "device-attr."))
		put(p->device_attributes[p->device_count - 1],
			&p->devices[p->device_count - 1].attribute_count, name + 12, value);
	else if (world_has_prefix(name, "device."))
		put_device(p, name + 7, value);
	else if (world_has_prefix(name, "volume."))
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
		{"name", &n->name}, {"snapshot", &n->snapshot}, {"ports", &p->reserved_ports},
		{"cores", &p->reservable_cores}};
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
		n->total.cpu_mhz = (uint32_t)world_number(value);
	else if (strcmp(name, "memory") == 0)
		n->total.memory_mb = (uint32_t)world_number(value);
	else if (strcmp(name, "disk") == 0)
		n->total.disk_mb = (uint32_t)world_number(value);
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

// Copies the attributes that are not unique to a node.
static const struct attribute *choose(
	struct world *w, const struct attribute *from, uint32_t count, uint32_t *chosen)
{
	struct attribute *to = world_keep(w, memory_take_array(count + 1, sizeof *to));
	*chosen = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!attribute_is_unique(text_of(from[i].name)))
			to[(*chosen)++] = from[i];
	return to;
}

static const void *keep_copy(struct world *w, const void *from, size_t bytes)
{
	void *copy = world_keep(w, memory_take(bytes + 1));
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
	struct world_class *entry = world_keep(w, memory_take(sizeof *entry));
	struct node_class *c = &entry->record;
	entry->content = world_keep(w, content);
	entry->next = w->classes;
	w->classes = entry;
	c->id = id;
	c->serial = id + 1;
	c->hash = 1000 + id;
	c->datacenter = p->datacenter;
	c->class_name = p->class_name;
	c->pool = p->pool;
	c->attributes = choose(w, p->attributes, p->attribute_count, &c->attribute_count);
	c->meta = choose(w, p->meta, p->meta_count, &c->meta_count);
	c->drivers = keep_copy(w, p->drivers, p->driver_count * sizeof *p->drivers);
	c->driver_count = p->driver_count;
	struct device_group *devices =
		world_keep(w, memory_take_array(p->device_count + 1, sizeof *devices));
	for (uint32_t i = 0; i < p->device_count; i++) {
		devices[i] = p->devices[i];
		devices[i].attributes = keep_copy(w, p->devices[i].attributes,
			p->devices[i].attribute_count * sizeof(struct attribute));
	}
	c->devices = devices;
	c->device_count = p->device_count;
	return c;
}

static void settle_fittings(struct world *w, struct parts *p, struct node *n)
{
	char text[64];
	uint32_t number = n->slot + 1;
	if (p->network_count == 0 && !p->no_net) {
		snprintf(text, sizeof text, "host/eth0/default/10.%u.%u.%u", number >> 16,
			number >> 8 & 255, number & 255);
		put_network(p, keep_text(w, text));
	}
	struct node_address *addresses = world_keep(w, memory_take(sizeof p->addresses));
	memcpy(addresses, p->addresses, sizeof p->addresses);
	for (uint32_t i = 0; i < p->network_count; i++)
		p->networks[i].addresses = &addresses[i];
	struct node_fittings *f = world_keep(w, memory_take(sizeof *f));
	f->networks = keep_copy(w, p->networks, p->network_count * sizeof *p->networks);
	f->network_count = p->network_count;
	f->volumes = keep_copy(w, p->volumes, p->volume_count * sizeof *p->volumes);
	f->volume_count = p->volume_count;
	f->reserved_ports = p->reserved_ports;
	f->reservable_cores = p->reservable_cores;
	n->fittings = f;
}

static void add_own(struct own_rows *rows, const struct attribute *from, uint32_t count,
	void add(struct own_rows *, struct text name, struct text value))
{
	for (uint32_t i = 0; i < count; i++)
		if (attribute_is_unique(text_of(from[i].name)))
			add(rows, text_of(from[i].name), text_of(from[i].value));
}

static void give_own(struct world *w, const struct parts *p, struct node *n)
{
	struct own_rows rows = own_rows_begin(TEXT(""), text_of(n->name), TEXT(""));
	add_own(&rows, p->attributes, p->attribute_count, own_rows_add_attribute);
	add_own(&rows, p->meta, p->meta_count, own_rows_add_meta);
	own_rows_show(&rows, n);
	n->make = keep_copy(w, rows.make.data, rows.make.size);
	n->name = keep_copy(w, rows.own.data, rows.own.size);
	own_rows_free(&rows);
}

struct node *world_node(struct world *w, const char *words)
{
	struct node *n = world_keep(w, memory_take(sizeof *n));
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
	n->snapshot = p->reserved_ports = p->reservable_cores = "";
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
	give_own(w, p, n);
	settle_fittings(w, p, n);
	n->record.create_index = n->record.modify_index = n->register_index = n->described_index =
		++w->index;
	w->nodes[n->slot] = n;
	free(p);
	return n;
}
