#include "tools/acl/acl.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "tools/acl/acl_rules.h"
#include <stdio.h>
#include <stdlib.h>

// What the rules of one name add up to.
struct grant {
	char *name;           // of variables the path
	char *namespace_name; // of variables; else NULL
	uint32_t length;      // of the names without "*"
	bool is_glob;
	uint32_t capabilities; // a bit each
};

// Exact ones first, in the order of names.
struct grants {
	struct grant *items;
	uint32_t count, exact_count, capacity;
};

// Paths of variables that a task may read.
#define TASK_PATHS 4u

struct acl {
	bool is_management;
	char *task_namespace; // of variables that a task may read; NULL: it is no task's
	char *task_path;      // nomad/jobs/JOB/GROUP/TASK
	size_t task_path_ends[TASK_PATHS];
	struct grants grants[ACL_SUBJECTS];
	enum acl_level levels[ACL_AREAS];
};

#define BIT(capability) (1u << (capability))
#define DENIED BIT(ACL_DENY)

static uint32_t bits_of(enum acl_subject subject, const struct array *words)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < words->count; i++) {
		int capability = acl_capability_of(subject, *ARRAY_AT(words, const char *, i));
		CHECK(capability >= 0 && capability < 32);
		bits |= BIT(capability);
	}
	return bits & DENIED ? DENIED : bits;
}

static uint32_t length_of(const char *name, bool *is_glob)
{
	uint32_t length = 0;
	for (; *name; name++) {
		*is_glob |= *name == '*';
		length += *name != '*';
	}
	return length;
}

static void add_grant(struct grants *grants, enum acl_subject subject, const char *namespace_name,
	const struct acl_rule *rule)
{
	grants->items = memory_one_more(
		grants->items, grants->count, &grants->capacity, sizeof *grants->items);
	struct grant *grant = &grants->items[grants->count++];
	*grant = (struct grant){.name = text_copy(text_of(rule->name)),
		.capabilities = bits_of(subject, &rule->capabilities)};
	grant->length = length_of(rule->name, &grant->is_glob);
	if (!namespace_name)
		return;
	grant->namespace_name = text_copy(text_of(namespace_name));
	grant->length += length_of(namespace_name, &grant->is_glob);
}

static int grant_order(const void *a, const void *b)
{
	const struct grant *x = a, *y = b;
	if (x->is_glob != y->is_glob)
		return x->is_glob - y->is_glob;
	int order = strcmp(x->name, y->name);
	return order || !x->namespace_name ? order : strcmp(x->namespace_name, y->namespace_name);
}

static void free_grant(struct grant *grant)
{
	free(grant->name);
	free(grant->namespace_name);
}

// Sorts the grants and adds up those of one name.
static void settle_grants(struct grants *grants)
{
	uint32_t kept = 0;
	if (grants->count == 0)
		return;
	qsort(grants->items, grants->count, sizeof *grants->items, grant_order);
	for (uint32_t i = 0; i < grants->count; i++) {
		struct grant *grant = &grants->items[i];
		struct grant *last = kept > 0 ? &grants->items[kept - 1] : NULL;
		if (!last || grant_order(last, grant) != 0) {
			grants->exact_count += !grant->is_glob;
			grants->items[kept++] = *grant;
			continue;
		}
		last->capabilities |= grant->capabilities;
		free_grant(grant);
	}
	grants->count = kept;
	for (uint32_t i = 0; i < kept; i++)
		if (grants->items[i].capabilities & DENIED)
			grants->items[i].capabilities = DENIED;
}

static void add_named(struct acl *acl, enum acl_subject subject, const struct array *rules)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct acl_rule *rule = ARRAY_AT(rules, struct acl_rule, i);
		add_grant(&acl->grants[subject], subject, NULL, rule);
		for (uint32_t n = 0; n < rule->variables.count; n++)
			add_grant(&acl->grants[ACL_VARIABLES], ACL_VARIABLES, rule->name,
				ARRAY_AT(&rule->variables, struct acl_rule, n));
	}
}

static void add_area(struct acl *acl, enum acl_area area, const char *word)
{
	enum acl_level level;
	if (!word)
		return;
	CHECK(acl_level_of(area, word, &level));
	if (level > acl->levels[area])
		acl->levels[area] = level;
}

static void add_task(struct acl *acl, const struct acl_task *task)
{
	const char *const parts[TASK_PATHS] = {"nomad/jobs", task->job, task->group, task->task};
	size_t size = 0;
	for (uint32_t i = 0; i < TASK_PATHS; i++)
		size += strlen(parts[i]) + 1;
	acl->task_namespace = text_copy(text_of(task->namespace_name));
	acl->task_path = memory_take(size);
	for (uint32_t i = 0, at = 0; i < TASK_PATHS; i++) {
		at += (uint32_t)snprintf(
			acl->task_path + at, size - at, "%s%s", i ? "/" : "", parts[i]);
		acl->task_path_ends[i] = at;
	}
}

struct acl *acl_merge(
	const struct acl_rules *const *rules, uint32_t count, const struct acl_task *task)
{
	struct acl *acl = memory_take(sizeof *acl);
	if (task)
		add_task(acl, task);
	for (uint32_t i = 0; i < count; i++) {
		for (enum acl_subject subject = 0; subject < ACL_SUBJECTS; subject++)
			add_named(acl, subject, &rules[i]->named[subject]);
		for (enum acl_area area = 0; area < ACL_AREAS; area++)
			add_area(acl, area, rules[i]->areas[area]);
	}
	for (enum acl_subject subject = 0; subject < ACL_SUBJECTS; subject++)
		settle_grants(&acl->grants[subject]);
	return acl;
}

