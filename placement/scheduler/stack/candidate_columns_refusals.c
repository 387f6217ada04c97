// Why rows are refused, and what each of them is counted for in the metrics.
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"

static const char *bin_refusal(const struct candidate_columns *c, uint32_t row)
{
	return c->class_of ? c->classes[c->class_of[row]].refusal : c->bins[c->bin_of[row]].refusal;
}

// The record of a node need not be read for it where classes are known.
static const char *class_name_of(const struct candidate_columns *c, uint32_t row)
{
	if (!c->class_of)
		return c->nodes[row]->node_class->class_name;
	const struct class_in_set *in = &c->set->classes[c->classes[c->class_of[row]].id];
	return c->set->tallies.shorts[in->tally].class_name;
}

// Metrics count a row for one reason: first other instances on its node, then a property that is used up, then room.
void candidate_columns_show_row(struct candidate_columns *c, uint32_t row)
{
	const char *reason = c->refusals[row], *of_bin = bin_refusal(c, row);
	enum stack_outcome outcome = reason ? (enum stack_outcome)c->outcomes[row] : STACK_FITS;
	if (of_bin && reason != reason_distinct_hosts) {
		bool by_both = outcome == STACK_FILTERED;
		reason = by_both ? stack_check_properties(c->s, c->g, c->nodes[row]) : of_bin;
		outcome = STACK_FILTERED;
	}
	if (reason == c->shown[row] && outcome == c->shown_outcomes[row])
		return;
	const char *class_name = class_name_of(c, row);
	if (c->shown[row])
		refusal_counts_add(&c->refused, c->shown[row], class_name,
			(enum stack_outcome)c->shown_outcomes[row], -1);
	if (reason)
		refusal_counts_add(&c->refused, reason, class_name, outcome, 1);
	c->shown[row] = reason;
	c->shown_outcomes[row] = (uint8_t)outcome;
}

void candidate_columns_set_refusal(
	struct candidate_columns *c, uint32_t row, const char *reason, enum stack_outcome outcome)
{
	c->refusals[row] = reason;
	c->outcomes[row] = (uint8_t)outcome;
	if (reason)
		candidate_columns_row_is_touched(c, row);
	candidate_columns_show_row(c, row);
}

void candidate_columns_set_bin_refusal(
	struct candidate_columns *c, struct column_bin *bin, const char *refusal)
{
	CHECK(bin->first_row + bin->rows <= c->row_count);
	bin->refusal = refusal;
	for (uint32_t row = bin->first_row; row < bin->first_row + bin->rows; row++)
		candidate_columns_show_row(c, row);
}

// Fewer reasons are said again in all metrics: reading them takes one step then.
#define REASONS_IN_PART 16u

static const struct shared_metrics *told_metrics(const struct candidate_columns *c)
{
	return c->told ? *ARRAY_AT(&c->s->plan->metrics, struct shared_metrics *, c->told - 1)
		       : NULL;
}

void candidate_columns_count(
	const struct candidate_columns *c, bool again, bool in_part, struct alloc_metrics *m)
{
	const struct shared_metrics *told = told_metrics(c);
	const struct refusal_reasons *reasons = &c->refused.filtered;

	CHECK(!told || again);
	m->nodes_evaluated += c->candidates;
	if (in_part && told && told->bases < METRICS_BASES_MAX &&
		reasons->count > REASONS_IN_PART) {
		refusal_counts_report_changes(&c->refused, &c->later, m, &c->s->lent);
		m->back = c->s->plan->metrics.count - (c->told - 1);
		return;
	}
	refusal_counts_report(&c->refused, m, &c->s->lent);
	refusal_counts_report(again ? &c->later : &c->first, m, &c->s->lent);
}

void candidate_columns_are_told(struct candidate_columns *c, uint32_t number)
{
	CHECK(number < c->s->plan->metrics.count);
	c->told = number + 1;
	refusal_counts_forget_changes(&c->refused);
}

void candidate_columns_look_into_full(struct candidate_columns *c)
{
	if (c->is_full)
		candidate_columns_make_full_rows(c);
	for (uint32_t row = 0; c->is_full && row < c->row_count; row++) {
		struct stack_option option;
		if (!c->is_full[row])
			continue;
		c->is_full[row] = false;
		if (!c->refusals[row] || c->outcomes[row] != STACK_EXHAUSTED)
			continue;
		option_begin(&option, c->nodes[row]);
		// The node may have got room since its use was read: what was short then stays the reason.
		if (stack_fit(c->s, c->g, c->nodes[row], false, &option))
			alloc_details_release(option.details);
		else
			candidate_columns_set_refusal(c, row, option.reason, STACK_EXHAUSTED);
	}
}
