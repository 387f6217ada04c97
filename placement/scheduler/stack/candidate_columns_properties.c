// What spreads and distinct properties say of bins and of single rows.
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct property_set *property_at(const struct candidate_columns *c, uint32_t at)
{
	uint32_t of_job = c->s->job_rules.distinct.property_count;
	return at < of_job ? job_rules_property(&c->s->job_rules, at)
			   : group_rules_property(c->g, at - of_job);
}

static uint32_t distinct_count(const struct candidate_columns *c)
{
	return c->s->job_rules.distinct.property_count + c->g->distinct.property_count;
}

// In one piece, with what is noted of them while classes and rows are placed.
static void take_properties(struct candidate_columns *c, uint32_t count)
{
	size_t each =
		sizeof *c->properties + sizeof *c->wanted + sizeof *c->uses + sizeof *c->are_own;

	c->properties = memory_take_array(count, each);
	c->wanted = (struct finder_value *)(c->properties + count);
	c->uses = (struct value_use *)(c->wanted + count);
	c->are_own = (bool *)(c->uses + count);
}

void candidate_columns_find_properties(struct candidate_columns *c)
{
	uint32_t distinct = distinct_count(c), all = distinct + c->g->spread_count;
	if (all == 0)
		return;
	take_properties(c, all);
	c->row_properties = memory_take_array(distinct + 1, sizeof *c->row_properties);
	for (uint32_t i = 0; i < all; i++) {
		struct property_set *set = property_at(c, i);
		if (i < distinct && node_property_is_node_unique(set->property))
			c->row_properties[c->row_property_count++].set = set;
		else
			c->properties[c->property_count++] = set;
	}
	CHECK(c->property_count + c->row_property_count == all);
	CHECK(c->property_count >= c->g->spread_count);
}

void candidate_columns_release_properties(struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->row_property_count; i++) {
		free(c->row_properties[i].first_row);
		free(c->row_properties[i].next);
	}
	free(c->row_properties);
	free(c->properties);
	free(c->values);
}

uint32_t candidate_columns_distinct_count(const struct candidate_columns *c)
{
	return c->property_count - c->g->spread_count;
}

static struct bin_value value_of(const struct candidate_columns *c, uint32_t bin, uint32_t property)
{
	CHECK(bin < c->bin_count && property < c->property_count);
	char id[UUID_TEXT_BYTES];
	struct property_set *set = c->properties[property];
	const char *value = property_set_value(set, c->bins[bin].node, id);
	struct bin_value found = {.number = VALUE_NONE};
	if (!value)
		return found;
	found.number = property_set_number(set, value);
	if (property >= candidate_columns_distinct_count(c))
		found.bucket = spread_bucket_of(
			&c->g->spreads[property - candidate_columns_distinct_count(c)], value);
	return found;
}

static const struct bin_value *values_of(const struct candidate_columns *c, uint32_t bin)
{
	return &c->values[(size_t)bin * c->property_count];
}

static uint64_t property_changes(const struct candidate_columns *c)
{
	uint64_t changes = 1;
	for (uint32_t i = 0; i < c->property_count; i++)
		changes += c->properties[i]->changes;
	return changes;
}

static void bin_changed(struct candidate_columns *c, const struct column_bin *bin)
{
	CHECK(bin->first_block + bin->blocks <= c->block_count);
	for (uint32_t i = 0; i < bin->blocks; i++)
		candidate_columns_block_changed(c, bin->first_block + i);
}

// Makes the text anew only when the property that rules the bin out, or how often its value is used, has changed.
static void refresh_refusal(struct candidate_columns *c, uint32_t at)
{
	CHECK(at < c->bin_count);
	struct column_bin *bin = &c->bins[at];
	const struct bin_value *values = values_of(c, at);
	uint32_t refused_by = 0;
	int64_t used = 0;
	for (uint32_t i = 0; i < candidate_columns_distinct_count(c) && !refused_by; i++) {
		const struct property_set *set = c->properties[i];
		used = values[i].number == VALUE_NONE
			       ? set->limit
			       : property_count_left(&set->counts[values[i].number]);
		refused_by = !set->usable || used >= set->limit ? i + 1 : 0;
	}
	if (refused_by == bin->refused_by && (!refused_by || used == bin->refused_at))
		return;
	bin->refused_by = refused_by;
	bin->refused_at = used;
	candidate_columns_set_bin_refusal(c, bin,
		refused_by ? stack_check_property(c->s, c->properties[refused_by - 1], bin->node)
			   : NULL);
	bin_changed(c, bin);
}

static void refresh_refusals(struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->bin_count && candidate_columns_distinct_count(c); i++)
		refresh_refusal(c, i);
}

static int64_t used_of(const struct property_set *set, const struct bin_value *v)
{
	return v->number == VALUE_NONE ? SPREAD_NO_VALUE
				       : property_count_left(&set->counts[v->number]);
}

