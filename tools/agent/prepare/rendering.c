#include "tools/agent/prepare/rendering.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/task/process.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_TIMEOUT_NS (5 * (int64_t)NS_PER_S)

static int64_t number_of_member(const json_t *json, const char *name, int64_t without)
{
	const json_t *value = json_object_get(json, name);
	return json_is_integer(value) ? json_integer_value(value) : without;
}

static bool read_paths(struct rendering *r, const json_t *json, const char *task,
	const struct environment *e, const struct node_facts *node,
	const struct task_folders *folders, char *message, uint32_t message_size)
{
	char *source = environment_expand(e, node, spec_text(json, "SourcePath"));
	char *destination = environment_expand(e, node, spec_text(json, "DestPath"));
	char inner[INNER_PATH_BYTES];
	bool good = source && destination;

	if (good && *source) {
		good = inner_path(folders, task, source, inner);
		r->source = good ? text_copy(text_of(inner)) : NULL;
		snprintf(message, message_size, "template source path escapes alloc directory");
	}
	if (good) {
		good = inner_path(folders, task, destination, r->destination);
		snprintf(message, message_size, "destination escapes allocation directory");
	}
	free(source);
	free(destination);
	return good;
}

static void free_arguments(char **arguments)
{
	for (char **at = arguments; at && *at; at++)
		free(*at);
	free(arguments);
}

static bool read_script(struct rendering *r, const json_t *json, const struct environment *within,
	const struct node_facts *node, char *message, uint32_t message_size)
{
	const json_t *script = json_object_get(json, "ChangeScript");
	const json_t *list = json_object_get(script, "Args"),
		     *timeout = json_object_get(script, "Timeout");
	size_t count = json_array_size(list) + 1;

	if (!spec_duration(timeout, &r->script_timeout_ns) || r->script_timeout_ns <= 0)
		r->script_timeout_ns = SCRIPT_TIMEOUT_NS;
	r->script_fails_task = json_is_true(json_object_get(script, "FailOnError"));
	r->arguments = memory_take_array(count + 1, sizeof r->arguments[0]);
	for (size_t i = 0; i < count; i++) {
		const char *text = i ? json_string_value(json_array_get(list, i - 1))
				     : spec_text(script, "Command");
		r->arguments[i] = environment_expand(within, node, text ? text : "");
		if (r->arguments[i])
			continue;
		snprintf(message, message_size,
			"argument %zu of change_script expands to more than %u bytes; shorten it",
			i, EXPANDED_BYTES_MAX);
		return false;
	}
	return true;
}

static void read_change(struct rendering *r, const json_t *json)
{
	const char *mode = spec_text(json, "ChangeMode"), *name = spec_text(json, "ChangeSignal");
	const json_t *wait = json_object_get(json, "Wait");
	int number = signal_number(name);

	r->change = strcmp(mode, "noop") == 0     ? CHANGE_NOOP
		    : strcmp(mode, "signal") == 0 ? CHANGE_SIGNAL
		    : strcmp(mode, "script") == 0 ? CHANGE_SCRIPT
						  : CHANGE_RESTART;
	r->signal = number ? number : SIGHUP;
	r->splay_ns = number_of_member(json, "Splay", 5 * NS_PER_S);
	r->wait_least_ns = number_of_member(wait, "Min", 0);
	r->wait_most_ns = number_of_member(wait, "Max", r->wait_least_ns * 4);
}

