// Aligned columns of text on standard output.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define TABLE_COLUMNS_MAX 24u

struct table {
	uint32_t columns, count, capacity;
	char **cells;       // row by row, headings first
	bool has_headings;  // they are bold on a terminal
	uint32_t is_status; // a bit for each column whose words have colours there
};

// headings: NULL-ended.
void table_begin(struct table *, const char *const *headings);
// Adds a cell; NULL is "". Control characters become '?', because names come from untrusted agents.
void table_add(struct table *, const char *text);
void table_add_format(struct table *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
// Prints all rows, each after indent blanks, and frees them.
void table_print(struct table *, uint32_t indent);
void table_free(struct table *);
// "Name = Value" lines are a table of two columns without headings.
void table_begin_pairs(struct table *);
void table_pair(struct table *, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
