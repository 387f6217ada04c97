#include "tools/agent/service/service_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char bad_syntax[] = "invalid syntax";

const char *service_read_i64(const char *text, int64_t *value)
{
	const char *digits = text + (*text == '-' || *text == '+');
	if (!*digits || strspn(digits, "0123456789") != strlen(digits))
		return bad_syntax;
	errno = 0;
	long long read = strtoll(text, NULL, 10);
	if (errno)
		return "value out of range";
	*value = read;
	return NULL;
}

const char *service_read_bool(const char *text, bool *value)
{
	static const char *const words[2][7] = {{"0", "f", "F", "false", "FALSE", "False", NULL},
		{"1", "t", "T", "true", "TRUE", "True", NULL}};
	for (int truth = 0; truth < 2; truth++)
		for (const char *const *word = words[truth]; *word; word++)
			if (strcmp(text, *word) == 0) {
				*value = truth == 1;
				return NULL;
			}
	return bad_syntax;
}
