#include "tools/forms/diff/diff_objects.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <jansson.h>
#include <stdlib.h>

// The name of one item of a list, and the field that its diff leaves out.
static const struct naming {
	const char *list, *one, *without;
} namings[] = {
	{"Constraints", "Constraint", NULL},
	{"Affinities", "Affinity", NULL},
	{"Spreads", "Spread", NULL},
	{"Networks", "Network", NULL},
	{"ReservedPorts", "Static Port", NULL},
	{"DynamicPorts", "Dynamic Port", "Value"},
	{"Devices", "Device", NULL},
	{"Volumes", "Volume", NULL},
	{"Services", "Service", NULL},
	{"Templates", "Template", NULL},
	{"Artifacts", "Artifact", NULL},
	{"VolumeMounts", "VolumeMount", NULL},
	{"Update", "Update", "Stagger"},
};

// Objects appear in this order; others after them.
static const char *const shown_order[] = {"Datacenters", "Constraint", "Affinity", "Spread",
	"RestartPolicy", "ReschedulePolicy", "EphemeralDisk", "Update", "Network", "Service",
	"Volume", "Config", "Resources", "LogConfig"};
#define SHOWN_ORDER (sizeof shown_order / sizeof shown_order[0])

// Blocks with diffs of their own, and blocks that Nomad's clients do not show as part of this record.
static const struct {
	const char *type, *field;
} left_out[] = {
	{"job", "TaskGroups"},
	{"job", "Update"},
	{"task_group", "Tasks"},
	{"task", "RestartPolicy"},
};

static bool is_left_out(const struct record_type *type, const struct field *f)
{
	for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
		if (strcmp(left_out[i].type, type->name) == 0 &&
			strcmp(left_out[i].field, f->name) == 0)
			return true;
	return f->flags & (FIELD_DERIVED | FIELD_HIDDEN);
}

static const char *name_of_one(const char *list)
{
	for (size_t i = 0; i < sizeof namings / sizeof namings[0]; i++)
		if (strcmp(namings[i].list, list) == 0)
			return namings[i].one;
	return list;
}

static const char *field_without(const char *one)
{
	for (size_t i = 0; i < sizeof namings / sizeof namings[0]; i++)
		if (strcmp(namings[i].one, one) == 0)
			return namings[i].without;
	return NULL;
}

// Appends the object if its parts differ.
static void keep_object(struct array *objects, const struct object_diff *diff, bool came, bool went)
{
	struct object_diff whole = *diff;
	whole.type = came ? DIFF_ADDED : went ? DIFF_DELETED : fields_type(&diff->fields);
	if (!came && !went && diff->objects.count)
		whole.type = DIFF_EDITED;
	bool says_something = whole.fields.count || whole.objects.count;
	if (whole.type == DIFF_NONE || !says_something) {
		whole.name = NULL;
		record_release(&object_diff_description, &whole);
		return;
	}
	whole.name = text_copy(text_of(diff->name));
	*(struct object_diff *)array_append(objects, sizeof whole) = whole;
}

void object_compare(const char *name, const struct record_type *type, const void *before,
	const void *after, bool context, struct array *objects)
{
	struct object_diff diff = {.name = (char *)name};
	struct flat old_fields = {0}, new_fields = {0};
	const char *without = field_without(name);
	if (!before && !after)
		return;
	flat_record(&old_fields, type, before, without);
	flat_record(&new_fields, type, after, without);
	fields_compare(&old_fields, &new_fields, context, &diff.fields);
	objects_compare(type, before, after, context, &diff.objects);
	keep_object(objects, &diff, !before, !after);
}

static void json_object_compare(const char *name, const char *before, const char *after,
	bool context, struct array *objects)
{
	struct object_diff diff = {.name = (char *)name};
	struct flat old_fields = {0}, new_fields = {0};
	flat_json(&old_fields, before);
	flat_json(&new_fields, after);
	fields_compare(&old_fields, &new_fields, context, &diff.fields);
	keep_object(objects, &diff, false, false);
}

// An item of a set and the key that identifies it: its binary form, or its JSON.
struct member {
	struct text key; // owned
	const void *record;
};

struct set {
	struct member *members;
	uint32_t count;
};

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	uint32_t size = x->key.size < y->key.size ? x->key.size : y->key.size;
	int order = memcmp(x->key.data, y->key.data, size);
	return order ? order : (x->key.size > y->key.size) - (x->key.size < y->key.size);
}

