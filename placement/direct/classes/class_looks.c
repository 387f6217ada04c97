#include "placement/direct/classes/class_looks.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

static void add_bytes(struct look_bytes *to, const void *bytes, uint32_t size)
{
	if (to->size + size > to->room) {
		to->room = 2 * to->room + size + 64;
		to->bytes = memory_resize(to->bytes, to->room);
	}
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
	CHECK(to->size <= to->room);
}

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

// Of a target that is unique to a node no class says anything.
static bool is_of_classes(const char *text)
{
	if (!text || begins_with(text, LOOK_AT_DRIVER) || strcmp(text, LOOK_AT_DEVICES) == 0 ||
		strcmp(text, LOOK_AT_NETWORKS) == 0)
		return text != NULL;
	if (!begins_with(text, "${"))
		return false;
	struct node_property *property = node_property_compile(text);
	bool is_unique = node_property_is_node_unique(property);
	node_property_free(property);
	return !is_unique;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct look_bytes class_looks_order(const char **texts, uint32_t count)
{
	struct look_bytes ordered = {0};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (is_of_classes(texts[i]))
			texts[kept++] = texts[i];
	qsort(texts, kept, sizeof texts[0], compare_texts);
	for (uint32_t i = 0; i < kept; i++)
		if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
			add_bytes(&ordered, texts[i], (uint32_t)strlen(texts[i]) + 1);
	return ordered;
}

static void add_look(struct class_looks *l, const char *text)
{
	if (strcmp(text, LOOK_AT_DEVICES) == 0)
		l->devices = true;
	else if (strcmp(text, LOOK_AT_NETWORKS) == 0)
		l->networks = true;
	else if (begins_with(text, LOOK_AT_DRIVER))
		l->drivers[l->driver_count++] = text_copy(text_of(text + strlen(LOOK_AT_DRIVER)));
	else
		l->properties[l->property_count++] = node_property_compile(text);
}

void class_looks_begin(struct class_looks *l, const struct look_bytes *ordered)
{
	uint32_t count = 0;

	CHECK(ordered->size == 0 || ordered->bytes[ordered->size - 1] == 0);
	for (uint32_t i = 0; i < ordered->size; i++)
		count += ordered->bytes[i] == 0;
	*l = (struct class_looks){
		.properties = memory_take_array(count + 1, sizeof l->properties[0]),
		.drivers = memory_take_array(count + 1, sizeof l->drivers[0]),
	};
	for (uint32_t at = 0; at < ordered->size; at += (uint32_t)strlen(ordered->bytes + at) + 1)
		add_look(l, ordered->bytes + at);
}

void class_looks_release(struct class_looks *l)
{
	for (uint32_t i = 0; i < l->property_count; i++)
		node_property_free(l->properties[i]);
	for (uint32_t i = 0; i < l->driver_count; i++)
		free(l->drivers[i]);
	free(l->properties);
	free(l->drivers);
}

// Its end is part of a text, so that no two lists of texts have the same bytes.
void look_bytes_add(struct look_bytes *to, const char *text)
{
	add_bytes(to, text ? "+" : "-", 1);
	if (text)
		add_bytes(to, text, (uint32_t)strlen(text) + 1);
}

static const char *find_driver(const struct node_class *c, const char *name)
{
	for (uint32_t i = 0; i < c->driver_count; i++)
		if (strcmp(c->drivers[i].name, name) == 0)
			return c->drivers[i].value;
	return NULL;
}

static void add_device(struct look_bytes *to, const struct device_group *d)
{
	look_bytes_add(to, d->vendor);
	look_bytes_add(to, d->type);
	look_bytes_add(to, d->name);
	add_bytes(to, &d->instances, sizeof d->instances);
	add_bytes(to, &d->attribute_count, sizeof d->attribute_count);
	for (uint32_t i = 0; i < d->attribute_count; i++) {
		look_bytes_add(to, d->attributes[i].name);
		look_bytes_add(to, d->attributes[i].value);
	}
}

void class_looks_see(
	const struct class_looks *l, const struct node_class *c, struct look_bytes *seen)
{
	struct node any = {.node_class = (struct node_class *)c};
	char id[UUID_TEXT_BYTES];

	seen->size = 0;
	for (uint32_t i = 0; i < l->property_count; i++)
		look_bytes_add(seen, node_property_value(l->properties[i], &any, id));
	for (uint32_t i = 0; i < l->driver_count; i++)
		look_bytes_add(seen, find_driver(c, l->drivers[i]));
	for (uint32_t i = 0; l->devices && i < c->device_count; i++)
		add_device(seen, &c->devices[i]);
}
