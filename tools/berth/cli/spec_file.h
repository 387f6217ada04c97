// Descriptions that people write, in HashiCorp's syntax or in JSON, as bodies of the API.
#pragma once
#include "tools/berth/cli/session.h"
#include <jansson.h>
#include <stdbool.h>

// What may be in a description. An array of them ends with one without a name.
struct spec_name {
	const char *name;   // as it is written; the member's name is as good
	const char *member; // of the body
	const struct spec_name
		*inside;   // of a block or an object; NULL: a value, which is taken as it is
	bool is_list;      // each block is an element
	const char *label; // the member of an element that its label fills; NULL: it has none
};

// Caller releases *body; errors name the place.
enum exit_status spec_file_read(const char *path, const struct spec_name *names, json_t **body);