static double spread_of(struct candidate_columns *c, uint32_t bin, const int64_t *unlisted)
{
	const struct bin_value *values = values_of(c, bin) + candidate_columns_distinct_count(c);
	double sum = 0;
	for (uint32_t i = 0; i < c->g->spread_count; i++) {
		const struct compiled_spread *s = &c->g->spreads[i];
		double boost = spread_boost(
			s, used_of(&s->counts, &values[i]), values[i].bucket, unlisted[i]);
		sum += isnan(boost) ? *c->g->lowest_boost : boost;
	}
	return sum;
}

// How many allocations have unlisted values, by spread; the caller frees.
static int64_t *count_unlisted(const struct candidate_columns *c)
{
	int64_t *unlisted = memory_take_array(c->g->spread_count + 1, sizeof *unlisted);
	for (uint32_t i = 0; i < c->g->spread_count; i++) {
		property_set_settle(&c->g->spreads[i].counts);
		// The lowest boost before any score, for it may be a part of all.
		unlisted[i] = spread_unlisted(&c->g->spreads[i], c->g->lowest_boost);
	}
	return unlisted;
}

static void refresh_spreads(struct candidate_columns *c, const int64_t *unlisted)
{
	for (uint32_t i = 0; i < c->bin_count && c->g->spread_count; i++) {
		double spread = spread_of(c, i, unlisted);
		if (spread == c->bins[i].spread)
			continue;
		c->bins[i].spread = spread;
		bin_changed(c, &c->bins[i]);
	}
}

void candidate_columns_refresh_bins(struct candidate_columns *c)
{
	uint64_t changes = property_changes(c);
	bool is_new = changes != c->properties_seen || *c->g->lowest_boost != c->lowest_seen;
	if (!c->property_count || !is_new)
		return;
	c->properties_seen = changes;
	int64_t *unlisted = count_unlisted(c);
	if (c->fleet) {
		candidate_columns_refresh_finders(c, unlisted);
	} else {
		refresh_refusals(c);
		refresh_spreads(c, unlisted);
	}
	free(unlisted);
	c->lowest_seen = *c->g->lowest_boost;
}

static uint32_t hash_of(const char *value)
{
	return (uint32_t)hash_bytes(0, value, (uint32_t)strlen(value));
}

static void know_rows(const struct candidate_columns *c, struct row_property *p)
{
	CHECK(!p->first_row);
	char id[UUID_TEXT_BYTES];
	p->mask = 15;
	while (p->mask < c->row_count)
		p->mask = p->mask * 2 + 1;
	p->first_row = memory_take_array((size_t)p->mask + 1, sizeof *p->first_row);
	p->next = memory_take_array((size_t)c->row_count + 1, sizeof *p->next);
	memset(p->first_row, 0xff, ((size_t)p->mask + 1) * sizeof *p->first_row);
	for (uint32_t row = 0; row < c->row_count; row++) {
		const char *value = property_set_value(p->set, c->nodes[row], id);
		if (!value)
			continue;
		uint32_t *first = &p->first_row[hash_of(value) & p->mask];
		p->next[row] = *first;
		*first = row;
	}
}

void candidate_columns_know_values(struct candidate_columns *c)
{
	CHECK(!c->values);
	c->values =
		memory_take_array((size_t)c->bin_count * c->property_count + 1, sizeof *c->values);
	for (uint32_t bin = 0; bin < c->bin_count; bin++)
		for (uint32_t i = 0; i < c->property_count; i++)
			c->values[(size_t)bin * c->property_count + i] = value_of(c, bin, i);
	for (uint32_t i = 0; i < c->row_property_count; i++)
		know_rows(c, &c->row_properties[i]);
}

const char *candidate_columns_row_refusal(const struct candidate_columns *c, uint32_t row)
{
	CHECK(row < c->row_count);
	const struct node *n = c->nodes[row];
	char id[UUID_TEXT_BYTES];
	for (uint32_t i = 0; i < c->row_property_count; i++) {
		const struct property_set *set = c->row_properties[i].set;
		const char *value = property_set_value(set, n, id);
		if (!set->usable || !value || property_set_used(set, value) >= set->limit)
			return stack_check_property(c->s, set, n);
	}
	return NULL;
}

void candidate_columns_each_alike(
	struct candidate_columns *c, const struct node *n, candidate_columns_row_visit *visit)
{
	CHECK(visit);
	char id[UUID_TEXT_BYTES], other[UUID_TEXT_BYTES];
	for (uint32_t i = 0; n && i < c->row_property_count; i++) {
		const struct row_property *p = &c->row_properties[i];
		const char *value = property_set_value(p->set, n, id);
		uint32_t row = value ? p->first_row[hash_of(value) & p->mask] : ROW_NONE;
		for (; row != ROW_NONE; row = p->next[row]) {
			const char *its = property_set_value(p->set, c->nodes[row], other);
			if (its && strcmp(its, value) == 0)
				visit(c, row);
		}
	}
}
