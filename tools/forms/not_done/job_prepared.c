#include "tools/forms/not_done/job_prepared.h"
#include "state/base/log.h"
#include "state/records/job_traits.h"
#include "tools/template/template.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_BYTES 96u

// Which template or artifact is looked at, and where mistakes go.
struct subject {
	struct json_sentences *refusals;
	const struct task_group *group;
	const struct task *task;
	const char *what; // "Template"
	size_t number;    // from 1
};

static void refuse_prepared(const struct subject *s, const char *text)
{
	char of_group[NAME_BYTES], of_task[NAME_BYTES];
	json_sentence(s->refusals, "group %s task %s: %s %zu: %s",
		log_quote(s->group->name ? s->group->name : "", of_group, sizeof of_group),
		log_quote(s->task->name ? s->task->name : "", of_task, sizeof of_task), s->what,
		s->number, text);
}

static const char *text_member(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

// Whether a path, seen from the task's folder, leads out of that of the allocation. What ${…} stands for is not known.
static bool leads_out(const char *path)
{
	int depth = 1;

	while (*path && depth >= 0) {
		size_t size = strcspn(path, "/");
		if (size == 2 && path[0] == '.' && path[1] == '.')
			depth--;
		else if (size > 0 && !(size == 1 && path[0] == '.'))
			depth++;
		path += size + (path[size] == '/');
	}
	return depth < 0;
}

static bool is_among(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

static void check_template_text(const struct subject *s, const json_t *json)
{
	struct template_trouble trouble;
	char text[480];
	struct template *t = template_parse(text_of(text_member(json, "EmbeddedTmpl")),
		text_member(json, "LeftDelim"), text_member(json, "RightDelim"), &trouble);

	template_free(t);
	if (t)
		return;
	snprintf(text, sizeof text, "line %u, column %u: %s", trouble.line, trouble.column,
		trouble.text);
	refuse_prepared(s, text);
}

static void check_template_change(const struct subject *s, const json_t *json)
{
	static const char *const modes[] = {"", "noop", "signal", "restart", "script", NULL};
	const char *mode = text_member(json, "ChangeMode");

	if (!is_among(mode, modes))
		refuse_prepared(s,
			"Invalid change mode. Must be one of the following: noop, signal, "
			"script, restart");
	else if (strcmp(mode, "script") == 0 &&
		 !*text_member(json_object_get(json, "ChangeScript"), "Command"))
		refuse_prepared(s, "must specify script path value when change mode is script");
}

static void check_template_perms(const struct subject *s, const json_t *json)
{
	const char *perms = text_member(json, "Perms");
	char text[160];

	if (strspn(perms, "01234567") == strlen(perms) && strlen(perms) < 6)
		return;
	snprintf(text, sizeof text,
		"Failed to parse \"%.20s\" as octal: strconv.ParseUint: parsing \"%.20s\": invalid "
		"syntax",
		perms, perms);
	refuse_prepared(s, text);
}

static void check_template(const struct subject *s, const json_t *json)
{
	const char *source = text_member(json, "SourcePath");
	const char *destination = text_member(json, "DestPath");

	if (!*source && !*text_member(json, "EmbeddedTmpl"))
		refuse_prepared(s, "Must specify a source path or have an embedded template");
	else if (*source && leads_out(source))
		refuse_prepared(s, "source path escapes allocation directory");
	else if (!*source)
		check_template_text(s, json);
	if (!*destination)
		refuse_prepared(s, "Must specify a destination for the template");
	else if (leads_out(destination))
		refuse_prepared(s, "destination escapes allocation directory");
	check_template_change(s, json);
	check_template_perms(s, json);
}

// Of two templates at one place, the later one.
static void check_template_places(struct subject *s, const json_t *list)
{
	char text[160], of_group[NAME_BYTES], of_task[NAME_BYTES];

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *place = text_member(json_array_get(list, i), "DestPath");
		for (size_t k = 0; k < i && *place; k++) {
			if (strcmp(text_member(json_array_get(list, k), "DestPath"), place) != 0)
				continue;
			snprintf(text, sizeof text, "Template %zu has same destination as %zu",
				i + 1, k + 1);
			json_sentence(s->refusals, "group %s task %s: %s",
				log_quote(s->group->name ? s->group->name : "", of_group,
					sizeof of_group),
				log_quote(s->task->name ? s->task->name : "", of_task,
					sizeof of_task),
				text);
			break;
		}
	}
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncasecmp(text, beginning, strlen(beginning)) == 0;
}

static void check_artifact_source(const struct subject *s, const json_t *json)
{
	const char *source = text_member(json, "GetterSource");
	const char *path = strstr(source, "://");
	char text[256];

	if (!*source) {
		refuse_prepared(s, "source must be specified");
		return;
	}
	if (begins_with(source, "${")) // the node will know
		return;
	if (!begins_with(source, "http://") && !begins_with(source, "https://")) {
		snprintf(text, sizeof text,
			"GetterSource \"%.100s\": artifacts are fetched from http:// and https:// "
			"alone",
			source);
		refuse_prepared(s, text);
	} else if (path && memmem(path + 3, strcspn(path + 3, "?#"), "//", 2)) {
		snprintf(text, sizeof text,
			"GetterSource \"%.100s\": a folder within an archive (\"//\") cannot be "
			"chosen; the whole archive is unpacked",
			source);
		refuse_prepared(s, text);
	}
}

// The sentence that Nomad has for what is no hexadecimal digit.
static void refuse_digit(const struct subject *s, const char *digits)
{
	char text[120];
	const char *at = digits + strspn(digits, "0123456789abcdefABCDEF");

	if (*at)
		snprintf(text, sizeof text,
			"invalid checksum: encoding/hex: invalid byte: U+%04X '%c'", (uint8_t)*at,
			isprint((unsigned char)*at) ? *at : '?');
	else
		snprintf(text, sizeof text, "invalid checksum: it has %zu digits", strlen(digits));
	refuse_prepared(s, text);
}

static void check_artifact_checksum(const struct subject *s, const json_t *json)
{
	static const struct {
		const char *name;
		size_t digits;
	} types[] = {{"md5:", 32}, {"sha1:", 40}, {"sha256:", 64}, {"sha512:", 128}};
	const char *checksum = text_member(json_object_get(json, "GetterOptions"), "checksum");
	char text[200];

	if (!*checksum || strstr(checksum, "${"))
		return;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		size_t size = strlen(types[i].name);
		const char *digits = checksum + size;
		if (strncmp(checksum, types[i].name, size) != 0)
			continue;
		if (strlen(digits) != types[i].digits ||
			strspn(digits, "0123456789abcdefABCDEF") != types[i].digits)
			refuse_digit(s, digits);
		return;
	}
	snprintf(text, sizeof text,
		"GetterOptions.checksum \"%.60s\" is not TYPE:VALUE with the type md5, sha1, "
		"sha256 "
		"or sha512",
		checksum);
	refuse_prepared(s, text);
}

