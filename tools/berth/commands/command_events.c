// berth events: what happens, while it happens.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list_value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is said of the thing that an event is about.
static const struct {
	const char *topic;
	const char *members[4];
} told[] = {
	{"Node", {"Node.Name", "Node.Status", "Node.SchedulingEligibility"}},
	{"Job", {"Job.Type", "Job.Status"}},
	{"Evaluation", {"Evaluation.JobID", "Evaluation.TriggeredBy", "Evaluation.Status"}},
	{"Allocation", {"Allocation.Name", "Allocation.NodeName", "Allocation.DesiredStatus",
			       "Allocation.ClientStatus"}},
	{"Deployment", {"Deployment.JobID", "Deployment.Status", "Deployment.StatusDescription"}},
};

struct stream {
	char *line; // as far as it has come
	size_t size, capacity;
	bool as_json;
};

static void put_members(const char *topic, json_t *payload)
{
	for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
		for (size_t k = 0; k < 4 && strcmp(told[i].topic, topic) == 0; k++) {
			const char *path = told[i].members[k];
			const char *text =
				path ? json_string_value(list_member(payload, path)) : NULL;
			if (text && *text)
				printf("  %s", text);
		}
}

static void put_event(json_t *event)
{
	const char *topic = field_text(event, "Topic"), *key = field_text(event, "Key");
	printf("%-8lld %-10s %-29s %.36s", (long long)field_number(event, "Index"), topic,
		field_text(event, "Type"), key);
	put_members(topic, json_object_get(event, "Payload"));
	putchar('\n');
}

static void put_line(const struct stream *stream)
{
	json_t *events, *event, *root = json_loadb(stream->line, stream->size, 0, NULL);
	size_t i;
	events = json_object_get(root, "Events");
	if (stream->as_json && json_array_size(events))
		printf("%.*s\n", (int)stream->size, stream->line);
	else
		json_array_foreach(events, i, event) put_event(event);
	json_decref(root);
	fflush(stdout);
}

static ssize_t take_piece(void *context, const char *data, size_t size)
{
	struct stream *s = context;
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '\n') {
			put_line(s);
			s->size = 0;
			continue;
		}
		if (s->size == s->capacity) {
			s->capacity = s->capacity ? 2 * s->capacity : 4096;
			s->line = memory_resize(s->line, s->capacity);
		}
		s->line[s->size++] = data[i];
	}
	return ferror(stdout) ? 0 : (ssize_t)size;
}

// The index of what happened last; 0 for who may not see it, who gets what is remembered, too.
static uint64_t newest_index(struct session *session)
{
	struct http_answer answer;
	http_quiet(session, true);
	http_get(session, "/v1/jobs?per_page=1&namespace=*", &answer);
	http_quiet(session, false);
	uint64_t index = answer.index;
	http_answer_free(&answer);
	return index;
}

static void put_path(const struct flags *flags, uint64_t since, char path[static HTTP_PATH_BYTES])
{
	char escaped[400];
	uint32_t at = 0;
	const char *topic;
	http_escape(flags->values[FLAG_NAMESPACE], escaped, sizeof escaped);
	snprintf(path, HTTP_PATH_BYTES, "/v1/event/stream?namespace=%s&index=%llu", escaped,
		(unsigned long long)since + 1);
	while ((topic = flag_next(flags, FLAG_TOPIC, &at)))
		snprintf(path + strlen(path), HTTP_PATH_BYTES - strlen(path), "&topic=%s",
			http_escape(topic, escaped, sizeof escaped));
}

enum exit_status show_events(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], message[256];
	uint64_t since = 0;
	if (!flag_number(
		    &session->flags, FLAG_SINCE, 0, INT64_MAX, &since, message, sizeof message))
		return complain(STATUS_USAGE, "%s", message);
	if (!flag_is_typed(&session->flags, FLAG_SINCE))
		since = newest_index(session);
	struct stream stream = {.as_json = flag_given(&session->flags, FLAG_JSON)};
	FILE *pieces = fopencookie(&stream, "w", (cookie_io_functions_t){.write = take_piece});
	CHECK(pieces && setvbuf(pieces, NULL, _IONBF, 0) == 0);
	put_path(&session->flags, since, path);
	http_without_end(session);
	enum exit_status result = http_get_into(session, path, pieces);
	fclose(pieces);
	free(stream.line);
	return result;
}
