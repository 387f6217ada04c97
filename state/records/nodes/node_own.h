// What is a node's own among its attributes and metadata, and what besides is read only where the node is shown: two
// rows of strings, each with its NUL, one behind the other.
//
//	make  the node's version, then a mark and the name of each of its own attributes, then of its own metadata;
//	      nodes share it
//	name  the node's name, its address, the values with the mark OWN_VALUE in the order of their names
//
// What is called as the node is, or after its address, is most often said by every node of a fleet.
#pragma once
#include "state/base/bytes.h"
#include "state/records/nodes/node.h"

// Where the value is.
enum own_mark { OWN_VALUE = '=', OWN_NAME = 'n', OWN_ADDRESS = 'a' };

static inline const char *node_version(const struct node *n)
{
	return n->make;
}
static inline const char *node_address(const struct node *n)
{
	return n->name + strlen(n->name) + 1;
}

// Walks them in the order of names. The strings live as long as the record.
struct own_walk {
	const struct node *node;
	const char *mark, *value; // next ones
	uint32_t left;
};
struct own_walk node_own_attributes(const struct node *);
struct own_walk node_own_meta(const struct node *);
bool own_walk_next(struct own_walk *, struct attribute *); // false: there is no more

// The value, NULL: the node has none of that name.
const char *node_own_attribute(const struct node *, const char *name);
const char *node_own_metadatum(const struct node *, const char *name);
// Whether both have the same attributes and metadata of their own.
bool node_own_equal(const struct node *, const struct node *);

// Both rows while they are written: all attributes first, each kind sorted by name. Caller frees.
struct own_rows {
	struct text name, address; // the caller's
	struct bytes_writer make, own;
	uint16_t attributes, meta;
};
struct own_rows own_rows_begin(struct text version, struct text name, struct text address);
void own_rows_add_attribute(struct own_rows *, struct text name, struct text value);
void own_rows_add_meta(struct own_rows *, struct text name, struct text value);
void own_rows_free(struct own_rows *);
// Lets the node point to the rows, which stay the caller's.
void own_rows_show(const struct own_rows *, struct node *);
