#include "state/log/entry_record.h"
#include "state/base/error.h"
#include "state/base/schema_table.h"
#include "state/log/entry_parts.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/nodes/node_metadata.h"
#include "state/records/nodes/node_pool.h"
#include "state/records/nodes/vm.h"
#include "state/records/scheduler_config.h"

static const struct record_type *const record_types[] = {
	[STATE_EVALUATIONS] = &evaluation_description,
	[STATE_DEPLOYMENTS] = &deployment_description,
	[STATE_VMS] = &vm_description,
	[STATE_VM_WORKERS] = &vm_worker_description,
	[STATE_CLUSTER_SETTINGS] = &cluster_settings_description,
	[STATE_NODE_POOLS] = &node_pool_description,
	[STATE_NODE_METADATA] = &node_metadata_description,
	[STATE_SCHEDULER_CONFIG] = &scheduler_config_description,
};
_Static_assert(
	sizeof record_types / sizeof record_types[0] == STATE_TABLES, "every kind has a type");

static bool record_kind_is_put(uint8_t kind)
{
	return kind < STATE_TABLES && record_types[kind];
}

static const struct field entry_record_delete_fields[] = {
	{"Kind", FIELD_U8, OF(entry_record_delete, kind)},
	{"ID", FIELD_UUID, OF(entry_record_delete, id)},
	{"Name", FIELD_TEXT, OF(entry_record_delete, name)},
};
DESCRIBE(entry_record_delete_description, entry_record_delete);

void entry_record_put_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_record_put *e = body;

	bytes_put_u8(w, e->kind);
	bytes_put_u8(w, e->settles_mark);
	record_encode(record_types[e->kind], e->record, w);
}

int entry_record_put_decode(void *body, struct bytes_reader *r)
{
	struct entry_record_put *e = body;

	e->kind = bytes_take_u8(r);
	e->settles_mark = flag_decode(r);
	if (r->failed)
		return -ERROR_CORRUPT;
	if (!record_kind_is_put(e->kind))
		return -ERROR_VERSION;
	return record_decode_new(record_types[e->kind], &e->record, r);
}

void entry_record_put_release(void *body)
{
	struct entry_record_put *e = body;

	record_free(record_types[e->kind], e->record);
	e->record = NULL;
}
