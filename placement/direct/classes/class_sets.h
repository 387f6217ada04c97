// The class sets of an index that were used lately. One thread.
#pragma once
#include "placement/direct/classes/class_set.h"

struct class_sets;

struct class_sets *class_sets_create(const struct fit_index *);
void class_sets_destroy(struct class_sets *); // NULL is fine

// The set for a key, up to date with the index; two groups have one key when they ask the same of classes and of room.
// The judge is asked about classes that the set does not know. Give every set back.
struct class_set *class_sets_take(struct class_sets *, const void *key, uint32_t key_bytes,
	const struct class_ask *, class_judge *, void *context);
void class_sets_give(struct class_sets *, struct class_set *);
