// Jobs for tests: one group with one task, and parts to add to it.
#pragma once
#include "state/base/memory.h"
#include "state/records/job.h"
#include <stdlib.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct task_group *add_group(struct job *job, const char *name);
struct task *add_task(struct task_group *group, const char *name);
struct job *job_of(enum job_type type);
struct task_group *group_of(struct job *job);
struct task *task_of(struct job *job);
void set(char **string, const char *value);
void constrain(struct array *constraints, const char *l, const char *op, const char *r);
struct affinity *prefer(struct array *affinities);
struct spread *spread_over(struct array *spreads, const char *attribute);
void *block(const struct record_type *type);
struct device_ask *ask_device(struct job *job, const char *name, int64_t count);
