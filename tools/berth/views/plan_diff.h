// Prints a plan's difference for people: + is added, - is removed, +/- changes.
#pragma once
#include <jansson.h>
#include <stdbool.h>

void plan_diff_print(json_t *diff);
// True when something will be created, destroyed or changed.
bool plan_has_changes(json_t *plan);
