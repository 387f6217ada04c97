// Variables: whether the version that is there is the one that the sender knows, and when each was changed.
#include "state/base/check.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/variable.h"
#include "state/tables/state.h"
#include "state/tables/table.h"

// NULL: there is none.
static const struct variable *find_variable(const struct decider *d, struct text name)
{
	const struct cell *cell = table_find(d->state, STATE_VARIABLES, &name);
	return cell_is_there(cell) ? cell->working : NULL;
}

static bool is_expected(const struct variable *known, bool cas, uint64_t modify_index)
{
	return !cas || (known ? known->record.modify_index : 0) == modify_index;
}

enum command_outcome decide_variable(struct decider *d, struct command *command)
{
	struct command_variable *c = command->variable;

	CHECK(c->variable);
	struct variable *next = c->variable;
	const struct variable *known = find_variable(d, text_of(next->name));
	if (!is_expected(known, c->cas, c->modify_index))
		return OUTCOME_CONFLICT;
	next->modify_time_ns = d->now_ns;
	next->create_time_ns = known ? known->create_time_ns : d->now_ns;
	enum command_outcome outcome = decider_store(d, STATE_VARIABLES, next);
	if (outcome != OUTCOME_DONE)
		return outcome;
	c->create_index = next->record.create_index;
	c->create_time_ns = next->create_time_ns;
	c->modify_time_ns = next->modify_time_ns;
	c->variable = NULL;
	return OUTCOME_DONE;
}

enum command_outcome decide_variable_delete(struct decider *d, struct command *command)
{
	const struct command_variable_delete *c = &command->variable_delete;

	CHECK(c->name.data);
	const struct variable *known = find_variable(d, c->name);
	if (!is_expected(known, c->cas, c->modify_index))
		return OUTCOME_CONFLICT;
	if (!known)
		return OUTCOME_UNKNOWN_VARIABLE;
	decider_delete(d, STATE_VARIABLES, c->name);
	return OUTCOME_DONE;
}
