// Classes hold once what nodes of one make share: built from a description, counted by the records that refer to them.
// For state/ only; applier thread.
#pragma once
#include "state/records/nodes/node_description.h"
#include "state/tables/state.h"

struct state;
struct class_table;

void classes_init(struct class_table *);
void classes_destroy(struct class_table *);
// Finds or builds the class of a description (pairs sorted). Caller gives the reference back.
struct node_class *class_take(struct state *, const struct node_registration *);
// In two steps, of which any thread may take the first one.
uint64_t class_hash(const struct node_registration *);
struct node_class *class_take_hashed(
	struct state *, const struct node_registration *, uint64_t class_hash);
struct node_class *class_share(struct node_class *); // one more reference
void class_release(struct state *, struct node_class *);
