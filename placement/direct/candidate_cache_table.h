// Candidate caches by job and group; the least recently used is dropped when there are too many.
#pragma once
#include "placement/direct/candidate_cache.h"

// A cache takes a few kilobytes plus a byte per node class.
#define PROSPECTS_MAX 4096u

struct candidate_cache_table;

struct candidate_cache_table *candidate_cache_table_create(
	struct fit_index *, const struct candidate_source *);
void candidate_cache_table_destroy(struct candidate_cache_table *);
// Makes a missing cache; the result is valid until the next call on the table.
struct candidate_cache *candidate_cache_table_get(
	struct candidate_cache_table *, const struct job *, uint32_t group);
void candidate_cache_table_forget(struct candidate_cache_table *, const struct job *);
uint32_t candidate_cache_table_count(const struct candidate_cache_table *);
