// Namespaces that an operator described: a job is in one, and its id is its own there. "default" is always there, also
// when nobody described it.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/records/job.h"
#include "state/records/record.h"

#define NAMESPACE_DEFAULT "default"

// Which task drivers its jobs may use.
struct namespace_capabilities {
	struct array enabled_drivers;  // char *; none: all that are not disabled
	struct array disabled_drivers; // char *
};

struct job_namespace {
	struct record record; // first
	char *name;
	char *description;
	struct array meta;                           // struct string_pair
	struct namespace_capabilities *capabilities; // NULL: every driver
	char *quota;                                 // ""; or the name of one that limits it
};

extern const struct record_type job_namespace_description;

// Whether a namespace may be made under the name: letters, digits and '-'. Namespaces of older data have other names.
bool namespace_name_is_fit(struct text);
bool namespace_is_built_in(struct text name);
// Whether there are no more values than NAMESPACE_META_MAX and drivers than NAMESPACE_DRIVERS_MAX, and none is longer
// than those of a node's attributes.
bool namespace_meta_is_fit(const struct job_namespace *);
bool namespace_drivers_are_fit(const struct job_namespace *);
// Whether the namespace, which may be NULL, allows all drivers that the job uses; else the text says which it does not.
bool namespace_allows_drivers(
	const struct job_namespace *, const struct job *, char *text, size_t size);
