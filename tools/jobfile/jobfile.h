// Job files as people write them, as jobs of the API.
#pragma once
#include "state/base/text.h"
#include <jansson.h>
#include <stdbool.h>

struct jobfile {
	const char *name; // for messages
	struct text text;
	const char *const *variables; // "NAME=VALUE" of the command line; the last of a name counts
	uint32_t variable_count;
	const char *const
		*environment; // "NOMAD_VAR_NAME=VALUE" among others; ends with NULL; NULL: none
	// Texts of values for variables, each after those before it; their names are for messages.
	const struct text *value_files;
	const char *const *value_file_names;
	uint32_t value_file_count;
	bool lenient;           // values for variables that nobody declared are no mistake
	const char *files_from; // the folder of files that functions read; NULL: they read none
};

// The job without {"Job": …} around; caller releases. NULL, and why in *message, which the caller frees.
json_t *jobfile_read(const struct jobfile *, char **message);
// Fills in what a job is where nothing is written.
void jobfile_canonicalize(json_t *job);
// Whether the text begins as JSON.
bool jobfile_is_json(struct text);
