// Versions and lists of version conditions (">= 1.2, < 2", "~> 1.1"), in two dialects:
// loose ("1.2rc1", "1.2.3.4"; a pre-release satisfies an order condition only when that names a
// pre-release of the same version) and semantic versioning (pre-releases are ordered, no "~>").
#pragma once
#include "placement/constraint/constraint_error.h"
#include "state/base/text.h"
#include <stdbool.h>
#include <stdint.h>

#define VERSION_SEGMENTS_MAX 16u

struct version {
	int64_t segments[VERSION_SEGMENTS_MAX]; // at least 3, missing ones are 0
	uint32_t segment_count;                 // padded
	uint32_t specified;                     // as written
	struct text prerelease;                 // view into the parsed text, after '-', before '+'
};

enum version_dialect { VERSION_LOOSE, VERSION_SEMVER };

// All of text must be one version. The result is a view into it.
bool version_parse(struct text, enum version_dialect, struct version *);
int version_compare(const struct version *, const struct version *); // -1, 0, 1

struct version_conditions;

// NULL and error filled when the list is malformed. Caller frees with version_conditions_free.
struct version_conditions *version_conditions_parse(
	const char *list, enum version_dialect, struct constraint_error *error);
void version_conditions_free(struct version_conditions *);
// False also when text is no version.
bool version_satisfies(const struct version_conditions *, const char *text);
