// Reads members of JSON answers, and formats them for people.
#pragma once
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

// "" when the member is missing or no string.
const char *field_text(json_t *object, const char *name);
const char *field_or_dash(json_t *object, const char *name); // the member as text, "-" for ""
// 0 when the member is missing or no number.
int64_t field_number(json_t *object, const char *name);
double field_real(json_t *object, const char *name);
// The first eight characters of an id.
const char *field_short(const char *id, char buffer[static 16]);
// "2026-11-21T01:43:52Z" of unix nanoseconds.
const char *field_time(int64_t unix_ns, char buffer[static 32]);
// "12s ago", "3d4h ago".
const char *field_age(int64_t unix_ns, char buffer[static 32]);
// Prints a value as indented JSON.
void field_print(json_t *value);
