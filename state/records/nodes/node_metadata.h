// The metadata that an operator set on a node, which lies over what the node says of itself. A node has its record once
// anything was set, and the record goes with the node. The node's own record shows both layers as one, so that
// constraints look at one place.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/records/nodes/node.h"
#include "state/records/record.h"

struct node_registration;

struct node_metadatum {
	char *name;
	bool is_set; // else it was taken away, which hides what the node says
	char *value; // of one that is set
	bool is_said;
	char *said; // the node's own value, which lies below
};

struct node_metadata {
	struct record record; // first
	char *node;           // its id as text
	struct array items;   // struct node_metadatum, by name; each is set or said
};

// One change that an operator wants.
struct metadata_change {
	struct text name, value;
	bool is_unset;
};

extern const struct record_type node_metadata_description;

// Whether it is of a node, no more than NODE_METADATA_MAX, and each name and value is one that a node could say.
bool node_metadata_is_fit(const struct node_metadata *);
// NULL: nothing of that name was set or taken away. The metadata may be NULL.
const struct node_metadatum *node_metadata_find(const struct node_metadata *, const char *name);
// What the node itself says under that name, NULL: nothing. The metadata is what lies over the node, or NULL.
const char *node_metadata_said(const struct node_metadata *, const struct node *, const char *name);

// The metadata after these changes, each of another name. `before` may be NULL. What was set and is taken away leaves
// nothing behind unless the node says it, too. Caller frees.
struct node_metadata *node_metadata_change(const struct node_metadata *before, const struct node *,
	const struct metadata_change *, uint32_t count);
// The metadata after the node registered with this description: the node's own values are the new ones, and what was
// taken away is forgotten when the node says it no longer. Caller frees.
struct node_metadata *node_metadata_follow(
	const struct node_metadata *before, const struct node_registration *);
// Puts the metadata over a description, and takes it off again. The description's texts are valid while the metadata
// is.
void node_metadata_lay(const struct node_metadata *, struct node_registration *);
void node_metadata_lift(const struct node_metadata *, struct node_registration *);
// Whether the node's record shows what was set, and nothing of what was taken away.
bool node_metadata_is_laid(const struct node_metadata *, const struct node *);
