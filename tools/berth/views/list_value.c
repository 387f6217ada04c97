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

static void join_words(json_t *words, struct list_value *value)
{
	size_t i, at = 0;
	json_t *word;
	json_array_foreach(words, i, word)
	{
		const char *text = json_string_value(word);
		int put = snprintf(value->room + at, sizeof value->room - at, "%s%s", i ? "," : "",
			text ? text : "");
		at += put > 0 ? (size_t)put : 0;
		if (at >= sizeof value->room)
			return;
	}
}

static void read_member(const struct list_column *column, json_t *item, struct list_value *value)
{
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
	else if (json_is_array(member))
		join_words(member, value);
	else if (column->form == LIST_SWITCH)
		value->text = "false";
	value->number = json_number_value(member);
	if (column->form == LIST_AGE)
		value->text = field_time((int64_t)json_integer_value(member), value->room);
}

void list_value_read(const struct list_column *column, json_t *item, struct list_value *value)
{
	value->text = value->room;
	value->number = 0;
	*value->room = '\0';
	if (column->put)
		column->put(item, value);
	else
		read_member(column, item, value);
	if (!*value->text && column->absent)
		value->text = column->absent;
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
