// Prospects by job and group, the least recently used one dropped when there are too many.
#pragma once
#include "placement/direct/candidate_cache.h"

// A prospect is a few kilobytes, and a byte for each node class.
#define PROSPECTS_MAX 4096u

struct prospect_table;

struct prospect_table *prospect_table_create(struct fit_index *, const struct prospect_source *);
void prospect_table_destroy(struct prospect_table *);
// Made when it is not there; valid until the next call on the table.
struct prospect *prospect_table_get(struct prospect_table *, const struct job *, uint32_t group);
void prospect_table_forget(struct prospect_table *, const struct job *);
uint32_t prospect_table_count(const struct prospect_table *);
