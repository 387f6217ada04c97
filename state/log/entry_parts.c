#include "state/log/entry_parts.h"
#include "state/records/nodes/node_registration.h"

void resources_code(struct coder *c, struct resources *r)
{
	code_u32(c, &r->cpu_mhz);
	code_u32(c, &r->memory_mb);
	code_u32(c, &r->disk_mb);
}

void device_set_code(struct coder *c, void *value)
{
	struct device_set *set = value;
	uint8_t count = NODE_DEVICE_GROUPS_MAX;

	while (c->writer && count && !set->groups[count - 1])
		count--;
	code_u8(c, &count);
	coder_require(c, count <= NODE_DEVICE_GROUPS_MAX);
	if (c->reader)
		*set = (struct device_set){0};
	for (uint8_t i = 0; i < count && (c->writer || coder_has_read(c)); i++)
		code_u64(c, &set->groups[i]);
}

void code_report(struct coder *c, struct alloc_report **report)
{
	if (c->writer)
		alloc_report_encode(*report, c->writer);
	else
		coder_fail(c, alloc_report_decode(report, c->reader));
}

void drain_meta_code(struct coder *c, struct drain_meta *meta)
{
	struct node_pair pairs[NODE_DRAIN_META_MAX];
	uint8_t count = (uint8_t)meta->count;

	code_u8(c, &count);
	coder_require(c, count <= NODE_DRAIN_META_MAX);
	for (uint8_t i = 0; i < count && (c->writer || coder_has_read(c)); i++) {
		if (c->writer)
			pairs[i] = (struct node_pair){.name = text_of(meta->items[i].name),
				.value = text_of(meta->items[i].value)};
		code_text8(c, &pairs[i].name);
		code_text16(c, &pairs[i].value);
	}
	if (coder_has_read(c))
		coder_require(c, drain_meta_take(meta, pairs, count));
}
