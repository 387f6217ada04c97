#include "tools/berth/commands/access/var_spec.h"
#include "tools/berth/cli/field.h"
#include "tools/hcl/hcl.h"
#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);
	return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

bool var_spec_is_hcl(const struct flags *flags, const char *file, bool *is_hcl)
{
	const char *in = flags->values[FLAG_IN];
	if (in && strcmp(in, "hcl") != 0 && strcmp(in, "json") != 0) {
		complain(STATUS_USAGE, "--in: \"%s\" is neither hcl nor json", in);
		return false;
	}
	*is_hcl = ends_with(file, ".hcl") ||
		  (!ends_with(file, ".json") && in && strcmp(in, "hcl") == 0);
	return true;
}

static json_t *plain_value(const struct hcl_value *value)
{
	switch (value->kind) {
	case HCL_STRING: return json_string(value->string);
	case HCL_NUMBER: return json_integer((json_int_t)value->number);
	default: return NULL;
	}
}

static json_t *items_of(const struct hcl_value *value)
{
	json_t *items = json_object();
	for (const struct hcl_item *item = value->object.first; item; item = item->next) {
		if (item->value.kind == HCL_STRING && json_object_set_new(items, item->name,
							      json_string(item->value.string)) == 0)
			continue;
		json_decref(items);
		return NULL;
	}
	return items;
}

// What it is called in JSON; NULL: a variable has no such member.
static const char *json_name(const char *name)
{
	static const char *const names[][2] = {{"namespace", "Namespace"}, {"path", "Path"},
		{"items", "Items"}, {"create_index", "CreateIndex"},
		{"modify_index", "ModifyIndex"}, {"create_time", "CreateTime"},
		{"modify_time", "ModifyTime"}};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i][0], name) == 0)
			return names[i][1];
	return NULL;
}

static json_t *spec_of(const struct hcl_body *body, const char *file)
{
	json_t *spec = json_object();
	for (const struct hcl_item *item = body->first; item; item = item->next) {
		const char *name = json_name(item->name);
		json_t *value = item->value.kind == HCL_OBJECT ? items_of(&item->value)
							       : plain_value(&item->value);
		if (name && json_object_set(spec, name, value) == 0) {
			json_decref(value);
			continue;
		}
		json_decref(value);
		complain(STATUS_REFUSED,
			"%s line %u column %u: %s is no part of a variable, or has no text", file,
			item->value.line, item->value.column, item->name);
		json_decref(spec);
		return NULL;
	}
	return spec;
}

static json_t *read_hcl(const char *text, size_t size, const char *file)
{
	struct hcl_error error;
	struct hcl_document *document = hcl_read(text, (uint32_t)size, &error);
	if (!document) {
		complain(STATUS_REFUSED, "%s line %u column %u: %s", file, error.line, error.column,
			error.text);
		return NULL;
	}
	json_t *spec = spec_of(hcl_body(document), file);
	hcl_free(document);
	return spec;
}

static json_t *read_json(const char *text, size_t size, const char *file)
{
	json_error_t error;
	json_t *spec = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (!spec)
		complain(STATUS_REFUSED, "%s line %d column %d: %s", file, error.line, error.column,
			error.text);
	return spec;
}

json_t *var_spec_read(const char *text, size_t size, bool is_hcl, const char *file)
{
	json_t *spec = is_hcl ? read_hcl(text, size, file) : read_json(text, size, file);
	json_t *items = json_object_get(spec, "Items");
	if (!spec || json_is_object(items) || (json_is_object(spec) && !items))
		return spec;
	complain(STATUS_REFUSED, "%s: an object is expected, and an object for its items", file);
	json_decref(spec);
	return NULL;
}

// A text between quotation marks.
static void print_quoted(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", stdout);
		else if (*text == '\r')
			fputs("\\r", stdout);
		else if (*text == '\t')
			fputs("\\t", stdout);
		else
			printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	putchar('"');
}

void var_spec_print_hcl(json_t *variable)
{
	const char *name;
	json_t *value;
	printf("namespace    = ");
	print_quoted(field_text(variable, "Namespace"));
	printf("\npath         = ");
	print_quoted(field_text(variable, "Path"));
	printf("\ncreate_index = %lld  # Set by server\n",
		(long long)field_number(variable, "CreateIndex"));
	printf("modify_index = %lld  # Set by server; consulted for check-and-set\n",
		(long long)field_number(variable, "ModifyIndex"));
	printf("create_time  = %lld  # Set by server\n",
		(long long)field_number(variable, "CreateTime"));
	printf("modify_time  = %lld  # Set by server\n\nitems = {\n",
		(long long)field_number(variable, "ModifyTime"));
	json_object_foreach(json_object_get(variable, "Items"), name, value)
	{
		printf("  ");
		print_quoted(name);
		printf(" = ");
		print_quoted(json_string_value(value));
		printf("\n");
	}
	printf("}\n");
}
