#include "tools/template/functions.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CONSUL "Consul is not there; use nomadVar"
#define VAULT "Vault is not there; use nomadVar"
#define SERVICES "services are not registered anywhere"
#define OTHER "it is not there; see docs/jobfiles.md for those that are"

// In the order of their names.
static const struct function functions[] = {
	{"add", 2, 2, tf_add},
	{"and", 1, ANY_NUMBER, tf_and},
	{"base64Decode", 1, 1, tf_base64_decode},
	{"base64Encode", 1, 1, tf_base64_encode},
	{"base64URLDecode", 1, 1, tf_base64_url_decode},
	{"base64URLEncode", 1, 1, tf_base64_url_encode},
	{"byKey", 0, ANY_NUMBER, NULL, CONSUL},
	{"byMeta", 0, ANY_NUMBER, NULL, SERVICES},
	{"byPort", 0, ANY_NUMBER, NULL, SERVICES},
	{"byTag", 0, ANY_NUMBER, NULL, SERVICES},
	{"caLeaf", 0, ANY_NUMBER, NULL, CONSUL},
	{"caRoots", 0, ANY_NUMBER, NULL, CONSUL},
	{"connect", 0, ANY_NUMBER, NULL, SERVICES},
	{"contains", 2, 2, tf_contains},
	{"containsAll", 2, 2, tf_contains_all},
	{"containsAny", 2, 2, tf_contains_any},
	{"containsNone", 2, 2, tf_contains_none},
	{"containsNotAll", 2, 2, tf_contains_not_all},
	{"datacenters", 0, ANY_NUMBER, NULL, CONSUL},
	{"divide", 2, 2, tf_divide},
	{"env", 1, 1, tf_env},
	{"envOrDefault", 2, 2, tf_env_or_default},
	{"eq", 2, ANY_NUMBER, tf_eq},
	{"executeTemplate", 0, ANY_NUMBER, NULL, OTHER},
	{"explode", 0, ANY_NUMBER, NULL, CONSUL},
	{"file", 1, 1, tf_file},
	{"ge", 2, 2, tf_ge},
	{"gt", 2, 2, tf_gt},
	{"html", 1, 1, tf_html},
	{"in", 2, 2, tf_in},
	{"indent", 2, 2, tf_indent},
	{"index", 1, ANY_NUMBER, tf_index},
	{"join", 2, 2, tf_join},
	{"key", 0, ANY_NUMBER, NULL, CONSUL},
	{"keyExists", 0, ANY_NUMBER, NULL, CONSUL},
	{"keyOrDefault", 0, ANY_NUMBER, NULL, CONSUL},
	{"le", 2, 2, tf_le},
	{"len", 1, 1, tf_len},
	{"loop", 1, 2, tf_loop},
	{"ls", 0, ANY_NUMBER, NULL, CONSUL},
	{"lt", 2, 2, tf_lt},
	{"maximum", 2, 2, tf_maximum},
	{"md5sum", 1, 1, tf_md5sum},
	{"minimum", 2, 2, tf_minimum},
	{"modulo", 2, 2, tf_modulo},
	{"multiply", 2, 2, tf_multiply},
	{"mustEnv", 1, 1, tf_must_env},
	{"ne", 2, 2, tf_ne},
	{"node", 0, ANY_NUMBER, NULL, CONSUL},
	{"nodes", 0, ANY_NUMBER, NULL, CONSUL},
	{"nomadService", 0, ANY_NUMBER, NULL, SERVICES},
	{"nomadServices", 0, ANY_NUMBER, NULL, SERVICES},
	{"nomadVar", 1, 1, tf_nomad_var},
	{"nomadVarExists", 1, 1, tf_nomad_var_exists},
	{"nomadVarList", 0, 1, tf_nomad_var_list},
	{"nomadVarListSafe", 0, 1, tf_nomad_var_list_safe},
	{"not", 1, 1, tf_not},
	{"or", 1, ANY_NUMBER, tf_or},
	{"parseBool", 1, 1, tf_parse_bool},
	{"parseFloat", 1, 1, tf_parse_float},
	{"parseInt", 1, 1, tf_parse_int},
	{"parseJSON", 1, 1, tf_parse_json},
	{"parseUint", 1, 1, tf_parse_uint},
	{"parseYAML", 0, ANY_NUMBER, NULL, OTHER},
	{"pkiCert", 0, ANY_NUMBER, NULL, VAULT},
	{"plugin", 0, ANY_NUMBER, NULL, OTHER},
	{"print", 0, ANY_NUMBER, tf_print},
	{"printf", 1, ANY_NUMBER, tf_printf},
	{"println", 0, ANY_NUMBER, tf_println},
	{"regexMatch", 0, ANY_NUMBER, NULL, OTHER},
	{"regexReplaceAll", 0, ANY_NUMBER, NULL, OTHER},
	{"replaceAll", 3, 3, tf_replace_all},
	{"safeLs", 0, ANY_NUMBER, NULL, CONSUL},
	{"safeTree", 0, ANY_NUMBER, NULL, CONSUL},
	{"scratch", 0, ANY_NUMBER, NULL, OTHER},
	{"secret", 0, ANY_NUMBER, NULL, VAULT},
	{"secrets", 0, ANY_NUMBER, NULL, VAULT},
	{"service", 0, ANY_NUMBER, NULL, SERVICES},
	{"services", 0, ANY_NUMBER, NULL, SERVICES},
	{"sha256Hex", 1, 1, tf_sha256_hex},
	{"slice", 1, 3, tf_slice},
	{"sockaddr", 0, ANY_NUMBER, NULL, OTHER},
	{"split", 2, 2, tf_split},
	{"splitToMap", 3, 3, tf_split_to_map},
	{"subtract", 2, 2, tf_subtract},
	{"timestamp", 0, 1, tf_timestamp},
	{"toJSON", 1, 1, tf_to_json},
	{"toJSONPretty", 1, 1, tf_to_json_pretty},
	{"toLower", 1, 1, tf_to_lower},
	{"toTOML", 0, ANY_NUMBER, NULL, OTHER},
	{"toTitle", 1, 1, tf_to_title},
	{"toUpper", 1, 1, tf_to_upper},
	{"toYAML", 0, ANY_NUMBER, NULL, OTHER},
	{"tree", 0, ANY_NUMBER, NULL, CONSUL},
	{"trim", 2, 2, tf_trim},
	{"trimPrefix", 2, 2, tf_trim_prefix},
	{"trimSpace", 1, 1, tf_trim_space},
	{"trimSuffix", 2, 2, tf_trim_suffix},
	{"urlquery", 1, ANY_NUMBER, tf_urlquery},
	{"writeToFile", 0, ANY_NUMBER, NULL, OTHER},
};

