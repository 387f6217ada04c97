// The operators of constraints: one table row each.
#pragma once
#include "placement/constraint/constraint_error.h"
#include "placement/constraint/order.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct constraint_operator {
	const char *name;
	bool needs_value; // a right side; other operators refuse one
	// left and right are NULL when missing; program is what compile returned for right.
	bool (*test)(const char *left, const char *right, const void *program);
	// Prepares the right side. A NULL function: the text is used as it is. Returns NULL and fills error when the
	// right side makes no sense.
	void *(*compile)(const char *right, struct constraint_error *error);
	void (*release)(void *program);
	uint8_t accepts; // orders that a comparison accepts: bits of enum order
	bool searches;   // its work depends on the pattern
};

const struct constraint_operator *operator_find(const char *name); // NULL: not known
// "=, ==, is, …", for error messages. Returns buffer.
char *operator_names(char *buffer, size_t size);
