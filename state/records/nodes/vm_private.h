// What the rules of machines and their changes share. For vm*.c only.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A string of a record: NULL there is the empty one.
static inline const char *vm_text(const char *string)
{
	return string ? string : "";
}

// Replaces a record's string, which it owns, by a copy.
void vm_put(char **string, const char *with);
// Writes why a machine is refused; always false.
__attribute__((format(printf, 3, 4))) bool vm_refuse(
	char *message, uint32_t size, const char *format, ...);
