// Regular expressions: a search anywhere in the subject, with bounded size and bounded work.
#pragma once
#include "placement/constraint/constraint_error.h"
#include <stdbool.h>
#include <stdint.h>

// The functions of a constraint_operator. regexp_compile returns NULL and fills error when it refuses the pattern.
void *regexp_compile(const char *pattern, struct constraint_error *error);
bool regexp_test(const char *left, const char *right, const void *program);
void regexp_release(void *program);
