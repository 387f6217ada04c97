// What somebody looks at of node classes. Classes of which all that is looked at is the same are of one kind to him.
#pragma once
#include "placement/constraint/constraint.h"

// Bytes that grow.
struct look_bytes {
	char *bytes;
	uint32_t size, room;
};

struct class_looks {
	struct node_property **properties;
	char **drivers;
	uint32_t property_count, driver_count;
	bool devices;  // the whole of them
	bool networks; // of the node that speaks for the class
};

// A look is the text of a target ("${attr.kernel.name}"), LOOK_AT_DRIVER and the name of a driver, or one of those that
// follow.
#define LOOK_AT_DRIVER "driver "
#define LOOK_AT_DEVICES "devices"
#define LOOK_AT_NETWORKS "networks"
// What every group looks at, for its datacenters and its pool, and for its metrics.
#define LOOKS_OF_ALL "${node.datacenter}", "${node.class}", "${node.pool}"

// Puts looks into an order that is the same for the same looks, each of them once, with a NUL behind each. texts may
// hold NULL, texts that are no looks, and targets that are unique to nodes: they count for nothing. Caller frees.
struct look_bytes class_looks_order(const char **texts, uint32_t count);

void class_looks_begin(struct class_looks *, const struct look_bytes *ordered);
void class_looks_release(struct class_looks *);
// Writes what is seen of a class over the bytes: two classes are of one kind when those are the same.
void class_looks_see(
	const struct class_looks *, const struct node_class *, struct look_bytes *seen);
// Adds something to it; NULL is not "".
void look_bytes_add(struct look_bytes *, const char *text);
