#include "tools/fleet/csv.h"
#include "state/base/error.h"
#include <errno.h>

static int refuse_line(struct csv *c, const char *what)
{
	snprintf(c->message, c->message_size, "%s:%u: %s", c->path, c->line, what);
	return -ERROR_CORRUPT;
}

// Splits text into fields. Returns 1, or -ERROR_CORRUPT.
static int split_fields(struct csv *c)
{
	uint32_t count = 0;
	char *at = c->text;
	if (strchr(at, '"'))
		return refuse_line(c, "a quoted field, which this reader does not know");
	for (;;) {
		size_t size = strcspn(at, ",");
		if (count == CSV_COLUMNS_MAX)
			return refuse_line(c, "more than 32 columns");
		c->fields[count++] = (struct text){at, (uint32_t)size};
		if (at[size] == '\0')
			break;
		at += size + 1;
	}
	if (c->columns != 0 && count != c->columns)
		return refuse_line(c, "not as many fields as the header has");
	c->columns = count;
	return 1;
}

int csv_next(struct csv *c)
{
	do {
		if (!fgets(c->text, sizeof c->text, c->file))
			return ferror(c->file) ? refuse_line(c, "cannot be read") : 0;
		c->line++;
		size_t size = strlen(c->text);
		if (size == sizeof c->text - 1 && c->text[size - 1] != '\n')
			return refuse_line(c, "longer than 4095 bytes");
		while (size > 0 && (c->text[size - 1] == '\n' || c->text[size - 1] == '\r'))
			c->text[--size] = '\0';
	} while (c->text[0] == '\0');
	return split_fields(c);
}

static int find_columns(struct csv *c, const char *const *wanted, uint32_t wanted_count)
{
	int rc = csv_next(c);
	if (rc <= 0)
		return rc < 0 ? rc : refuse_line(c, "is empty; a header line was expected");
	c->wanted_count = wanted_count;
	for (uint32_t w = 0; w < wanted_count; w++) {
		uint32_t i = 0;
		while (i < c->columns && !text_equal(c->fields[i], text_of(wanted[w])))
			i++;
		if (i == c->columns) {
			char what[80];
			snprintf(what, sizeof what, "no column named \"%s\"", wanted[w]);
			return refuse_line(c, what);
		}
		c->at[w] = i;
	}
	return 0;
}

int csv_open(struct csv *c, const char *path, const char *const *wanted, uint32_t wanted_count,
	char *message, uint32_t message_size)
{
	*c = (struct csv){.path = path, .message = message, .message_size = message_size};
	c->file = fopen(path, "re");
	if (!c->file) {
		int error = -errno;
		snprintf(message, message_size, "%s: %s", path, strerror(-error));
		return error;
	}
	int rc = find_columns(c, wanted, wanted_count);
	if (rc < 0)
		csv_close(c);
	return rc;
}

void csv_close(struct csv *c)
{
	if (c->file)
		fclose(c->file);
	c->file = NULL;
}

struct text csv_text(const struct csv *c, uint32_t wanted)
{
	return c->fields[c->at[wanted]];
}

int csv_number(struct csv *c, uint32_t wanted, uint32_t *number)
{
	struct text field = csv_text(c, wanted);
	uint64_t value = 0;
	for (uint32_t i = 0; i < field.size; i++) {
		if (field.data[i] < '0' || field.data[i] > '9')
			return refuse_line(c, "a field that should be a number is not");
		value = value * 10 + (uint64_t)(field.data[i] - '0');
		if (value > UINT32_MAX)
			return refuse_line(c, "a number above 4294967295");
	}
	*number = (uint32_t)value;
	return 0;
}
