// Templates of tasks: Go's template language with the functions that job files for Nomad use. A text is parsed once, by
// the controller to refuse it and by the agent to render it; both know the same functions. What is not known is a
// mistake with its line and column. Parsing and rendering are bounded in time, memory and depth. Any thread, one at a
// time for each template.
#pragma once
#include "state/base/bytes.h"
#include <jansson.h>

#define TEMPLATE_BYTES_MAX (1u << 20)        // of a template
#define TEMPLATE_RESULT_BYTES_MAX (4u << 20) // of what it renders
#define TEMPLATE_DEPTH_MAX 64u               // of blocks and parentheses within each other

struct template;

// Where in the text something is wrong, or cannot be rendered; or, at 0:0, what is missing.
struct template_trouble {
	uint32_t line, column; // from 1
	char text[400];
};

// Delimiters "" are {{ and }}. NULL and what is wrong; the text is copied. The caller frees.
struct template *template_parse(struct text, const char *left_delimiter,
	const char *right_delimiter, struct template_trouble *);
void template_free(struct template *); // NULL is fine
// Whether it reads variables of the cluster.
bool template_reads_variables(const struct template *);

enum template_found {
	TEMPLATE_FOUND,
	TEMPLATE_ABSENT,  // nobody wrote it
	TEMPLATE_UNKNOWN, // it was not asked for yet
};

// What a template may see. The JSON is the API's; it stays the caller's, who keeps it while the template is rendered.
struct template_data {
	void *context;
	// The value of a variable of the environment or a fact of the node ("attr.cpu.arch"); NULL: there is none. Good
	// until the next call.
	const char *(*env)(void *context, const char *name);
	// The variable at this path, which may end in @NAMESPACE.REGION.
	enum template_found (*variable)(void *context, const char *path, const json_t **variable);
	// Those whose path begins like this, without their items.
	enum template_found (*list)(void *context, const char *prefix, const json_t **variables);
	// Appends what a file of the task holds: true; or false and why not.
	bool (*file)(void *context, const char *path, struct bytes_writer *contents, char *message,
		uint32_t message_size);
	int64_t now_ns;         // unix
	bool missing_key_fails; // else what a map has not is "<no value>"
};

enum template_end {
	TEMPLATE_RENDERED,
	TEMPLATE_WAITS, // for what is missing: trouble.text names it
	TEMPLATE_FAILED,
};

// Appends the result to out, which is of no use unless TEMPLATE_RENDERED is returned.
enum template_end template_render(const struct template *, const struct template_data *,
	struct bytes_writer *out, struct template_trouble *);
