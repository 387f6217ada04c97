// Plans by job and group, the least recently used one dropped when there are too many.
#pragma once
#include "placement/plan.h"

// A plan is a few kilobytes, and a byte for each node class.
#define PLANS_MAX 4096u

struct plan_table;

struct plan_table *plan_table_create(struct fit_index *, const struct plan_source *);
void plan_table_destroy(struct plan_table *);
// Made when it is not there; valid until the next call on the table.
struct plan *plan_table_get(struct plan_table *, const struct job *, uint32_t group);
void plan_table_forget(struct plan_table *, const struct job *);
uint32_t plan_table_count(const struct plan_table *);
