// An item of a list as one line of text, in each form but the table.
#pragma once
#include "tools/berth/views/list_wish.h"
#include <jansson.h>
#include <stdio.h>

void list_line_headings(FILE *, const struct list_wish *); // of CSV
void list_line_put(FILE *, const struct list *, const struct list_wish *, json_t *item);
