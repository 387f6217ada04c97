#include "tools/simulate/simulate.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "tools/simulate/node_scenario.h"
#include "tools/simulate/recorder.h"
#include "tools/simulate/scenario_read.h"
#include "tools/simulate/vm_scenario.h"
#include <errno.h>
#include <stdlib.h>

// A scenario of a hundred thousand nodes has about a fifth of this.
#define SCENARIO_BYTES_MAX (1u << 30)

// Reads to the end; NULL with a message. Caller frees.
static char *read_all(FILE *file, const struct simulate_settings *settings, size_t *size)
{
	size_t room = 1u << 16;
	char *text = memory_take(room);
	*size = 0;
	while (*size < SCENARIO_BYTES_MAX) {
		*size += fread(text + *size, 1, room - *size, file);
		if (*size < room)
			break;
		room *= 2;
		text = memory_resize(text, room);
	}
	if (!ferror(file) && *size < SCENARIO_BYTES_MAX)
		return text;
	fprintf(settings->messages, "berth: %s: %s\n", settings->path,
		ferror(file) ? strerror(errno)
			     : "is larger than 1 GiB; leave out what does not matter");
	free(text);
	return NULL;
}

// Whether a number can begin with or hold the character.
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_too_big(const char *digits, size_t count)
{
	static const char most[] = "9223372036854775807";
	return count > sizeof most - 1 ||
	       (count == sizeof most - 1 && memcmp(digits, most, count) > 0);
}

// Counters of a recorded result may have wrapped around, and the parser knows no integers beyond 63 bits. Rewrites such
// integers as numbers of the same length that it knows; where an integer is needed the reader refuses them.
static void shorten_integers(char *text, size_t size)
{
	bool quoted = false;
	for (size_t i = 0, end; i < size; i = end) {
		end = i + 1;
		if (text[i] == '"')
			quoted = !quoted;
		else if (quoted && text[i] == '\\')
			end++;
		if (quoted || !is_digit(text[i]))
			continue;
		while (end < size && is_digit(text[end]))
			end++;
		bool whole = end == size || !strchr(".eE", text[end]);
		if (whole && is_too_big(text + i, end - i))
			memcpy(text + end - 3, "e99", 3);
	}
}

static char *read_file(const struct simulate_settings *settings, size_t *size)
{
	if (strcmp(settings->path, "-") == 0)
		return read_all(stdin, settings, size);
	FILE *file = fopen(settings->path, "r");
	if (!file) {
		fprintf(settings->messages, "berth: %s: %s\n", settings->path, strerror(errno));
		return NULL;
	}
	char *text = read_all(file, settings, size);
	fclose(file);
	return text;
}

static void print_sentences(const struct simulate_settings *settings, const char *kind,
	const struct json_sentences *sentences)
{
	for (uint32_t i = 0; i < sentences->count && i < JSON_SENTENCES_MAX; i++)
		fprintf(settings->messages, "berth: %s: %s%s\n", settings->path, kind,
			sentences->texts[i]);
	if (sentences->count > JSON_SENTENCES_MAX)
		fprintf(settings->messages, "berth: %s: %sand %u more\n", settings->path, kind,
			sentences->count - JSON_SENTENCES_MAX);
}

static void print_report(const struct simulate_settings *settings, const struct json_report *report)
{
	print_sentences(settings, "warning: ", &report->warnings);
	print_sentences(settings, "", &report->errors);
}

// NULL with a message.
static json_t *read_json(const struct simulate_settings *settings)
{
	char message[256];
	size_t size;
	char *text = read_file(settings, &size);
	if (!text)
		return NULL;
	shorten_integers(text, size);
	json_t *root = json_parse(text, size, message, sizeof message);
	free(text);
	if (!root)
		fprintf(settings->messages, "berth: %s: %s\n", settings->path, message);
	return root;
}

static int print_result(const struct simulate_settings *settings, const struct json_writer *result)
{
	fwrite(result->data, 1, result->size, settings->output);
	fputc('\n', settings->output);
	if (fflush(settings->output) == 0 && !ferror(settings->output))
		return 0;
	fprintf(settings->messages, "berth: cannot write the result: %s\n", strerror(errno));
	return 1;
}

static int explain_mistakes(
	const struct simulate_settings *settings, const struct scenario *s, int error)
{
	if (error == -ERROR_UNSUPPORTED)
		fprintf(settings->messages,
			"berth: %s: Eval.Type: there is no scheduler for type \"%s\" and a job "
			"that "
			"runs; use system or sysbatch, or stop the job\n",
			settings->path, eval_type_names[s->eval->type]);
	else
		fprintf(settings->messages, "berth: %s: the scheduler failed: %s\n", settings->path,
			error_text(error));
	return 1;
}

static int run_eval(
	const struct simulate_settings *settings, json_t *root, struct json_writer *result)
{
	struct json_report report = {0};
	struct scenario *scenario = scenario_read_json(root, &report);
	print_report(settings, &report);
	json_report_free(&report);
	if (!scenario)
		return 1;
	int error = scenario_work_off(scenario, result);
	int status = error < 0 ? explain_mistakes(settings, scenario, error)
			       : print_result(settings, result);
	scenario_free(scenario);
	return status;
}

struct scenario_type {
	const char *name;
	bool (*run)(json_t *input, struct json_report *, struct json_writer *);
};
static const struct scenario_type types[] = {
	{"nodes", node_scenario_run},
	{"vms", vm_scenario_run},
};

const struct scenario_type *scenario_type_of(const json_t *root)
{
	const json_t *scenario = json_object_get(root, "Scenario");
	const char *name = json_string_value(json_object_get(scenario, "Type"));
	for (size_t i = 0; name && i < sizeof types / sizeof types[0]; i++)
		if (strcmp(types[i].name, name) == 0)
			return &types[i];
	return NULL;
}

bool scenario_type_run(const struct scenario_type *type, const json_t *root,
	struct json_report *report, struct json_writer *w)
{
	json_t *input = json_object_get(root, "Input");
	if (json_is_object(input))
		return type->run(input, report, w);
	json_sentence(&report->errors, "Input: expected an object");
	return false;
}

static int run_type(const struct simulate_settings *settings, const struct scenario_type *type,
	const json_t *root, struct json_writer *result)
{
	struct json_report report = {0};
	bool done = scenario_type_run(type, root, &report, result);
	print_report(settings, &report);
	json_report_free(&report);
	return done ? print_result(settings, result) : 1;
}

int simulate(const struct simulate_settings *settings)
{
	struct json_writer result = {.pretty = settings->pretty};
	json_t *root = read_json(settings);
	if (!root)
		return 1;
	const struct scenario_type *type = scenario_type_of(root);
	int status =
		type ? run_type(settings, type, root, &result) : run_eval(settings, root, &result);
	json_writer_free(&result);
	json_decref(root);
	return status;
}
