#include "tools/berth/cli/spec_file.h"
#include "tools/berth/cli/file.h"
#include "tools/hcl/hcl.h"
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *path;
	enum exit_status status;
};

static void complain_at(
	struct reader *r, const struct hcl_value *at, const char *name, const char *what)
{
	if (r->status == STATUS_OK)
		r->status = complain(STATUS_REFUSED, "%s line %u column %u: %s %s", r->path,
			at->line, at->column, name, what);
}

static json_t *number_of(double number)
{
	return number == (double)(json_int_t)number ? json_integer((json_int_t)number)
						    : json_real(number);
}

static json_t *value_of(const struct hcl_value *value);

static json_t *list_of(const struct hcl_value *value)
{
	json_t *list = json_array();
	for (const struct hcl_value *v = value->list; v; v = v->next)
		json_array_append_new(list, value_of(v));
	return list;
}

static json_t *object_of(const struct hcl_value *value)
{
	json_t *object = json_object();
	for (const struct hcl_item *item = value->object.first; item; item = item->next)
		json_object_set_new(object, item->name, value_of(&item->value));
	return object;
}

static json_t *value_of(const struct hcl_value *value)
{
	switch (value->kind) {
	case HCL_BOOL: return json_boolean(value->boolean);
	case HCL_NUMBER: return number_of(value->number);
	case HCL_STRING: return json_string(value->string);
	case HCL_LIST: return list_of(value);
	case HCL_OBJECT: return object_of(value);
	default: return json_null();
	}
}

static const struct spec_name *find_name(const struct spec_name *names, const char *name)
{
	for (; names->name; names++)
		if (strcmp(names->name, name) == 0 || strcmp(names->member, name) == 0)
			return names;
	return NULL;
}

static json_t *read_body(
	struct reader *r, const struct hcl_body *body, const struct spec_name *names);

static json_t *read_inside(
	struct reader *r, const struct spec_name *spec, const struct hcl_value *value)
{
	if (value->kind == HCL_OBJECT)
		return read_body(r, &value->object, spec->inside);
	complain_at(r, value, spec->name, "is to be a block");
	return json_null();
}

// A block is one element, a list is as many as it has.
static void read_elements(
	struct reader *r, const struct spec_name *spec, const struct hcl_item *item, json_t *list)
{
	const struct hcl_value *value = &item->value;
	if (value->kind == HCL_LIST) {
		for (const struct hcl_value *v = value->list; v; v = v->next)
			json_array_append_new(list, read_inside(r, spec, v));
		return;
	}
	json_t *element = read_inside(r, spec, value);
	if (spec->label && item->label_count == 1)
		json_object_set_new(element, spec->label, json_string(item->labels[0]));
	json_array_append_new(list, element);
}

static void read_list(
	struct reader *r, const struct spec_name *spec, const struct hcl_item *item, json_t *to)
{
	json_t *list = json_object_get(to, spec->member);
	if (!list)
		json_object_set_new(to, spec->member, list = json_array());
	read_elements(r, spec, item, list);
}

static void read_item(
	struct reader *r, const struct hcl_item *item, const struct spec_name *names, json_t *to)
{
	const struct spec_name *spec = find_name(names, item->name);
	if (!spec)
		complain_at(r, &item->value, item->name, "is nothing that a description has");
	else if (item->label_count > (spec->label ? 1u : 0u))
		complain_at(r, &item->value, item->name, "has a label too many");
	else if (spec->is_list)
		read_list(r, spec, item, to);
	else if (json_object_get(to, spec->member))
		complain_at(r, &item->value, item->name, "is there twice");
	else
		json_object_set_new(to, spec->member,
			spec->inside ? read_inside(r, spec, &item->value) : value_of(&item->value));
}

static json_t *read_body(
	struct reader *r, const struct hcl_body *body, const struct spec_name *names)
{
	json_t *to = json_object();
	for (const struct hcl_item *item = body->first; item; item = item->next)
		read_item(r, item, names, to);
	return to;
}

enum exit_status spec_file_read(const char *path, const struct spec_name *names, json_t **body)
{
	struct reader r = {.path = path};
	struct hcl_error error;
	char *text;
	size_t size;
	enum exit_status result = file_read(path, &text, &size);
	if (result != STATUS_OK)
		return result;
	struct hcl_document *document = hcl_read(text, (uint32_t)size, &error);
	free(text);
	if (!document)
		return complain(STATUS_REFUSED, "%s line %u column %u: %s", path, error.line,
			error.column, error.text);
	*body = read_body(&r, hcl_body(document), names);
	hcl_free(document);
	if (r.status != STATUS_OK)
		json_decref(*body);
	return r.status;
}
