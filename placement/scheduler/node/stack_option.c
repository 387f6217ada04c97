// Combines scores, and adds options to metrics.
#include "placement/scheduler/node/stack_option.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <string.h>

void option_begin(struct stack_option *o, const struct node *n)
{
	*o = (struct stack_option){.slot = n ? n->slot : NODE_SLOT_NONE, .node = n, .reason = ""};
}

void option_record(struct stack_option *o, enum score_kind kind, double score)
{
	CHECK(kind < SCORE_KINDS);
	o->scores[kind] = score;
	o->recorded |= (uint8_t)(1u << kind);
	o->shown |= (uint8_t)(1u << kind);
}

void option_settle(struct stack_option *o)
{
	double sum = 0;
	uint32_t count = 0;
	for (uint32_t kind = 0; kind < SCORE_KINDS; kind++)
		if (o->recorded >> kind & 1) {
			sum += o->scores[kind];
			count++;
		}
	o->score = count ? sum / count : 0;
}

bool option_is_better(const struct stack_option *o, const struct stack_option *than)
{
	if (o->scores[SCORE_SNAPSHOT] != than->scores[SCORE_SNAPSHOT])
		return o->scores[SCORE_SNAPSHOT] > than->scores[SCORE_SNAPSHOT];
	return o->score > than->score;
}

bool stack_option_is_plain(const struct stack_option *o)
{
	return o->outcome == STACK_FITS && o->shown == 1u << SCORE_BINPACK;
}

static void put_scores(const struct stack_option *o, struct node_score *to)
{
	CHECK(o->node);
	*to = (struct node_score){.node_id = o->node->id, .norm_score = o->score};
	for (uint32_t left = o->shown; left; left &= left - 1) {
		enum score_kind kind = (enum score_kind)__builtin_ctz(left);
		node_score_put(to, kind, o->scores[kind]);
	}
}

static bool is_better_than_kept(const struct stack_option *o, const struct node_score *kept)
{
	double snapshot = node_score_get(kept, SCORE_SNAPSHOT);
	if (o->scores[SCORE_SNAPSHOT] != snapshot)
		return o->scores[SCORE_SNAPSHOT] > snapshot;
	return o->score > kept->norm_score;
}

void option_keep_scores(const struct stack_option *o, struct array *kept)
{
	CHECK(kept->count <= SCORES_KEPT);
	uint32_t at = kept->count;
	while (at > 0 && is_better_than_kept(o, ARRAY_AT(kept, struct node_score, at - 1)))
		at--;
	if (at == SCORES_KEPT)
		return;
	if (kept->count == SCORES_KEPT)
		kept->count--;
	if (!kept->items)
		kept->items = memory_resize(NULL, SCORES_KEPT * sizeof(struct node_score));
	struct node_score *items = kept->items;
	kept->count++;
	memmove(&items[at + 1], &items[at], (kept->count - 1 - at) * sizeof *items);
	put_scores(o, &items[at]);
	CHECK(kept->count <= SCORES_KEPT);
}

void stack_count(const struct stack_option *o, struct alloc_metrics *m)
{
	CHECK(o->outcome == STACK_FITS || o->reason[0]);
	const char *class_name = o->node ? o->node->node_class->class_name : NULL; // may be gone
	bool has_class = class_name && class_name[0];
	m->nodes_evaluated++;
	switch (o->outcome) {
	case STACK_FITS: option_keep_scores(o, &m->score_metadata); break;
	case STACK_FILTERED:
		m->nodes_filtered++;
		count_add(&m->constraint_filtered, o->reason, 1);
		if (has_class)
			count_add(&m->class_filtered, class_name, 1);
		break;
	case STACK_EXHAUSTED:
		m->nodes_exhausted++;
		count_add(&m->dimension_exhausted, o->reason, 1);
		if (has_class)
			count_add(&m->class_exhausted, class_name, 1);
	}
}

void stack_count_exhausted(
	const struct task_group *group, int64_t instances, struct alloc_metrics *m)
{
	bool cpu = count_get(&m->dimension_exhausted, "cpu") > 0;
	bool memory = count_get(&m->dimension_exhausted, "memory") > 0;
	for (uint32_t i = 0; i < group->tasks.count && (cpu || memory); i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		struct exhausted_resources *entry =
			map_item(&m->resources_exhausted, sizeof *entry, task->name);
		entry->cpu += cpu ? instances * task->resources.cpu : 0;
		entry->memory_mb += memory ? instances * task->resources.memory_mb : 0;
	}
}
