#include "tools/berth/cli/members.h"
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

// The names are borrowed, the caller frees the list; NULL for an empty object.
static const char **sorted_names(json_t *object)
{
	size_t count = json_object_size(object), at = 0;
	const char **names = count ? memory_take_array(count, sizeof *names) : NULL, *name;
	json_t *value;
	json_object_foreach(object, name, value) names[at++] = name;
	if (names)
		qsort(names, count, sizeof *names, by_name);
	return names;
}

void members_print_texts(const char *title, json_t *object)
{
	const char **names = sorted_names(object);
	struct table t;
	if (!names)
		return;
	table_begin_pairs(&t);
	for (size_t i = 0; i < json_object_size(object); i++)
		table_pair(&t, names[i], "= %s", field_text(object, names[i]));
	printf("\n%s\n", title);
	table_print(&t, 2);
	free(names);
}

void members_print_counts(const char *title, json_t *object, json_t *used)
{
	const char **names = sorted_names(object);
	struct table t;
	if (!names)
		return;
	table_begin_pairs(&t);
	for (size_t i = 0; i < json_object_size(object); i++) {
		long long count = field_number(object, names[i]);
		if (used)
			table_pair(&t, names[i], "= %lld of %lld",
				(long long)field_number(used, names[i]), count);
		else
			table_pair(&t, names[i], "= %lld", count);
	}
	printf("\n%s\n", title);
	table_print(&t, 2);
	free(names);
}
