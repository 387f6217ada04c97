// From records back to descriptions: for snapshots, and for a node that is described anew without having registered.
#pragma once
#include "state/records/nodes/node.h"
#include "state/records/nodes/node_description.h"

// Characters that a description's texts point into, beside those of the record.
struct description_texts {
	char *data;
	size_t used, capacity;
};

// The first fills what belongs to the node itself, the second what belongs to its class; both clear all other fields.
// A description is sound when both are put together. Its texts are valid while the record and `texts` are.
void node_describe(const struct node *, struct node_registration *, struct description_texts *);
void node_class_describe(
	const struct node_class *, struct node_registration *, struct description_texts *);
// Both together: the whole description, but for the settings of a worker of virtual machines.
void node_describe_whole(
	const struct node *, struct node_registration *, struct description_texts *);
void description_texts_free(struct description_texts *);
