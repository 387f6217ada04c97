// Prints the members of an object, sorted by name, under a title. Prints nothing when there are none.
#pragma once
#include <jansson.h>

void members_print_texts(const char *title, json_t *object);
// used: how much of each is taken; NULL: that is not shown.
void members_print_counts(const char *title, json_t *object, json_t *used);
