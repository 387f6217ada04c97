// Puts the classes that a set takes into groups, of one affinity and of one value or mark of each property.
#pragma once
#include "placement/direct/classes/class_set.h"

// When classes were judged: those that have no group get theirs.
void class_groups_find(struct class_set *);
void class_groups_release(struct class_set *);
