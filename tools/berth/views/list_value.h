// What a column says of an item.
#pragma once
#include "tools/berth/views/list_column.h"
#include <jansson.h>

// NULL when there is none. path: names joined by dots.
json_t *list_member(json_t *item, const char *path);
void list_value_read(const struct list_column *, json_t *item, struct list_value *);
// As tables show it; the text is the value's, or in room.
const char *list_value_shown(const struct list_column *, const struct list_value *, bool whole,
	char room[static LIST_ROOM_BYTES]);
