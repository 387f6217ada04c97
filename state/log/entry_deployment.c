#include "state/log/entry_deployment.h"
#include <stdlib.h>

// The least bytes of one item. They bound a count before memory is taken for it.
#define GROUP_BYTES_LEAST 2u
#define HEALTH_BYTES 17u

static void groups_code(struct coder *c, struct entry_deployment *e)
{
	code_items(c, (void **)&e->groups, &e->count, sizeof e->groups[0], GROUP_BYTES_LEAST);
	for (uint32_t i = 0; i < e->count; i++)
		code_text16(c, &e->groups[i]);
}

static void health_code(struct coder *c, struct entry_deployment *e)
{
	code_items(c, (void **)&e->items, &e->count, sizeof e->items[0], HEALTH_BYTES);
	for (uint32_t i = 0; i < e->count; i++) {
		code_uuid(c, &e->items[i].id);
		code_flag(c, &e->items[i].healthy);
	}
}

void entry_deployment_code(struct coder *c, void *body)
{
	struct entry_deployment *e = body;

	code_u8(c, &e->change);
	code_uuid(c, &e->id);
	switch (e->change) {
	case DEPLOYMENT_CHANGES_STATUS:
		code_u8(c, &e->status);
		code_text16(c, &e->description);
		break;
	case DEPLOYMENT_IS_PROMOTED: groups_code(c, e); break;
	case DEPLOYMENT_HEALTH_IS_SET: health_code(c, e); break;
	default: coder_require(c, false);
	}
}

void entry_deployment_release(void *body)
{
	struct entry_deployment *e = body;

	free(e->groups);
	free(e->items);
	e->groups = NULL;
	e->items = NULL;
	e->count = 0;
}
