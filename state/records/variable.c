// Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/variable.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/base/schema_table.h"

static const struct field variable_fields[] = {
	{"Name", FIELD_STRING, OF(variable, name)},
	{"KeyID", FIELD_UUID, OF(variable, key)},
	{"Sealed", FIELD_STRING, OF(variable, sealed)},
	{"CreateTime", FIELD_I64, OF(variable, create_time_ns)},
	{"ModifyTime", FIELD_I64, OF(variable, modify_time_ns)},
};
DESCRIBE(variable_description, variable);

bool variable_path_is_fit(struct text path)
{
	return path.size > 0 && path.size <= VARIABLE_PATH_MAX && text_is_word(path, "-_~/");
}

bool variable_namespace_is_fit(struct text namespace_name)
{
	return namespace_name.size > 0 && namespace_name.size <= NAME_BYTES_MAX &&
	       text_is_printable(namespace_name);
}

// The dot between namespace and path; NULL: there is none.
static const char *find_dot(struct text name)
{
	const char *at = name.data + name.size;
	while (at > name.data)
		if (*--at == '.')
			return at;
	return NULL;
}

bool variable_name_is_fit(struct text name)
{
	const char *dot = find_dot(name);
	if (!dot)
		return false;
	struct text space = {name.data, (uint32_t)(dot - name.data)};
	struct text path = {dot + 1, name.size - space.size - 1};
	return variable_namespace_is_fit(space) && variable_path_is_fit(path);
}

struct text variable_namespace(const char *name)
{
	const char *path = variable_path(name);
	return (struct text){name, (uint32_t)(path - name) - 1};
}

const char *variable_path(const char *name)
{
	const char *dot = find_dot(text_of(name));
	CHECK(dot);
	return dot + 1;
}
