// Functions that expressions may call.
#pragma once
#include "tools/hcl2/eval.h"

struct call {
	struct hcl2_run *run;
	const struct hcl2_node *node;
	const struct hcl2_value *const *arguments; // converted to the types of their parameters
	uint32_t count;
	const char *problem; // why there is no result: a part of a sentence
	int wrong;           // the argument that is to blame; -1: none of them
};

typedef const struct hcl2_value *function_fn(struct call *);

// A parameter's letter: s string, n number, a any, l list of strings, e list of any, x set of any. Before it "?": it
// may be null; behind the last one "*": none or more of them.
struct function {
	const char *name, *parameters;
	function_fn *run;
};

// A table of functions, ended by one without a name.
extern const struct function text_functions[], format_functions[], pattern_functions[],
	list_functions[], mapping_functions[], set_functions[], math_functions[], code_functions[],
	document_functions[], yaml_functions[], digest_functions[], time_functions[],
	network_functions[], file_functions[];

const struct function *function_find(struct text name);
// try, can and convert look at expressions, not at values. NULL: it is none of them.
evaluate_fn *function_find_special(struct text name);

// Say why there is no result; NULL.
const struct hcl2_value *call_failed(struct call *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const struct hcl2_value *call_wrong(struct call *, int argument, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// A whole number within bounds. False after a failure.
bool call_int(struct call *, int argument, int64_t least, int64_t most, int64_t *number);
static inline struct text call_text(const struct call *call, uint32_t argument)
{
	return call->arguments[argument]->string;
}
const struct hcl2_value *call_written(struct call *, struct writer *);
// A list of strings, which none of it owns.
const struct hcl2_value *call_strings(
	struct call *, const struct hcl2_value *const *items, uint32_t count);
bool value_write_json(struct writer *, const struct hcl2_value *, bool *finite);
