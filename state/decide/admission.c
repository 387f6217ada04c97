#include "state/decide/admission.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/nodes/admit_table.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>

void admissions_release(struct admissions *a)
{
	free(a->globs);
	*a = (struct admissions){0};
}

void admissions_change(struct admissions *a)
{
	a->are_in_order = false;
	a->next_slot = 0;
}

static int glob_order(const void *a, const void *b)
{
	return admit_rule_order(
		*(const struct admit_rule *const *)a, *(const struct admit_rule *const *)b);
}

static void put_in_order(struct admissions *a, const struct state *state)
{
	const struct cell *cell;
	uint64_t cursor = 0;
	uint32_t capacity = 0;

	free(a->globs);
	a->globs = NULL;
	a->glob_count = 0;
	while ((cell = sequence_next(&state->tables[STATE_ADMIT_RULES].order, &cursor))) {
		if (!cell_is_there(cell) || !admit_rule_is_glob(cell->working))
			continue;
		a->globs = memory_one_more(a->globs, a->glob_count, &capacity, sizeof *a->globs);
		a->globs[a->glob_count++] = cell->working;
	}
	if (a->glob_count)
		qsort(a->globs, a->glob_count, sizeof *a->globs, glob_order);
	a->are_in_order = true;
}

// An exact id stands before an exact name, and both before all globs.
static const struct admit_rule *rule_of(
	struct admissions *a, const struct state *state, const struct admit_claim *claim)
{
	char id[UUID_TEXT_BYTES];
	const struct admit_rule *rule =
		admit_rule_working(state, text_of(uuid_format(&claim->id, id)));

	if (!rule && claim->name[0])
		rule = admit_rule_working(state, text_of(claim->name));
	if (rule && !admit_rule_is_glob(rule))
		return rule;
	if (!a->are_in_order)
		put_in_order(a, state);
	for (uint32_t i = 0; i < a->glob_count; i++) {
		CHECK(!a->globs[i]->record.deleted);
		if (admit_rule_fits(a->globs[i], claim))
			return a->globs[i];
	}
	return NULL;
}

enum admission admissions_judge(struct admissions *a, const struct state *state,
	const struct admit_claim *claim, const struct admit_rule **rule)
{
	CHECK(claim->name && claim->pool && claim->datacenter && claim->class_name);
	bool has_rules = state->tables[STATE_ADMIT_RULES].order.count > 0;

	*rule = has_rules ? rule_of(a, state, claim) : NULL;
	if (*rule)
		return admit_rule_judge(*rule, claim);
	return a->knows_all ? ADMIT_UNKNOWN : ADMIT;
}
