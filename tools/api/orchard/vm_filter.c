#include "tools/api/orchard/vm_filter.h"
#include "state/base/check.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

// Length of a path before a single equals sign; 0 when the text begins with none.
static size_t path_size(const char *text)
{
	size_t size =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
	return text[size] == '=' && text[size + 1] != '=' ? size : 0;
}

static void put_comparison(FILE *to, const char *path, size_t size, const char *value, size_t of)
{
	json_t *text = json_stringn(value, of);
	char *quoted = text ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
	fprintf(to, "%.*s == %s", (int)size, path, quoted ? quoted : "\"\"");
	free(quoted);
	json_decref(text);
}

// NULL when a part has another form.
static char *translated(const char *text)
{
	char *expression = NULL;
	size_t written = 0;
	FILE *to = open_memstream(&expression, &written);
	CHECK(to);
	for (const char *at = text;;) {
		size_t path = path_size(at), value = strcspn(at, ",");
		if (!path) {
			CHECK(fclose(to) == 0);
			free(expression);
			return NULL;
		}
		put_comparison(to, at, path, at + path + 1, value - path - 1);
		at += value;
		if (!*at)
			break;
		fputs(" and ", to);
		at++;
	}
	CHECK(fclose(to) == 0);
	return expression;
}

void vm_filter_translate(struct request *request)
{
	for (uint32_t i = 0; i < request->parameter_count; i++) {
		struct parameter *p = &request->parameters[i];
		char *expression = strcmp(p->name, "filter") == 0 ? translated(p->value) : NULL;
		if (!expression)
			continue;
		free(p->value);
		p->value = expression;
	}
}

const char *vm_filter_worker(const struct request *request, char name[NAME_BYTES_MAX + 1])
{
	const char *worker = request_parameter(request, "worker");
	const char *filter = request_parameter(request, "filter");
	int end = 0;

	if (worker) {
		snprintf(name, NAME_BYTES_MAX + 1, "%s", worker);
		return *worker ? name : NULL;
	}
	if (!filter || !(sscanf(filter, "worker=%255[^,=\"]%n", name, &end) == 1 ||
			       sscanf(filter, "worker == \"%255[^\"\\]\"%n", name, &end) == 1))
		return NULL;
	return filter[end] == '\0' ? name : NULL;
}
