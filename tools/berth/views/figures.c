#include "tools/berth/views/figures.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "tools/berth/cli/http.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_line(struct figures *list, char *line)
{
	char *space = strrchr(line, ' ');
	if (*line == '#' || !space)
		return;
	*space = '\0';
	char *open = strchr(line, '{'), *close = strrchr(line, '}');
	if (open && close) {
		*open++ = '\0';
		*close = '\0';
	}
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? list->capacity * 2 : 256;
		list->items = memory_resize(list->items, list->capacity * sizeof list->items[0]);
	}
	list->items[list->count++] =
		(struct series){line, open && close ? open : "", strtod(space + 1, NULL)};
}

static void read_all(struct figures *list, const char *text)
{
	char *next, *line;
	list->text = text_copy(text_of(text));
	for (line = strtok_r(list->text, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
		add_line(list, line);
}

double figures_sum(const struct figures *list, const char *name, const char *labels)
{
	double total = 0;
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0 && strstr(list->items[i].labels, labels))
			total += list->items[i].value;
	return total;
}

bool figures_has(const struct figures *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return true;
	return false;
}

double figures_quantile(const struct figures *list, const char *name, double q)
{
	char bucket[96], count[96];
	snprintf(bucket, sizeof bucket, "%s_bucket", name);
	snprintf(count, sizeof count, "%s_count", name);
	double wanted = figures_sum(list, count, "") * q;
	for (size_t i = 0; i < list->count; i++) {
		const char *limit = strstr(list->items[i].labels, "le=\"");
		if (limit && strcmp(list->items[i].name, bucket) == 0 &&
			list->items[i].value >= wanted && wanted > 0)
			return strtod(limit + 4, NULL);
	}
	return 0;
}

enum exit_status figures_get(struct session *session, struct figures *list)
{
	struct http_answer answer;
	*list = (struct figures){0};
	enum exit_status result = http_get(session, "/v1/metrics?format=prometheus", &answer);
	if (result == STATUS_OK)
		read_all(list, answer.body ? answer.body : "");
	http_answer_free(&answer);
	return result;
}

void figures_free(struct figures *list)
{
	free(list->items);
	free(list->text);
}
