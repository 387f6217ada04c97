#include "tools/api/lists/list_filter.h"

static bool wants_member(const void *filter, const char *name, size_t size)
{
	return filter_wants(filter, name, size);
}

bool list_filter_read(const struct request *request, struct list_filter *f, struct reply *reply)
{
	const char *text = request_parameter(request, "filter");
	char message[FILTER_MESSAGE_BYTES];
	*f = (struct list_filter){0};
	if (!text || !*text)
		return true;
	f->filter = filter_parse(text_of(text), message);
	if (!f->filter)
		reply_mistake(reply, "%s", message);
	f->scratch.wants = wants_member;
	f->scratch.wants_context = f->filter;
	return f->filter != NULL;
}

void list_filter_free(struct list_filter *f)
{
	filter_free(f->filter);
	json_writer_free(&f->scratch);
}

// NULL when the record is gone.
static json_t *form_of(
	struct list_filter *f, list_filter_write *write, void *list, const void *item, bool whole)
{
	json_writer_restart(&f->scratch);
	write(list, item, whole, &f->scratch);
	return f->scratch.size ? json_loadb(f->scratch.data, f->scratch.size, 0, NULL) : NULL;
}

static json_t *item_of(
	struct list_filter *f, list_filter_write *write, void *list, const void *item)
{
	if (f->form != FILTERED_BOTH)
		return form_of(f, write, list, item, f->form == FILTERED_WHOLE);
	json_t *shown = form_of(f, write, list, item, false);
	json_t *whole = form_of(f, write, list, item, true);
	// Fails only without memory, which ends the process anyway.
	if (shown && whole)
		(void)json_object_update_missing(shown, whole);
	json_decref(whole);
	return shown;
}

struct known {
	const struct record_type *type;
	const json_t *item;
};

static bool is_known(const char *name, void *context)
{
	const struct known *known = context;
	for (uint32_t i = 0; known->type && i < known->type->field_count; i++) {
		const struct field *f = &known->type->fields[i];
		if (!(f->flags & FIELD_HIDDEN) && strcmp(f->name, name) == 0)
			return true;
	}
	return json_object_get(known->item, name) != NULL;
}

static const char *find_unknown(struct list_filter *f, const struct record_type *type,
	list_filter_write *write, void *list, const void *item)
{
	struct known known = {type, item_of(f, write, list, item)};
	const char *name = known.item ? filter_find_unknown(f->filter, is_known, &known) : NULL;
	json_decref((json_t *)known.item);
	return name;
}

bool list_filter_learn(struct list_filter *f, const struct record_type *type,
	list_filter_write *write, void *list, const void *item, struct reply *reply)
{
	const char *name = f->filter ? "" : NULL;
	// Tries the cheapest form first.
	for (int form = FILTERED_SHOWN; name && form <= FILTERED_BOTH; form++) {
		f->form = form;
		name = find_unknown(f, type, write, list, item);
	}
	if (name)
		reply_mistake(reply,
			"filter: the items of this list have no member \"%.64s\"; capital letters "
			"count",
			name);
	return !name;
}

bool list_filter_fits(struct list_filter *f, list_filter_write *write, void *list, const void *item)
{
	if (!f->filter)
		return true;
	json_t *form = item_of(f, write, list, item);
	bool fits = form && filter_fits(f->filter, form);
	json_decref(form);
	return fits;
}
