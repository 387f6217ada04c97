// Objects whose members have names of their own, sorted by these, under a title. Nothing when there are none.
#pragma once
#include <jansson.h>

void members_print_texts(const char *title, json_t *object);
// used: how much of each is taken; NULL: that is not shown.
void members_print_counts(const char *title, json_t *object, json_t *used);
