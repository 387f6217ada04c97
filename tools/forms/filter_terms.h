// Terms of an expression of filter.h, for its parser and its evaluation.
#pragma once
#include "tools/forms/filter.h"

enum filter_kind {
	FILTER_AND,
	FILTER_OR,
	FILTER_NOT,
	FILTER_EQUAL,
	FILTER_CONTAINS, // also "in"
	FILTER_EMPTY,
	FILTER_MATCHES,
};

struct filter_term {
	enum filter_kind kind;
	bool negated;         // for comparisons: "!=", "not in", "is not empty", …
	uint32_t left, right; // terms: AND and OR have both, NOT the left one
	char *parts[FILTER_PARTS_MAX];
	uint32_t part_count; // of the selector
	char *value;         // to compare with; NULL for EMPTY
	void *program;       // for MATCHES
};

struct filter {
	struct filter_term terms[FILTER_TERMS_MAX];
	uint32_t count, root;
};
