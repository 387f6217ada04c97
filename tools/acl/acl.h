// What somebody may do: the rules of several policies, merged. Immutable; any thread may ask.
//
// Of a name, an exact rule counts before those with "*", and of these the one whose length is closest to the name's; of
// two that are equally close, one that denies. Rules of the same name add up, but deny takes everything away.
#pragma once
#include "tools/acl/acl_words.h"
#include <stddef.h>

struct acl;
struct acl_rules;

// A task, which may list and read the variables that its path names: nomad/jobs, nomad/jobs/JOB, nomad/jobs/JOB/GROUP
// and nomad/jobs/JOB/GROUP/TASK of its namespace. Rules for just such a variable count before that.
struct acl_task {
	const char *namespace_name, *job, *group, *task;
};

// The rules of all policies, and what a task may besides (NULL: it is none). They may be freed afterwards. Release it
// with acl_free().
struct acl *acl_merge(const struct acl_rules *const *, uint32_t count, const struct acl_task *);
// May do everything. Shared: acl_free() leaves it.
const struct acl *acl_of_management(void);
void acl_free(const struct acl *);

bool acl_is_management(const struct acl *);
bool acl_allows_in(const struct acl *, const char *namespace_name, enum acl_capability);
// Whether any capability is allowed there.
bool acl_shows_namespace(const struct acl *, const char *namespace_name);
// Whether there may be a namespace where it is allowed.
bool acl_allows_somewhere(const struct acl *, enum acl_capability);
bool acl_allows_area(const struct acl *, enum acl_area, enum acl_level);
bool acl_allows_pool(const struct acl *, const char *pool, enum acl_pool_capability);
bool acl_allows_volume(const struct acl *, const char *host_volume, enum acl_volume_capability);
// A rule that denies the namespace denies its variables, too.
bool acl_allows_variable(const struct acl *, const char *namespace_name, const char *path,
	enum acl_variable_capability);
// Whether a rule says anything of variables there, be it that they are denied; NULL: of some namespace.
bool acl_knows_variables(const struct acl *, const char *namespace_name);
