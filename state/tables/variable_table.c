#include "state/tables/variable_table.h"
#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/records/variable.h"
#include "state/tables/state.h"
#include "state/tables/table.h"

static bool is_variable_sound(const void *record)
{
	const struct variable *variable = record;
	uint32_t size = text_of(variable->sealed).size;

	CHECK(record);
	return variable_name_is_fit(text_of(variable->name)) && size > 0 &&
	       size <= VARIABLE_SEALED_MAX && record_is_sound(&variable_description, record);
}

const struct kind variable_kind = {
	.name = "variable",
	.key = KEY_NAME,
	.key_offset = offsetof(struct variable, name),
	.cell_bytes = sizeof(struct cell),
	.fields = &variable_description,
	.limit_offset = offsetof(struct state_limits, variables),
	.limit_max = VARIABLES_MAX,
	.is_sound = is_variable_sound,
};

const struct variable *state_variable(const struct state *state, struct text name)
{
	CHECK(state);
	return table_published(state, STATE_VARIABLES, &name);
}
