#include "state/records/nodes/node_describe.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_own.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Room for all that is to come: what was put stays where it is.
static void description_begin(struct description_texts *texts, size_t room)
{
	if (texts->capacity < room) {
		texts->data = memory_resize(texts->data, room);
		texts->capacity = room;
	}
	texts->used = 0;
}

void description_texts_free(struct description_texts *texts)
{
	free(texts->data);
	*texts = (struct description_texts){0};
}

__attribute__((format(printf, 2, 3))) static struct text compose(
	struct description_texts *texts, const char *format, ...)
{
	char *at = texts->data + texts->used;
	va_list arguments;

	va_start(arguments, format);
	int size = vsnprintf(at, texts->capacity - texts->used, format, arguments);
	va_end(arguments);
	texts->used += (size_t)size + 1;
	return (struct text){at, (uint32_t)size};
}

static void description_clear(struct node_registration *d)
{
	memset(d, 0, offsetof(struct node_registration, device_groups));
	d->pair_count = 0;
}

static void add_pair(
	struct node_registration *d, enum pair_kind kind, struct text name, struct text value)
{
	d->pairs[d->pair_count++] = (struct node_pair){(uint8_t)kind, name, value};
}

static void add_attributes(struct node_registration *d, enum pair_kind kind,
	const struct attribute *attributes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		add_pair(d, kind, text_of(attributes[i].name), text_of(attributes[i].value));
}

static void add_own(struct node_registration *d, enum pair_kind kind, struct own_walk walk)
{
	struct attribute pair;

	while (own_walk_next(&walk, &pair))
		add_pair(d, kind, text_of(pair.name), text_of(pair.value));
}

static void add_network(struct node_registration *d, const struct node_network *network,
	struct description_texts *texts)
{
	add_pair(d, PAIR_NETWORK, compose(texts, "%s:%s", network->mode, network->device),
		network->speed_mbits ? compose(texts, "%u", network->speed_mbits) : TEXT(""));
	for (uint32_t i = 0; i < network->address_count; i++) {
		const struct node_address *address = &network->addresses[i];
		add_pair(d, PAIR_ADDRESS,
			compose(texts, "%s:%s %s", network->mode, network->device,
				address->address),
			compose(texts, "%s%s%s", address->alias,
				*address->reserved_ports ? " " : "", address->reserved_ports));
	}
}

static void add_settings(
	struct node_registration *d, const struct node *n, struct description_texts *texts)
{
	if (*node_fittings(n)->reserved_ports)
		add_pair(d, PAIR_SETTING, TEXT("ports.reserved"),
			text_of(node_fittings(n)->reserved_ports));
	if (n->port_most)
		add_pair(d, PAIR_SETTING, TEXT("ports.dynamic"),
			compose(texts, "%u-%u", n->port_least, n->port_most));
	if (*node_fittings(n)->reservable_cores)
		add_pair(d, PAIR_SETTING, TEXT("cores.reservable"),
			text_of(node_fittings(n)->reservable_cores));
}

static size_t room_of(const struct node *n)
{
	size_t room = n->bytes + 32;

	// Each address names its network once more.
	for (uint32_t i = 0; i < node_fittings(n)->network_count; i++)
		room += node_fittings(n)->networks[i].address_count *
			(strlen(node_fittings(n)->networks[i].mode) +
				strlen(node_fittings(n)->networks[i].device) + 4);
	return room;
}

static void add_node(
	const struct node *n, struct node_registration *d, struct description_texts *texts)
{
	d->node = n->id;
	d->sequence = n->register_sequence;
	d->total = n->total;
	d->reserved = n->reserved;
	d->name = text_of(n->name);
	d->address = text_of(node_address(n));
	d->version = text_of(node_version(n));
	add_own(d, PAIR_ATTRIBUTE, node_own_attributes(n));
	add_own(d, PAIR_META, node_own_meta(n));
	const struct node_fittings *fittings = node_fittings(n);
	for (uint32_t i = 0; i < fittings->volume_count; i++) {
		const struct host_volume *volume = &fittings->volumes[i];
		add_pair(d, PAIR_VOLUME, text_of(volume->name),
			compose(texts, "%s %s", volume->read_only ? "ro" : "rw", volume->path));
	}
	for (uint32_t i = 0; i < fittings->network_count; i++)
		add_network(d, &fittings->networks[i], texts);
	add_settings(d, n, texts);
}

void node_describe(
	const struct node *n, struct node_registration *d, struct description_texts *texts)
{
	description_begin(texts, room_of(n));
	description_clear(d);
	add_node(n, d, texts);
	node_description_sort(d);
}

static size_t room_of_class(const struct node_class *c)
{
	size_t room = 0;

	for (uint32_t i = 0; i < c->device_count; i++) {
		const struct device_group *group = &c->devices[i];
		size_t prefix = strlen(group->vendor) + strlen(group->type) + strlen(group->name);
		for (uint32_t j = 0; j < group->attribute_count; j++)
			room += prefix + strlen(group->attributes[j].name) + 4;
	}
	return room;
}

static void add_device_group(struct node_registration *d, const struct device_group *group,
	struct description_texts *texts)
{
	d->device_groups[d->device_group_count++] =
		(struct node_device_group){text_of(group->vendor), text_of(group->type),
			text_of(group->name), group->instances};
	for (uint32_t i = 0; i < group->attribute_count; i++)
		add_pair(d, PAIR_DEVICE,
			compose(texts, "%s/%s/%s/%s", group->vendor, group->type, group->name,
				group->attributes[i].name),
			text_of(group->attributes[i].value));
}

static void add_class(
	const struct node_class *c, struct node_registration *d, struct description_texts *texts)
{
	d->datacenter = text_of(c->datacenter);
	d->class_name = text_of(c->class_name);
	d->pool = text_of(c->pool);
	add_attributes(d, PAIR_ATTRIBUTE, c->attributes, c->attribute_count);
	add_attributes(d, PAIR_META, c->meta, c->meta_count);
	add_attributes(d, PAIR_DRIVER, c->drivers, c->driver_count);
	for (uint32_t i = 0; i < c->device_count; i++)
		add_device_group(d, &c->devices[i], texts);
}

void node_class_describe(
	const struct node_class *c, struct node_registration *d, struct description_texts *texts)
{
	description_begin(texts, room_of_class(c));
	description_clear(d);
	add_class(c, d, texts);
	node_description_sort(d);
}

void node_describe_whole(
	const struct node *n, struct node_registration *d, struct description_texts *texts)
{
	description_begin(texts, room_of(n) + room_of_class(n->node_class));
	description_clear(d);
	add_node(n, d, texts);
	add_class(n->node_class, d, texts);
	node_description_sort(d);
}
