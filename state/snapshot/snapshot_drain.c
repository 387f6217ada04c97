#include "state/snapshot/snapshot_drain.h"
#include "state/log/entry_parts.h"

struct drain_item drain_item_of(const struct node *n)
{
	const struct last_drain *last = node_last_drain(n);

	return (struct drain_item){
		.drains = n->drain != NULL,
		.ever_drained = last != NULL,
		.drain = n->drain ? *n->drain : (struct drain_strategy){0},
		.last = last ? *last : (struct last_drain){0},
		.meta = {last ? last->meta_count : 0,
			last ? (struct attribute *)(uintptr_t)last->meta : NULL},
	};
}

void drain_item_code(struct coder *c, void *value)
{
	struct drain_item *item = value;

	code_flag(c, &item->drains);
	if (item->drains) {
		code_i64(c, &item->drain.deadline_ns);
		code_i64(c, &item->drain.force_deadline_ns);
		code_i64(c, &item->drain.started_at_ns);
		code_flag(c, &item->drain.ignore_system_jobs);
	}
	code_flag(c, &item->ever_drained);
	coder_require(c, item->ever_drained || !item->drains);
	if (!item->ever_drained)
		return;
	code_i64(c, &item->last.started_at_ns);
	code_i64(c, &item->last.updated_at_ns);
	code_u8(c, &item->last.status);
	coder_require(c, item->last.status <= LAST_DRAIN_CANCELED);
	drain_meta_code(c, &item->meta);
	if (c->writer)
		return;
	item->last.meta_count = item->meta.count;
	item->last.meta = item->meta.items;
}
