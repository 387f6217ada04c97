#include "tools/berth/views/plan_diff.h"
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include <stdio.h>
#include <string.h>

#define STEP 2

static const char *marker_of(const char *type)
{
	if (strcmp(type, "Added") == 0)
		return "+ ";
	if (strcmp(type, "Deleted") == 0)
		return "- ";
	return strcmp(type, "Edited") == 0 ? "+/- " : "";
}

// The width of the longest marker in a list of fields and objects.
static size_t marker_width(json_t *parts, size_t least)
{
	size_t i;
	json_t *part;
	json_array_foreach(parts, i, part)
	{
		size_t width = strlen(marker_of(field_text(part, "Type")));
		least = width > least ? width : least;
	}
	return least;
}

static size_t name_width(json_t *fields)
{
	size_t i, widest = 0;
	json_t *field;
	json_array_foreach(fields, i, field)
	{
		size_t width = strlen(field_text(field, "Name"));
		widest = width > widest ? width : widest;
	}
	return widest;
}

// " (forces create)"
static void put_annotations(json_t *annotations)
{
	size_t i;
	json_t *annotation;
	json_array_foreach(annotations, i, annotation)
	{
		printf("%s%s", i ? ", " : " (", json_string_value(annotation));
	}
	if (json_array_size(annotations))
		putchar(')');
}

static void put_field(json_t *field, int indent, size_t markers, size_t names)
{
	const char *type = field_text(field, "Type"), *name = field_text(field, "Name");
	const char *before = field_text(field, "Old"), *after = field_text(field, "New");
	printf("%*s%-*s%s:%*s", indent, "", (int)markers, marker_of(type), name,
		(int)(names - strlen(name)) + 1, "");
	if (strcmp(type, "Edited") == 0)
		printf("\"%s\" => \"%s\"", before, after);
	else
		printf("\"%s\"", strcmp(type, "Deleted") == 0 ? before : after);
	put_annotations(json_object_get(field, "Annotations"));
	putchar('\n');
}

// Recurses as deep as a job's objects are nested.
static void put_parts(json_t *holder, int indent)
{
	json_t *fields = json_object_get(holder, "Fields");
	json_t *objects = json_object_get(holder, "Objects"), *part;
	size_t i, markers = marker_width(objects, marker_width(fields, 0));
	size_t names = name_width(fields);
	json_array_foreach(fields, i, part) put_field(part, indent, markers, names);
	json_array_foreach(objects, i, part)
	{
		printf("%*s%-*s%s {\n", indent, "", (int)markers,
			marker_of(field_text(part, "Type")), field_text(part, "Name"));
		put_parts(part, indent + STEP);
		printf("%*s}\n", indent + (int)markers, "");
	}
}

static void put_task(json_t *task)
{
	const char *type = field_text(task, "Type");
	const char *marker = marker_of(type);
	printf("  %sTask: \"%s\"", marker, field_text(task, "Name"));
	put_annotations(json_object_get(task, "Annotations"));
	putchar('\n');
	if (strcmp(type, "Edited") == 0)
		put_parts(task, 2 * STEP);
}

static void put_updates(json_t *updates)
{
	const char *name;
	json_t *count;
	bool any = false;
	json_object_foreach(updates, name, count)
	{
		printf("%s%lld %s", any ? ", " : " (", (long long)json_integer_value(count), name);
		any = true;
	}
	if (any)
		putchar(')');
}

static void put_group(json_t *group)
{
	const char *type = field_text(group, "Type");
	size_t i;
	json_t *task;
	printf("%sTask Group: \"%s\"", marker_of(type), field_text(group, "Name"));
	put_updates(json_object_get(group, "Updates"));
	putchar('\n');
	if (strcmp(type, "Edited") == 0)
		put_parts(group, STEP);
	json_array_foreach(json_object_get(group, "Tasks"), i, task) put_task(task);
}

void plan_diff_print(json_t *diff)
{
	const char *type = field_text(diff, "Type");
	size_t i;
	json_t *group;
	printf("%sJob: \"%s\"\n", marker_of(type), field_text(diff, "ID"));
	if (strcmp(type, "Edited") == 0)
		put_parts(diff, 0);
	json_array_foreach(json_object_get(diff, "TaskGroups"), i, group) put_group(group);
}

bool plan_has_changes(json_t *plan)
{
	static const char *const kinds[] = {"Place", "Migrate", "Stop", "InPlaceUpdate",
		"DestructiveUpdate", "Canary", "Preemptions"};
	json_t *updates = json_object_get(json_object_get(plan, "Annotations"), "DesiredTGUpdates");
	const char *name;
	json_t *group;
	json_object_foreach(updates, name, group)
	{
		for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
			if (field_number(group, kinds[i]))
				return true;
	}
	return false;
}
