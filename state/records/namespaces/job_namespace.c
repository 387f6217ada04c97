// Names are Nomad's. Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/namespaces/job_namespace.h"
#include "state/base/limits.h"
#include "state/base/schema_table.h"
#include <stdio.h>
#include <string.h>

static const struct field namespace_capabilities_fields[] = {
	{"EnabledTaskDrivers", FIELD_STRINGS, OF(namespace_capabilities, enabled_drivers),
		FLAGS(FIELD_NULL_EMPTY)},
	{"DisabledTaskDrivers", FIELD_STRINGS, OF(namespace_capabilities, disabled_drivers),
		FLAGS(FIELD_NULL_EMPTY)},
};
static DESCRIBE(capabilities_description, namespace_capabilities);

static const struct field job_namespace_fields[] = {
	{"Name", FIELD_STRING, OF(job_namespace, name)},
	{"Description", FIELD_STRING, OF(job_namespace, description)},
	{"Meta", FIELD_MAP, OF(job_namespace, meta), FLAGS(FIELD_NULL_EMPTY)},
	{"Capabilities", FIELD_OPTIONAL, OF(job_namespace, capabilities),
		&capabilities_description},
	{"Quota", FIELD_STRING, OF(job_namespace, quota)},
	{"CreateIndex", FIELD_U64, OF(job_namespace, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(job_namespace, record.modify_index), FLAGS(FIELD_DERIVED)},
};
DESCRIBE(job_namespace_description, job_namespace);

bool namespace_name_is_fit(struct text name)
{
	return name.size > 0 && name.size <= NAMESPACE_NAME_MAX && text_is_word(name, "-");
}

bool namespace_is_built_in(struct text name)
{
	return text_equal(name, TEXT(NAMESPACE_DEFAULT));
}

bool namespace_meta_is_fit(const struct job_namespace *n)
{
	for (uint32_t i = 0; i < n->meta.count; i++) {
		const struct string_pair *pair = ARRAY_AT(&n->meta, struct string_pair, i);
		if (text_of(pair->name).size > ATTRIBUTE_NAME_BYTES_MAX ||
			text_of(pair->value).size > ATTRIBUTE_VALUE_BYTES_MAX)
			return false;
	}
	return n->meta.count <= NAMESPACE_META_MAX;
}

static bool names_are_fit(const struct array *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (text_of(*ARRAY_AT(names, char *, i)).size > ATTRIBUTE_VALUE_BYTES_MAX)
			return false;
	return names->count <= NAMESPACE_DRIVERS_MAX;
}

bool namespace_drivers_are_fit(const struct job_namespace *n)
{
	return !n->capabilities || (names_are_fit(&n->capabilities->enabled_drivers) &&
					   names_are_fit(&n->capabilities->disabled_drivers));
}

static bool has_name(const struct array *names, const char *name)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (strcmp(*ARRAY_AT(names, char *, i), name) == 0)
			return true;
	return false;
}

// A driver that is both enabled and disabled is disabled.
static bool allows_driver(const struct namespace_capabilities *c, const char *driver)
{
	return (!c->enabled_drivers.count || has_name(&c->enabled_drivers, driver)) &&
	       !has_name(&c->disabled_drivers, driver);
}

struct driver_list {
	char text[256]; // each in quotes; as many as there is room for
	uint32_t size, count;
};

static void list_driver(struct driver_list *list, const char *driver)
{
	size_t room = sizeof list->text - list->size;
	const char *gap = list->count++ ? " " : "";

	if (strlen(driver) + strlen(gap) + 2 < room)
		list->size +=
			(uint32_t)snprintf(list->text + list->size, room, "%s\"%s\"", gap, driver);
}

static void list_refused(const struct namespace_capabilities *c, const struct task_group *group,
	struct driver_list *list)
{
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const char *driver = ARRAY_AT(&group->tasks, struct task, i)->driver;
		if (driver && !allows_driver(c, driver))
			list_driver(list, driver);
	}
}

bool namespace_allows_drivers(
	const struct job_namespace *n, const struct job *job, char *text, size_t size)
{
	struct driver_list refused = {0};

	for (uint32_t i = 0; n && n->capabilities && i < job->task_groups.count; i++)
		list_refused(n->capabilities, ARRAY_AT(&job->task_groups, struct task_group, i),
			&refused);
	if (refused.count == 1)
		snprintf(text, size, "used task driver %s is not allowed in namespace \"%s\"",
			refused.text, n->name);
	else if (refused.count)
		snprintf(text, size, "used task drivers [%s] are not allowed in namespace \"%s\"",
			refused.text, n->name);
	return refused.count == 0;
}
