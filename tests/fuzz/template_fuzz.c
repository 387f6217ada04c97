// A template as a job may bring it. What is wrong has a place; what is not renders the same twice, in bounds.
#include "state/base/check.h"
#include "tools/template/template.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *fuzz_env(void *context, const char *name)
{
	return strlen(name) % 2 ? "value" : NULL;
}

static enum template_found fuzz_variable(void *context, const char *path, const json_t **variable)
{
	*variable = context;
	return (enum template_found)(strlen(path) % 3);
}

static enum template_found fuzz_list(void *context, const char *prefix, const json_t **variables)
{
	*variables = json_object_get(context, "List");
	return (enum template_found)(strlen(prefix) % 3);
}

static bool fuzz_file(void *context, const char *path, struct bytes_writer *contents, char *message,
	uint32_t message_size)
{
	bytes_put(contents, path, strlen(path));
	return strlen(path) % 2;
}

static enum template_end render(
	const struct template *t, json_t *variable, struct bytes_writer *out)
{
	const struct template_data task = {.context = variable,
		.env = fuzz_env,
		.variable = fuzz_variable,
		.list = fuzz_list,
		.file = fuzz_file,
		.now_ns = 1};
	struct template_trouble trouble;
	enum template_end end = template_render(t, &task, out, &trouble);
	CHECK(strlen(trouble.text) < sizeof trouble.text);
	CHECK((end == TEMPLATE_RENDERED) == (trouble.text[0] == '\0'));
	CHECK(end != TEMPLATE_FAILED || trouble.line > 0);
	return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static json_t *variable;
	struct template_trouble trouble = {0};
	struct text text = {(const char *)data, (uint32_t)size};

	if (!variable)
		variable = json_loads(
			"{\"Path\":\"a/b\",\"Namespace\":\"n\",\"ModifyIndex\":5,"
			"\"Items\":{\"a\":\"1\",\"b\":\"\"},\"List\":[{\"Path\":\"x\"}]}",
			0, NULL);
	CHECK(variable);
	struct template *t = template_parse(text, "", "", &trouble);
	CHECK((t == NULL) == (trouble.line > 0));
	CHECK(t || (trouble.column > 0 && trouble.text[0]));
	if (!t)
		return 0;
	struct bytes_writer one = bytes_writer_growing(64), other = bytes_writer_growing(64);
	enum template_end end = render(t, variable, &one);
	CHECK(end == render(t, variable, &other));
	CHECK(one.size == other.size &&
		(one.size == 0 || memcmp(one.data, other.data, one.size) == 0));
	bytes_writer_free(&one);
	bytes_writer_free(&other);
	template_free(t);
	return 0;
}
