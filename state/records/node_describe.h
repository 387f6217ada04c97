// From records back to descriptions, for snapshots.
#pragma once
#include "state/records/node.h"
#include "state/records/node_description.h"

// Characters that a description's texts point into, beside those of the record.
struct description_texts {
	char *data;
	size_t used, capacity;
};

// What is the node's own and what is its class's; all other fields are cleared. Both are sound together
// with the other's. Texts are valid while the record and texts are.
void node_describe(const struct node *, struct node_registration *, struct description_texts *);
void node_class_describe(
	const struct node_class *, struct node_registration *, struct description_texts *);
void description_texts_free(struct description_texts *);