static int order_function(const void *name, const void *function)
{
	const struct text *wanted = name;
	const char *has = ((const struct function *)function)->name;
	int order = strncmp(wanted->data, has, wanted->size);
	return order ? order : -(has[wanted->size] != '\0');
}

const struct function *function_of_name(struct text name)
{
	return bsearch(&name, functions, sizeof functions / sizeof functions[0],
		sizeof functions[0], order_function);
}

bool function_reads_variables(const struct function *f)
{
	return strncmp(f->name, "nomadVar", 8) == 0;
}

bool function_is_lazy(const struct function *f)
{
	return f->run == tf_and || f->run == tf_or;
}

struct value function_fail(struct call *call, const char *format, ...)
{
	char text[300];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return render_fail(call->run, call->at, "error calling %s: %s", call->function->name, text);
}

struct text argument_text(struct call *call, uint32_t i)
{
	struct value v = value_plain(call->args[i]);

	if (v.kind != VALUE_TEXT) {
		function_fail(
			call, "argument %u is %s, not a text", i + 1, value_kind_name(v.kind));
		return TEXT("");
	}
	// What is done with it takes time.
	return render_step(call->run, v.text.size / 64) ? v.text : TEXT("");
}

int64_t argument_int(struct call *call, uint32_t i)
{
	struct value v = value_plain(call->args[i]);

	if (v.kind == VALUE_INT)
		return v.integer;
	function_fail(call, "argument %u is %s, not an integer", i + 1, value_kind_name(v.kind));
	return 0;
}

struct value argument_list(struct call *call, uint32_t i)
{
	struct value v = value_plain(call->args[i]);

	if (v.kind == VALUE_LIST)
		return render_step(call->run, v.count / 16) ? v
							    : (struct value){.kind = VALUE_LIST};
	if (v.kind != VALUE_NIL)
		function_fail(
			call, "argument %u is %s, not a list", i + 1, value_kind_name(v.kind));
	return (struct value){.kind = VALUE_LIST};
}

struct value function_written(struct call *call, struct bytes_writer *w)
{
	struct value v = value_copy(call->run, (const char *)w->data, w->size);
	bytes_writer_free(w);
	return v;
}
