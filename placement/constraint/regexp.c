// Regular expressions in constraints. Anyone who may submit a job writes patterns, and nodes supply subjects, so both
// size and work are bounded: a pattern beyond a bound is refused, a search beyond one does not match.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "placement/constraint/regexp.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <pcre2.h>
#include <stdlib.h>

#define PATTERN_BYTES_MAX 1024u
#define PATTERN_NESTING_MAX 64u
#define COMPILED_BYTES_MAX (32u * 1024)
#define MATCH_DEPTH_MAX 1000u
#define MATCH_HEAP_KIB_MAX 1024u
#define SUBJECT_BYTES_MAX 4096u
// Of a whole search: a sensible pattern takes tens, this many take about a millisecond.
#define STEPS_MAX 20000u

struct regexp {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	uint32_t *steps; // of the last search
};

// A search begins anew at each character of its subject, and the engine's own limit is for one beginning: the steps of
// all are counted, before each part of the pattern.
static int count_step(pcre2_callout_block *block, void *steps)
{
	uint32_t *count = steps;
	return ++*count < STEPS_MAX ? 0 : PCRE2_ERROR_MATCHLIMIT;
}

void regexp_release(void *program)
{
	struct regexp *r = program;
	if (!r)
		return;
	pcre2_match_data_free(r->data);
	pcre2_match_context_free(r->context);
	pcre2_code_free(r->code);
	free(r->steps);
	free(r);
}

static pcre2_code *compile_bounded(const char *pattern, struct constraint_error *error)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	CHECK(context);
	pcre2_set_max_pattern_length(context, PATTERN_BYTES_MAX);
	pcre2_set_parens_nest_limit(context, PATTERN_NESTING_MAX);
	int code;
	PCRE2_SIZE at = 0;
	pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
		PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT,
		&code, &at, context);
	pcre2_compile_context_free(context);
	if (!compiled) {
		char why[160] = "";
		(void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
		return constraint_refuse(error,
			"regular expression failed to compile at character %zu: %s", at, why);
	}
	size_t size = 0;
	if (pcre2_pattern_info(compiled, PCRE2_INFO_SIZE, &size) != 0 ||
		size > COMPILED_BYTES_MAX) {
		pcre2_code_free(compiled);
		return constraint_refuse(error,
			"regular expression needs %zu bytes when compiled; at most %u are allowed",
			size, COMPILED_BYTES_MAX);
	}
	return compiled;
}

void *regexp_compile(const char *pattern, struct constraint_error *error)
{
	pcre2_code *code = compile_bounded(pattern, error);
	if (!code)
		return NULL;
	struct regexp *r = memory_take(sizeof *r);
	r->code = code;
	r->steps = memory_take(sizeof *r->steps);
	r->data = pcre2_match_data_create(1, NULL);
	r->context = pcre2_match_context_create(NULL);
	CHECK(r->data && r->context);
	pcre2_set_callout(r->context, count_step, r->steps);
	pcre2_set_match_limit(r->context, STEPS_MAX);
	pcre2_set_depth_limit(r->context, MATCH_DEPTH_MAX);
	pcre2_set_heap_limit(r->context, MATCH_HEAP_KIB_MAX);
	return r;
}

bool regexp_test(const char *left, const char *right, const void *program)
{
	const struct regexp *r = program;
	struct text subject = text_of(left);
	if (!left || subject.size > SUBJECT_BYTES_MAX)
		return false;
	*r->steps = 0;
	// Zero also means a match: there is no room for groups.
	return pcre2_match(r->code, (PCRE2_SPTR)subject.data, subject.size, 0, 0, r->data,
		       r->context) >= 0;
}