static struct set set_of_records(const struct record_type *type, const struct array *list)
{
	struct set set = {.count = list ? list->count : 0};
	set.members = memory_take_array(set.count + 1, sizeof set.members[0]);
	for (uint32_t i = 0; i < set.count; i++) {
		const void *record = (const char *)list->items + i * type->size;
		struct bytes_writer w = bytes_writer_growing(64);
		record_encode(type, record, &w);
		set.members[i] = (struct member){{(char *)w.data, (uint32_t)w.size}, record};
	}
	qsort(set.members, set.count, sizeof set.members[0], by_key);
	return set;
}

static struct set set_of_strings(const struct array *list)
{
	struct set set = {.count = list ? list->count : 0};
	set.members = memory_take_array(set.count + 1, sizeof set.members[0]);
	for (uint32_t i = 0; i < set.count; i++) {
		struct text text = text_of(*ARRAY_AT(list, char *, i));
		set.members[i].key = (struct text){text_copy(text), text.size};
	}
	qsort(set.members, set.count, sizeof set.members[0], by_key);
	return set;
}

static struct set set_of_json(json_t *list)
{
	struct set set = {.count = (uint32_t)json_array_size(list)};
	set.members = memory_take_array(set.count + 1, sizeof set.members[0]);
	for (uint32_t i = 0; i < set.count; i++) {
		char *text = json_dumps(
			json_array_get(list, i), JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
		CHECK(text);
		set.members[i].key = text_of(text);
	}
	qsort(set.members, set.count, sizeof set.members[0], by_key);
	return set;
}

static void set_free(struct set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		free((char *)set->members[i].key.data);
	free(set->members);
}

// Called with both for an item of both sets; with one NULL for an item of only one set.
typedef void set_visit(void *context, const struct member *before, const struct member *after);

static void sets_compare(struct set *before, struct set *after, set_visit *visit, void *context)
{
	uint32_t i = 0, k = 0;
	while (i < before->count || k < after->count) {
		int order = i == before->count  ? 1
			    : k == after->count ? -1
						: by_key(&before->members[i], &after->members[k]);
		visit(context, order <= 0 ? &before->members[i] : NULL,
			order >= 0 ? &after->members[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	set_free(before);
	set_free(after);
}

struct set_context {
	const char *name;
	const struct record_type *type; // NULL: JSON
	bool context;
	struct array *objects;
};

static void visit_object(void *context, const struct member *before, const struct member *after)
{
	const struct set_context *c = context;
	if (before && after)
		return;
	if (c->type)
		object_compare(c->name, c->type, before ? before->record : NULL,
			after ? after->record : NULL, c->context, c->objects);
	else
		json_object_compare(c->name, before ? before->key.data : NULL,
			after ? after->key.data : NULL, c->context, c->objects);
}

static void visit_string(void *context, const struct member *before, const struct member *after)
{
	struct object_diff *diff = context;
	if (before && after)
		return;
	struct flat old_field = {0}, new_field = {0};
	flat_add(&old_field, diff->name, before ? before->key.data : NULL);
	flat_add(&new_field, diff->name, after ? after->key.data : NULL);
	fields_compare(&old_field, &new_field, false, &diff->fields);
}

static int by_weight(const void *a, const void *b)
{
	// Edited, Added, Deleted; then by the first field that differs.
	static const int weights[] = {
		[DIFF_EDITED] = 0, [DIFF_ADDED] = 1, [DIFF_DELETED] = 2, [DIFF_NONE] = 3};
	const struct object_diff *x = a, *y = b;
	int order = weights[x->type] - weights[y->type];
	for (uint32_t i = 0; !order && i < x->fields.count && i < y->fields.count; i++) {
		const struct field_diff *f = ARRAY_AT(&x->fields, struct field_diff, i);
		const struct field_diff *g = ARRAY_AT(&y->fields, struct field_diff, i);
		order = strcmp(f->name, g->name);
		order = order ? order
			      : strcmp(f->before ? f->before : "", g->before ? g->before : "");
		order = order ? order : strcmp(f->after ? f->after : "", g->after ? g->after : "");
	}
	return order;
}

// Sorts the items from `first` on.
static void sort_from(struct array *objects, uint32_t first)
{
	if (objects->count > first + 1)
		qsort(ARRAY_AT(objects, struct object_diff, first), objects->count - first,
			sizeof(struct object_diff), by_weight);
}

static void compare_records(const struct field *f, const struct array *before,
	const struct array *after, bool context, struct array *objects)
{
	struct set_context c = {name_of_one(f->name), f->type, context, objects};
	struct set old_set = set_of_records(f->type, before);
	struct set new_set = set_of_records(f->type, after);
	uint32_t first = objects->count;
	sets_compare(&old_set, &new_set, visit_object, &c);
	sort_from(objects, first);
}

static void compare_strings(const struct field *f, const struct array *before,
	const struct array *after, struct array *objects)
{
	struct object_diff diff = {.name = (char *)f->name};
	struct set old_set = set_of_strings(before), new_set = set_of_strings(after);
	sets_compare(&old_set, &new_set, visit_string, &diff);
	keep_object(objects, &diff, false, false);
}

// Matches by name: an object that keeps its name is edited, not replaced.
static void compare_named(const struct field *f, const struct array *before,
	const struct array *after, bool context, struct array *objects)
{
	uint32_t i = 0, k = 0, old_count = before ? before->count : 0,
		 new_count = after ? after->count : 0;
	while (i < old_count || k < new_count) {
		const char *x =
			i < old_count ? (const char *)before->items + i * f->type->size : NULL;
		const char *y =
			k < new_count ? (const char *)after->items + k * f->type->size : NULL;
		int order = !x ? 1 : !y ? -1 : strcmp(*(char *const *)x, *(char *const *)y);
		object_compare(name_of_one(f->name), f->type, order <= 0 ? x : NULL,
			order >= 0 ? y : NULL, context, objects);
		i += order <= 0;
		k += order >= 0;
	}
}

static void compare_json(const struct field *f, const char *before, const char *after, bool context,
	struct array *objects)
{
	json_t *old_value = before ? json_loads(before, JSON_DECODE_ANY, NULL) : NULL;
	json_t *new_value = after ? json_loads(after, JSON_DECODE_ANY, NULL) : NULL;
	if (json_is_array(old_value) || json_is_array(new_value)) {
		struct set_context c = {name_of_one(f->name), NULL, context, objects};
		struct set old_set = set_of_json(old_value), new_set = set_of_json(new_value);
		uint32_t first = objects->count;
		sets_compare(&old_set, &new_set, visit_object, &c);
		sort_from(objects, first);
	} else {
		json_object_compare(f->name, before, after, context, objects);
	}
	json_decref(old_value);
	json_decref(new_value);
}

// The value of a field that holds a pointer.
static const void *pointed(const void *at)
{
	return at ? *(void *const *)at : NULL;
}

static void compare_field(const struct field *f, const void *before, const void *after,
	bool context, struct array *objects)
{
	switch (f->kind) {
	case FIELD_STRUCT: object_compare(f->name, f->type, before, after, context, objects); break;
	case FIELD_OPTIONAL:
		object_compare(f->name, f->type, pointed(before), pointed(after), context, objects);
		break;
	case FIELD_ARRAY: compare_records(f, before, after, context, objects); break;
	case FIELD_STRUCT_MAP: compare_named(f, before, after, context, objects); break;
	case FIELD_STRINGS: compare_strings(f, before, after, objects); break;
	case FIELD_JSON: compare_json(f, pointed(before), pointed(after), context, objects); break;
	default: break; // scalars are fields; jobs have no other kinds
	}
}

static uint32_t rank_of(const struct object_diff *object)
{
	uint32_t rank = 0;
	while (rank < SHOWN_ORDER && strcmp(shown_order[rank], object->name) != 0)
		rank++;
	return rank;
}

// Stable: equal ranks keep their order.
static void order_objects(struct array *objects)
{
	struct object_diff *items = objects->items;
	for (uint32_t i = 1; i < objects->count; i++) {
		struct object_diff item = items[i];
		uint32_t rank = rank_of(&item), k = i;
		for (; k > 0 && rank_of(&items[k - 1]) > rank; k--)
			items[k] = items[k - 1];
		items[k] = item;
	}
}

void objects_compare(const struct record_type *type, const void *before, const void *after,
	bool context, struct array *objects)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		if (field_is_scalar(f) || is_left_out(type, f))
			continue;
		compare_field(f, before ? (const char *)before + f->offset : NULL,
			after ? (const char *)after + f->offset : NULL, context, objects);
	}
	order_objects(objects);
}