bool rendering_read(struct rendering *r, const json_t *json, const char *task,
	const struct environment *e, const struct node_facts *node,
	const struct task_folders *folders, const struct environment *within, char *message,
	uint32_t message_size)
{
	struct template_trouble trouble;
	const char *perms = spec_text(json, "Perms");

	*r = (struct rendering){.left = text_copy(text_of(spec_text(json, "LeftDelim"))),
		.right = text_copy(text_of(spec_text(json, "RightDelim"))),
		.text = bytes_writer_growing(64),
		.is_environment = json_is_true(json_object_get(json, "Envvars")),
		.missing_key_fails = json_is_true(json_object_get(json, "ErrMissingKey"))};
	if (!read_paths(r, json, task, e, node, folders, message, message_size))
		return false;
	read_change(r, json);
	if (r->change == CHANGE_SCRIPT &&
		!read_script(r, json, within, node, message, message_size))
		return false;
	r->file = (struct inner_file){.path = r->destination,
		.mode = (mode_t)strtoul(*perms ? perms : "0644", NULL, 8) & 0777,
		.uid = number_of_member(json, "Uid", -1),
		.gid = number_of_member(json, "Gid", -1)};
	if (r->source)
		return true;
	r->template = template_parse(
		text_of(spec_text(json, "EmbeddedTmpl")), r->left, r->right, &trouble);
	if (!r->template)
		snprintf(message, message_size, "%u:%u: %.200s", trouble.line, trouble.column,
			trouble.text);
	return r->template;
}

void rendering_free(struct rendering *r)
{
	template_free(r->template);
	free_arguments(r->arguments);
	free(r->source);
	free(r->left);
	free(r->right);
	bytes_writer_free(&r->text);
}

// The template of a file, which the caller frees; NULL and what is wrong.
static struct template *parse_source(
	const struct rendering *r, int top, char *message, uint32_t message_size)
{
	struct bytes_writer text = bytes_writer_growing(1024);
	struct template_trouble trouble;
	struct template *t = NULL;

	if (inner_read(top, r->source, TEMPLATE_BYTES_MAX, &text, message, message_size)) {
		t = template_parse((struct text){(const char *)text.data, (uint32_t)text.size},
			r->left, r->right, &trouble);
		if (!t)
			snprintf(message, message_size, "%.100s:%u:%u: %.200s", r->source,
				trouble.line, trouble.column, trouble.text);
	}
	bytes_writer_free(&text);
	return t;
}

static bool take_text(struct rendering *r, struct bytes_writer *out)
{
	if (r->has_text && out->size == r->text.size &&
		(!out->size || memcmp(out->data, r->text.data, out->size) == 0))
		return false;
	const struct bytes_writer former = r->text;
	r->text = *out;
	r->has_text = true;
	*out = former;
	return true;
}

static enum template_end render_parsed(struct rendering *r, const struct template *t,
	const struct template_data *data, bool *is_new, char *message, uint32_t message_size)
{
	struct template_data own = *data;
	struct template_trouble trouble;
	struct bytes_writer out = bytes_writer_growing(256);

	own.missing_key_fails = r->missing_key_fails;
	enum template_end end = template_render(t, &own, &out, &trouble);
	if (end == TEMPLATE_FAILED)
		snprintf(message, message_size, "%u:%u: %.300s", trouble.line, trouble.column,
			trouble.text);
	else if (end == TEMPLATE_WAITS)
		snprintf(message, message_size, "%.350s", trouble.text);
	else
		*is_new = take_text(r, &out);
	bytes_writer_free(&out);
	return end;
}

enum template_end rendering_render(struct rendering *r, const struct template_data *data, int top,
	bool begins, bool *is_new, char *message, uint32_t message_size)
{
	struct template *t = r->source ? parse_source(r, top, message, message_size) : r->template;
	enum template_end end = t ? TEMPLATE_RENDERED : TEMPLATE_FAILED;

	*is_new = false;
	if (t && (begins || template_reads_variables(t)))
		end = render_parsed(r, t, data, is_new, message, message_size);
	if (r->source)
		template_free(t);
	return end;
}

void rendering_take_file(struct rendering *r, int top)
{
	char message[300];

	r->text.size = 0;
	r->has_text = inner_read(
		top, r->destination, TEMPLATE_RESULT_BYTES_MAX, &r->text, message, sizeof message);
}