static void check_artifact_headers(const struct subject *s, json_t *headers)
{
	const char *name;
	json_t *value;

	json_object_foreach(headers, name, value)
	{
		const char *text = json_string_value(value);
		if (!text_is_word(text_of(name), "-_") || !*name ||
			(text && strpbrk(text, "\r\n")) || (text && strlen(text) > 4096))
			refuse_prepared(s,
				"GetterHeaders: a name has letters, digits, - and _, and a "
				"value is one line of at most 4096 bytes");
	}
}

static void check_artifact(const struct subject *s, const json_t *json)
{
	static const char *const modes[] = {"", "any", "file", "dir", NULL};
	const char *mode = text_member(json, "GetterMode");
	char text[160];

	check_artifact_source(s, json);
	if (!is_among(mode, modes)) {
		snprintf(text, sizeof text,
			"invalid artifact mode \"%.32s\"; must be one of: any, file, dir", mode);
		refuse_prepared(s, text);
	}
	if (leads_out(text_member(json, "RelativeDest")))
		refuse_prepared(s, "destination escapes allocation directory");
	check_artifact_checksum(s, json);
	check_artifact_headers(s, json_object_get(json, "GetterHeaders"));
}

static void check_list(struct subject *s, const char *what, const json_t *list,
	void (*check)(const struct subject *, const json_t *))
{
	s->what = what;
	for (size_t i = 0; i < json_array_size(list); i++) {
		s->number = i + 1;
		check(s, json_array_get(list, i));
	}
}

static void check_task_prepared(
	const struct task_group *group, const struct task *task, struct json_sentences *refusals)
{
	struct subject s = {.refusals = refusals, .group = group, .task = task};
	json_t *templates =
		task->templates ? json_loads(task->templates, JSON_DECODE_ANY, NULL) : NULL;
	json_t *artifacts =
		task->artifacts ? json_loads(task->artifacts, JSON_DECODE_ANY, NULL) : NULL;

	check_list(&s, "Template", templates, check_template);
	check_template_places(&s, templates);
	check_list(&s, "Artifact", artifacts, check_artifact);
	json_decref(templates);
	json_decref(artifacts);
}

void job_check_prepared(const struct job *job, struct json_sentences *refusals)
{
	for (uint32_t i = 0; !job_is_direct(job) && i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		for (uint32_t k = 0; k < group->tasks.count; k++)
			check_task_prepared(
				group, ARRAY_AT(&group->tasks, struct task, k), refusals);
	}
}
