// The values that one property has in the classes of a fleet, by number, and the classes of each value. Number 0 stands
// for no value. Texts are copies.
#pragma once
#include <stdint.h>

struct class_values {
	char **texts;    // by number; [0] is NULL
	uint32_t *first; // by number: the first class of the value, counted from 1; 0: none
	uint32_t count, room;
	uint32_t *buckets; // open addressing by text: numbers; 0: free
	uint32_t mask;
	uint32_t *number_of;       // by class
	uint32_t *next, *previous; // by class: of the same value, counted from 1
	uint32_t class_room;
};
#define CLASS_VALUE_UNKNOWN UINT32_MAX

void class_values_begin(struct class_values *);
void class_values_release(struct class_values *);
// Makes room for classes 0 … classes-1; the new ones have no value and are in no chain.
void class_values_make_room(struct class_values *, uint32_t classes);
// Gives a class its value, NULL for none; it may have had another one.
void class_values_put(struct class_values *, uint32_t node_class, const char *text);
// The number of a text, 0 for NULL; CLASS_VALUE_UNKNOWN: no class ever had it.
uint32_t class_values_find(const struct class_values *, const char *text);
