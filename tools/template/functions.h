// Functions of templates.
#pragma once
#include "tools/template/run.h"

struct call {
	struct render *run;
	const struct function *function;
	uint32_t at; // byte of the template
	uint32_t count;
	const struct value *args;
};

struct function {
	const char *name;
	uint32_t least, most; // arguments
	struct value (*run)(struct call *);
	const char *refusal; // why it is known and not there; NULL: it is there
};
#define ANY_NUMBER UINT32_MAX

// NULL: no such function.
const struct function *function_of_name(struct text name);
// Whether a function reads variables of the cluster.
bool function_reads_variables(const struct function *);
// and, or: the arguments are only worked out as far as needed.
bool function_is_lazy(const struct function *);

// The arguments, of their kind; else the rendering fails and they are empty.
struct text argument_text(struct call *, uint32_t i);
int64_t argument_int(struct call *, uint32_t i);
struct value argument_list(struct call *, uint32_t i);
struct value function_fail(struct call *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
// A text that was written; frees the writer.
struct value function_written(struct call *, struct bytes_writer *);

typedef struct value template_function(struct call *);
// Of Go's language.
template_function tf_and, tf_or, tf_not, tf_eq, tf_ne, tf_lt, tf_le, tf_gt, tf_ge, tf_len, tf_index,
	tf_slice, tf_print, tf_println, tf_printf;
// Of texts.
template_function tf_to_upper, tf_to_lower, tf_to_title, tf_trim, tf_trim_prefix, tf_trim_suffix,
	tf_trim_space, tf_replace_all, tf_split, tf_split_to_map, tf_join, tf_indent, tf_contains,
	tf_in, tf_contains_all, tf_contains_any, tf_contains_none, tf_contains_not_all;
// Of numbers.
template_function tf_parse_int, tf_parse_uint, tf_parse_float, tf_parse_bool, tf_add, tf_subtract,
	tf_multiply, tf_divide, tf_modulo, tf_minimum, tf_maximum, tf_loop;
// Of codes.
template_function tf_parse_json, tf_to_json, tf_to_json_pretty, tf_base64_encode, tf_base64_decode,
	tf_base64_url_encode, tf_base64_url_decode, tf_sha256_hex, tf_md5sum, tf_html, tf_urlquery;
// Of the task's data.
template_function tf_env, tf_env_or_default, tf_must_env, tf_file, tf_timestamp, tf_nomad_var,
	tf_nomad_var_exists, tf_nomad_var_list, tf_nomad_var_list_safe;
