// Lists of items of one size, and maps: lists of structs that begin with their name (char *), in its order.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct array {
	void *items;
	uint32_t count;
};
struct string_pair {
	char *name;
	char *value;
};
struct named_count {
	char *name;
	int64_t count;
};

// Array access: ARRAY_AT(&job->task_groups, struct task_group, i)
#define ARRAY_AT(array, type, i) (&((type *)(array)->items)[i])

// Appends one zeroed item to an array of items of bytes_each; returns it.
void *array_append(struct array *, size_t bytes_each);
// Sorts items and keeps the first of those that compare as equal. Returns how many are kept.
uint32_t items_sort_unique(
	void *items, uint32_t count, size_t bytes_each, int (*compare)(const void *, const void *));
// Sorts the items of a map by name, the first member of each (char *). Returns false when a name comes twice.
bool map_sort(struct array *, size_t bytes_each);
// Frees a map whose items own their names alone; it is empty then.
void map_free(struct array *, size_t bytes_each);
// Value of a name in a FIELD_MAP array, or NULL.
const char *map_get(const struct array *, const char *name);
// Finds a name in an ordered array of structs that begin with their name: *at is where it is or would go. Returns
// whether it is there.
bool map_find(const struct array *, size_t bytes_each, const char *name, uint32_t *at);
// The item of a name in such an array; if missing, a zeroed item with a copy of the name is inserted in order.
void *map_item(struct array *, size_t bytes_each, const char *name);
