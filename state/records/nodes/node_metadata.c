// Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/nodes/node_metadata.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/base/schema_table.h"
#include "state/records/nodes/node_description.h"
#include <stdlib.h>

static const struct field node_metadatum_fields[] = {
	{"Name", FIELD_STRING, OF(node_metadatum, name)},
	{"IsSet", FIELD_BOOL, OF(node_metadatum, is_set)},
	{"Value", FIELD_STRING, OF(node_metadatum, value)},
	{"IsSaid", FIELD_BOOL, OF(node_metadatum, is_said)},
	{"Said", FIELD_STRING, OF(node_metadatum, said)},
};
static DESCRIBE(item_description, node_metadatum);

static const struct field node_metadata_fields[] = {
	{"NodeID", FIELD_STRING, OF(node_metadata, node)},
	{"Items", FIELD_STRUCT_MAP, OF(node_metadata, items), &item_description},
};
DESCRIBE(node_metadata_description, node_metadata);

static struct node_metadata *node_metadata_create(const struct uuid *node)
{
	struct node_metadata *m = record_create(&node_metadata_description);
	char id[UUID_TEXT_BYTES];

	m->node = text_copy(text_of(uuid_format(node, id)));
	return m;
}

static bool item_is_fit(const struct node_metadatum *item)
{
	const struct text name = text_of(item->name), value = text_of(item->value),
			  said = text_of(item->said);

	return (item->is_set || item->is_said) && name.size > 0 &&
	       name.size <= ATTRIBUTE_NAME_BYTES_MAX && text_is_printable(name) &&
	       value.size <= (item->is_set ? ATTRIBUTE_VALUE_BYTES_MAX : 0) &&
	       text_is_printable(value) &&
	       said.size <= (item->is_said ? ATTRIBUTE_VALUE_BYTES_MAX : 0) &&
	       text_is_printable(said);
}

bool node_metadata_is_fit(const struct node_metadata *m)
{
	struct uuid id;
	char text[UUID_TEXT_BYTES];

	if (!m->node || !uuid_parse(m->node, &id) || strcmp(uuid_format(&id, text), m->node) != 0 ||
		m->items.count > NODE_METADATA_MAX)
		return false;
	for (uint32_t i = 0; i < m->items.count; i++)
		if (!item_is_fit(ARRAY_AT(&m->items, struct node_metadatum, i)))
			return false;
	return true;
}

const struct node_metadatum *node_metadata_find(const struct node_metadata *m, const char *name)
{
	uint32_t at;

	return m && map_find(&m->items, sizeof(struct node_metadatum), name, &at)
		       ? ARRAY_AT(&m->items, struct node_metadatum, at)
		       : NULL;
}

const char *node_metadata_said(
	const struct node_metadata *m, const struct node *node, const char *name)
{
	const struct node_metadatum *item = node_metadata_find(m, name);

	if (!item)
		return node_meta(node, name);
	if (!item->is_said)
		return NULL;
	return item->said ? item->said : "";
}

static void add_item(
	struct node_metadata *to, const char *name, const struct text *value, const char *said)
{
	if (!value && !said)
		return;
	struct node_metadatum *item = map_item(&to->items, sizeof *item, name);
	item->is_set = value != NULL;
	item->value = value ? text_copy(*value) : NULL;
	item->is_said = said != NULL;
	item->said = said ? text_copy(text_of(said)) : NULL;
}

static const struct metadata_change *find_change(
	const struct metadata_change *changes, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (text_equal(changes[i].name, text_of(name)))
			return &changes[i];
	return NULL;
}

struct node_metadata *node_metadata_change(const struct node_metadata *before,
	const struct node *node, const struct metadata_change *changes, uint32_t count)
{
	struct node_metadata *after = node_metadata_create(&node->id);

	for (uint32_t i = 0; before && i < before->items.count; i++) {
		const struct node_metadatum *item =
			ARRAY_AT(&before->items, struct node_metadatum, i);
		struct text value = text_of(item->value);
		if (!find_change(changes, count, item->name))
			add_item(after, item->name, item->is_set ? &value : NULL,
				node_metadata_said(before, node, item->name));
	}
	for (uint32_t i = 0; i < count; i++) {
		char *name = text_copy(changes[i].name);
		add_item(after, name, changes[i].is_unset ? NULL : &changes[i].value,
			node_metadata_said(before, node, name));
		free(name);
	}
	return after;
}

static const struct node_pair *find_said(const struct node_registration *d, const char *name)
{
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == PAIR_META && text_equal(d->pairs[i].name, text_of(name)))
			return &d->pairs[i];
	return NULL;
}

struct node_metadata *node_metadata_follow(
	const struct node_metadata *before, const struct node_registration *d)
{
	struct node_metadata *after = node_metadata_create(&d->node);

	for (uint32_t i = 0; i < before->items.count; i++) {
		const struct node_metadatum *item =
			ARRAY_AT(&before->items, struct node_metadatum, i);
		const struct node_pair *pair = find_said(d, item->name);
		struct text value = text_of(item->value);
		char *said = pair ? text_copy(pair->value) : NULL;
		add_item(after, item->name, item->is_set ? &value : NULL, said);
		free(said);
	}
	return after;
}

// Takes all metadata out of the description whose names are among these.
static void take_out(const struct node_metadata *m, struct node_registration *d)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->pair_count; i++) {
		uint32_t at = 0;
		while (at < m->items.count &&
			!text_equal(d->pairs[i].name,
				text_of(ARRAY_AT(&m->items, struct node_metadatum, at)->name)))
			at++;
		if (d->pairs[i].kind != PAIR_META || at == m->items.count)
			d->pairs[kept++] = d->pairs[i];
	}
	d->pair_count = kept;
}

static void add_meta(struct node_registration *d, const char *name, const char *value)
{
	CHECK(d->pair_count < NODE_PAIRS_MAX);
	d->pairs[d->pair_count++] =
		(struct node_pair){PAIR_META, text_of(name), text_of(value ? value : "")};
}

// Puts what is set, or what the node said, in the place of whatever the description has of the same names.
static void show_items(const struct node_metadata *m, struct node_registration *d, bool set)
{
	take_out(m, d);
	for (uint32_t i = 0; i < m->items.count; i++) {
		const struct node_metadatum *item = ARRAY_AT(&m->items, struct node_metadatum, i);
		if (set ? item->is_set : item->is_said)
			add_meta(d, item->name, set ? item->value : item->said);
	}
	node_description_sort(d);
}

void node_metadata_lay(const struct node_metadata *m, struct node_registration *d)
{
	show_items(m, d, true);
}

void node_metadata_lift(const struct node_metadata *m, struct node_registration *d)
{
	show_items(m, d, false);
}

bool node_metadata_is_laid(const struct node_metadata *m, const struct node *node)
{
	for (uint32_t i = 0; i < m->items.count; i++) {
		const struct node_metadatum *item = ARRAY_AT(&m->items, struct node_metadatum, i);
		const char *shown = node_meta(node, item->name);
		if (item->is_set != (shown != NULL) ||
			(shown && strcmp(shown, item->value ? item->value : "") != 0))
			return false;
	}
	return true;
}
