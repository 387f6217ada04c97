// A comma-separated file with a header line; columns are read by name. No quoting: a quote is an error.
#pragma once
#include "state/base/text.h"
#include <stdio.h>

#define CSV_COLUMNS_MAX 32u
#define CSV_LINE_BYTES_MAX 4096u

struct csv {
	FILE *file;
	const char *path;
	uint32_t line; // number of the newest line, from 1
	uint32_t columns;
	uint32_t wanted_count;
	uint32_t at[CSV_COLUMNS_MAX]; // column of each wanted name
	char text[CSV_LINE_BYTES_MAX];
	struct text fields[CSV_COLUMNS_MAX]; // of the newest line
	char *message;
	uint32_t message_size;
};

// Opens the file and reads the header; wanted names the columns that must exist, in any order. Returns 0, or -errno /
// -ERROR_CORRUPT and a sentence in message, which must outlive csv.
int csv_open(struct csv *, const char *path, const char *const *wanted, uint32_t wanted_count,
	char *message, uint32_t message_size);
void csv_close(struct csv *);
// Reads the next line. Returns 1, 0 at the end, or -ERROR_CORRUPT.
int csv_next(struct csv *);
// Field of the newest line, by its index in wanted.
struct text csv_text(const struct csv *, uint32_t wanted);
// The field as an unsigned number; an empty field is 0. Returns 0 or -ERROR_CORRUPT.
int csv_number(struct csv *, uint32_t wanted, uint32_t *number);
