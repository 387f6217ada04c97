#include "tools/berth/views/list_value.h"
#include "tools/berth/cli/field.h"
#include <stdio.h>
#include <string.h>

json_t *list_member(json_t *item, const char *path)
{
	char name[LIST_ROOM_BYTES];
	while (item && *path) {
		size_t size = strcspn(path, ".");
		snprintf(name, sizeof name, "%.*s", (int)size, path);
		item = json_object_get(item, name);
		path += size + (path[size] == '.');
	}
	return item;
}

void list_value_read(const struct list_column *column, json_t *item, struct list_value *value)
{
	value->text = value->room;
	value->number = 0;
	*value->room = '\0';
	if (column->put) {
		column->put(item, value);
		return;
	}
	json_t *member = list_member(item, column->member);
	if (json_is_string(member))
		value->text = json_string_value(member);
	else if (json_is_boolean(member))
		value->text = json_is_true(member) ? "true" : "false";
	else if (json_is_integer(member))
		snprintf(value->room, sizeof value->room, "%" JSON_INTEGER_FORMAT,
			json_integer_value(member));
	else if (json_is_real(member))
		snprintf(value->room, sizeof value->room, "%g", json_real_value(member));
	else if (column->form == LIST_SWITCH)
		value->text = "false";
	value->number = json_number_value(member);
	if (column->form == LIST_AGE)
		value->text = field_time((int64_t)json_integer_value(member), value->room);
}

const char *list_value_shown(const struct list_column *column, const struct list_value *value,
	bool whole, char room[static LIST_ROOM_BYTES])
{
	if (column->form == LIST_AGE && !whole)
		return field_age((int64_t)value->number, room);
	if (column->form == LIST_ID && !whole)
		return field_short(value->text, room);
	return value->text;
}
