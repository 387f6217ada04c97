#include "state/snapshot/snapshot_drain.h"

void drain_item_encode(const struct node *n, struct bytes_writer *w)
{
	const struct drain_strategy *drain = n->drain;
	const struct last_drain *last = node_last_drain(n);

	bytes_put_u8(w, drain != NULL);
	if (drain) {
		bytes_put_u64(w, (uint64_t)drain->deadline_ns);
		bytes_put_u64(w, (uint64_t)drain->force_deadline_ns);
		bytes_put_u64(w, (uint64_t)drain->started_at_ns);
		bytes_put_u8(w, drain->ignore_system_jobs);
	}
	bytes_put_u8(w, last != NULL);
	if (last) {
		bytes_put_u64(w, (uint64_t)last->started_at_ns);
		bytes_put_u64(w, (uint64_t)last->updated_at_ns);
		bytes_put_u8(w, last->status);
		drain_meta_encode(last->meta, last->meta_count, w);
	}
}

static bool take_flag(struct bytes_reader *r)
{
	uint8_t flag = bytes_take_u8(r);

	if (flag > 1)
		r->failed = true;
	return flag;
}

bool drain_item_decode(struct drain_item *item, struct bytes_reader *r)
{
	*item = (struct drain_item){.drains = take_flag(r)};
	if (item->drains) {
		item->drain.deadline_ns = (int64_t)bytes_take_u64(r);
		item->drain.force_deadline_ns = (int64_t)bytes_take_u64(r);
		item->drain.started_at_ns = (int64_t)bytes_take_u64(r);
		item->drain.ignore_system_jobs = take_flag(r);
	}
	item->ever_drained = take_flag(r);
	if (!item->ever_drained)
		return !r->failed && !item->drains;
	item->last.started_at_ns = (int64_t)bytes_take_u64(r);
	item->last.updated_at_ns = (int64_t)bytes_take_u64(r);
	item->last.status = bytes_take_u8(r);
	if (r->failed || item->last.status > LAST_DRAIN_CANCELED ||
		!drain_meta_decode(&item->meta, r))
		return false;
	item->last.meta_count = item->meta.count;
	item->last.meta = item->meta.items;
	return true;
}

void drain_item_release(struct drain_item *item)
{
	drain_meta_release(&item->meta);
}
