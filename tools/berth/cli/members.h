// Prints an object's members under a title, sorted by name. Prints nothing for an empty object.
#pragma once
#include <jansson.h>

void members_print_texts(const char *title, json_t *object);
// used: the amount in use of each member; NULL: not printed.
void members_print_counts(const char *title, json_t *object, json_t *used);
