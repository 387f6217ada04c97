#include "state/log/entry_node.h"
#include "state/base/error.h"

void entry_node_drain_encode(const struct entry_node_drain *e, struct bytes_writer *w)
{
	bytes_put_u32(w, e->slot);
	bytes_put_u32(w, e->generation);
	bytes_put_u8(w, e->end);
	bytes_put_u8(w, e->ignore_system_jobs);
	bytes_put_u8(w, e->mark_eligible);
	bytes_put_u64(w, (uint64_t)e->deadline_ns);
	drain_meta_encode(e->meta.items, e->meta.count, w);
}

int entry_node_drain_decode(struct entry_node_drain *e, struct bytes_reader *r)
{
	e->slot = bytes_take_u32(r);
	e->generation = bytes_take_u32(r);
	e->end = bytes_take_u8(r);
	uint8_t ignores = bytes_take_u8(r), marks = bytes_take_u8(r);
	e->ignore_system_jobs = ignores;
	e->mark_eligible = marks;
	e->deadline_ns = (int64_t)bytes_take_u64(r);
	if (r->failed || ignores > 1 || marks > 1)
		return -ERROR_CORRUPT;
	return drain_meta_decode(&e->meta, r) ? 0 : -ERROR_CORRUPT;
}