const struct acl *acl_of_management(void)
{
	static const struct acl management = {.is_management = true};
	return &management;
}

void acl_free(const struct acl *acl)
{
	if (!acl || acl->is_management)
		return;
	for (enum acl_subject subject = 0; subject < ACL_SUBJECTS; subject++) {
		const struct grants *grants = &acl->grants[subject];
		for (uint32_t i = 0; i < grants->count; i++)
			free_grant(&grants->items[i]);
		free(grants->items);
	}
	free(acl->task_namespace);
	free(acl->task_path);
	free((void *)acl);
}

static const struct grant *find_exact(
	const struct grants *grants, const char *namespace_name, const char *name)
{
	struct grant wanted = {.name = (char *)name, .namespace_name = (char *)namespace_name};
	if (grants->exact_count == 0)
		return NULL;
	return bsearch(&wanted, grants->items, grants->exact_count, sizeof wanted, grant_order);
}

static bool is_closer(const struct grant *grant, const struct grant *than)
{
	if (!than || grant->length != than->length)
		return !than || grant->length > than->length;
	return grant->capabilities & DENIED;
}

static bool grant_fits(const struct grant *grant, const char *namespace_name, const char *name)
{
	return glob_matches(grant->name, name) &&
	       (!namespace_name || glob_matches(grant->namespace_name, namespace_name));
}

// The closest: all that fit have their own characters in the name, so that the longest is closest to its length.
static const struct grant *find_glob(
	const struct grants *grants, const char *namespace_name, const char *name)
{
	const struct grant *found = NULL;
	for (uint32_t i = grants->exact_count; i < grants->count; i++) {
		const struct grant *grant = &grants->items[i];
		if (grant_fits(grant, namespace_name, name) && is_closer(grant, found))
			found = grant;
	}
	return found;
}

// Whether it is a path that the acl's task may read: its own, or that of its group, of its job, or of all jobs.
static bool is_of_task(const struct acl *acl, const char *namespace_name, const char *path)
{
	size_t size = strlen(path);
	if (!acl->task_namespace || strcmp(acl->task_namespace, namespace_name) != 0)
		return false;
	for (uint32_t i = 0; i < TASK_PATHS; i++)
		if (size == acl->task_path_ends[i])
			return memcmp(acl->task_path, path, size) == 0;
	return false;
}

// What is said of the name, ACL_DENY included; of variables it is a path in the namespace.
static uint32_t said_of(const struct acl *acl, enum acl_subject subject, const char *namespace_name,
	const char *name)
{
	const struct grants *grants = &acl->grants[subject];
	const struct grant *found = find_exact(grants, namespace_name, name);
	if (!found && subject == ACL_VARIABLES && is_of_task(acl, namespace_name, name))
		return BIT(ACL_VARIABLE_LIST) | BIT(ACL_VARIABLE_READ);
	if (!found)
		found = find_glob(grants, namespace_name, name);
	return found ? found->capabilities : 0;
}

bool acl_is_management(const struct acl *acl)
{
	return acl->is_management;
}

bool acl_allows_in(
	const struct acl *acl, const char *namespace_name, enum acl_capability capability)
{
	return acl->is_management ||
	       said_of(acl, ACL_NAMESPACES, NULL, namespace_name) & BIT(capability);
}

bool acl_shows_namespace(const struct acl *acl, const char *namespace_name)
{
	return acl->is_management || said_of(acl, ACL_NAMESPACES, NULL, namespace_name) & ~DENIED;
}

bool acl_allows_somewhere(const struct acl *acl, enum acl_capability capability)
{
	const struct grants *grants = &acl->grants[ACL_NAMESPACES];
	bool allows = acl->is_management;
	for (uint32_t i = 0; i < grants->count && !allows; i++)
		allows = grants->items[i].capabilities & BIT(capability);
	return allows;
}

bool acl_allows_area(const struct acl *acl, enum acl_area area, enum acl_level level)
{
	CHECK(area < ACL_AREAS && level < ACL_LEVEL_DENY);
	return acl->is_management ||
	       (acl->levels[area] != ACL_LEVEL_DENY && acl->levels[area] >= level);
}

bool acl_allows_pool(const struct acl *acl, const char *pool, enum acl_pool_capability capability)
{
	return acl->is_management || said_of(acl, ACL_NODE_POOLS, NULL, pool) & BIT(capability);
}

bool acl_allows_volume(
	const struct acl *acl, const char *host_volume, enum acl_volume_capability capability)
{
	return acl->is_management ||
	       said_of(acl, ACL_HOST_VOLUMES, NULL, host_volume) & BIT(capability);
}

bool acl_allows_variable(const struct acl *acl, const char *namespace_name, const char *path,
	enum acl_variable_capability capability)
{
	if (acl->is_management)
		return true;
	return !(said_of(acl, ACL_NAMESPACES, NULL, namespace_name) & DENIED) &&
	       said_of(acl, ACL_VARIABLES, namespace_name, path) & BIT(capability);
}

static bool is_task_in(const struct acl *acl, const char *namespace_name)
{
	return acl->task_namespace &&
	       (!namespace_name || strcmp(acl->task_namespace, namespace_name) == 0);
}

bool acl_knows_variables(const struct acl *acl, const char *namespace_name)
{
	const struct grants *grants = &acl->grants[ACL_VARIABLES];
	bool knows = acl->is_management || is_task_in(acl, namespace_name);
	for (uint32_t i = 0; i < grants->count && !knows; i++)
		knows = !namespace_name ||
			glob_matches(grants->items[i].namespace_name, namespace_name);
	return knows;
}
