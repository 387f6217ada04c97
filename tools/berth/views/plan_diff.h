// A plan's difference, as people read it: + comes, - goes, +/- changes.
#pragma once
#include <jansson.h>
#include <stdbool.h>

void plan_diff_print(json_t *diff);
// True when something will be created, destroyed or changed.
bool plan_has_changes(json_t *plan);
