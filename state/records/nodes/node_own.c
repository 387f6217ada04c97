#include "state/records/nodes/node_own.h"
#include "state/base/check.h"

#define ROW_BYTES 256u // most rows are no longer

static const char *row_skip(const char *row, uint32_t strings)
{
	while (strings-- > 0)
		row += strlen(row) + 1;
	return row;
}

// Neither the first string of the one row nor the first two of the other are a pair's.
struct own_walk node_own_attributes(const struct node *n)
{
	if (n->own_attribute_count + n->own_meta_count == 0)
		return (struct own_walk){0};
	return (struct own_walk){
		n, row_skip(n->make, 1), row_skip(n->name, 2), n->own_attribute_count};
}

struct own_walk node_own_meta(const struct node *n)
{
	struct own_walk walk = node_own_attributes(n);
	struct attribute attribute;

	while (own_walk_next(&walk, &attribute)) {
	}
	walk.left = n->own_meta_count;
	return walk;
}

static const char *next_value(const struct own_walk *walk)
{
	switch ((enum own_mark) * walk->mark) {
	case OWN_NAME: return walk->node->name;
	case OWN_ADDRESS: return node_address(walk->node);
	case OWN_VALUE: break;
	}
	return walk->value;
}

bool own_walk_next(struct own_walk *walk, struct attribute *pair)
{
	if (walk->left == 0)
		return false;
	walk->left--;
	*pair = (struct attribute){walk->mark + 1, next_value(walk)};
	if (*walk->mark == OWN_VALUE)
		walk->value = row_skip(walk->value, 1);
	walk->mark = row_skip(walk->mark, 1);
	return true;
}

static const char *own_find(struct own_walk walk, const char *name)
{
	struct attribute pair;

	while (own_walk_next(&walk, &pair))
		if (strcmp(pair.name, name) == 0)
			return pair.value;
	return NULL;
}

const char *node_own_attribute(const struct node *n, const char *name)
{
	return own_find(node_own_attributes(n), name);
}

const char *node_own_metadatum(const struct node *n, const char *name)
{
	return own_find(node_own_meta(n), name);
}

static const char *find_sorted(const struct attribute *sorted, uint32_t count, const char *name)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(sorted[middle].name, name);
		if (order == 0)
			return sorted[middle].value;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const char *node_attribute(const struct node *n, const char *name)
{
	return attribute_is_unique(text_of(name)) ? node_own_attribute(n, name)
						  : find_sorted(n->node_class->attributes,
							    n->node_class->attribute_count, name);
}

const char *node_meta(const struct node *n, const char *name)
{
	return attribute_is_unique(text_of(name))
		       ? node_own_metadatum(n, name)
		       : find_sorted(n->node_class->meta, n->node_class->meta_count, name);
}

static bool walks_are_equal(struct own_walk a, struct own_walk b)
{
	struct attribute of_a, of_b;

	if (a.left != b.left)
		return false;
	while (own_walk_next(&a, &of_a) && own_walk_next(&b, &of_b))
		if (strcmp(of_a.name, of_b.name) != 0 || strcmp(of_a.value, of_b.value) != 0)
			return false;
	return true;
}

bool node_own_equal(const struct node *a, const struct node *b)
{
	return walks_are_equal(node_own_attributes(a), node_own_attributes(b)) &&
	       walks_are_equal(node_own_meta(a), node_own_meta(b));
}

static void row_add(struct bytes_writer *row, struct text text)
{
	bytes_put(row, text.data, text.size);
	bytes_put_u8(row, 0);
}

struct own_rows own_rows_begin(struct text version, struct text name, struct text address)
{
	struct own_rows rows = {.name = name,
		.address = address,
		.make = bytes_writer_growing(ROW_BYTES),
		.own = bytes_writer_growing(ROW_BYTES)};

	row_add(&rows.make, version);
	row_add(&rows.own, name);
	row_add(&rows.own, address);
	return rows;
}

static void add_pair(struct own_rows *rows, struct text name, struct text value)
{
	enum own_mark mark = text_equal(value, rows->name)      ? OWN_NAME
			     : text_equal(value, rows->address) ? OWN_ADDRESS
								: OWN_VALUE;

	bytes_put_u8(&rows->make, (uint8_t)mark);
	row_add(&rows->make, name);
	if (mark == OWN_VALUE)
		row_add(&rows->own, value);
}

void own_rows_add_attribute(struct own_rows *rows, struct text name, struct text value)
{
	CHECK(rows->meta == 0);
	add_pair(rows, name, value);
	rows->attributes++;
}

void own_rows_add_meta(struct own_rows *rows, struct text name, struct text value)
{
	add_pair(rows, name, value);
	rows->meta++;
}

void own_rows_free(struct own_rows *rows)
{
	bytes_writer_free(&rows->make);
	bytes_writer_free(&rows->own);
}

void own_rows_show(const struct own_rows *rows, struct node *n)
{
	n->make = (const char *)rows->make.data;
	n->name = (const char *)rows->own.data;
	n->own_attribute_count = rows->attributes;
	n->own_meta_count = rows->meta;
}
