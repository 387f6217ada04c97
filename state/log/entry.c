// The stored form of changes. All integers little-endian; text8, text16: a length of that many
// bits, then the characters; uuid: its 16 bytes in text order; f64: IEEE 754.
//
// An entry advances the state's index by one, and by one more for every allocation that it ends or
// moves, so that each of those has a modify index of its own. It begins:
//	 0 u8  kind         enum entry_kind
//	 1 u8  version      1
//	 2 u32 bytes        that follow
//	 6 i64 time         unix ns at which it was decided
//
// and goes on by kind. {…}: a record, whose fields are in the table of its file as state/base/schema.h tells:
//	TERM            {term}
//	NODE_REGISTER   u32 slot, u32 generation, u16 owner, u8 whether probes count, description
//	NODE_STATUS     {slot, generation, enum node_status, enum node_status_cause, whether probes count}
//	NODE_LIFECYCLE  u32 count, then each, by ascending slot: u32 slot, u32 generation, u8 enum
//	                standing_cause, how it stands from now on: i64 lost since, i64 flaky since
//	                (unix ns, 0: not), u8 enum node_readiness, u8 flags (1 offlined, 2 forgotten,
//	                4 its probe said no)
//	NODE_ELIGIBILITY  {slot, generation, enum node_eligibility (2: ineligible, because it rejected too many plans)}
//	NODE_DRAIN      u32 slot, u32 generation, u8 enum drain_end, u8 ignores system jobs, u8 marks as
//	                eligible, i64 deadline (ns), u8 count, then each, by name: text8 name, text16
//	                value
//	NODE_PURGE      {slot, generation}
//	JOB_REGISTER    {the job as described in job_description.c; version, submit time and indexes are in it}
//	JOB_DEREGISTER  {namespace, id, purge, enum stop_everywhere}
//	JOB_STABLE      {namespace, id, version, stable}
//	JOB_NOTE        text16 namespace, text16 id, i64 launched for (unix ns); of 0: text16 group, {the
//	                scaling event as described in job_notes.c}
//	CLIENT          {number, name}
//	ALLOC_PLACE     uuid id, u32 slot, u32 generation, u32 client (ffffffff: none), u64 job
//	                version (the index that made it), u16 group, u32 number, u32 cpu, u32
//	                memory, u32 disk, f64 score, u32 nodes evaluated, u32 nodes feasible, device
//	                set
//	PLACE_REQUEST   u32 client, i64 issued_ms, u64 request, u32 nodes feasible, u8 count, then
//	                each: uuid allocation, uuid node, u32 slot, f64 score
//	ALLOC_RELEASE   u8 count, then each: uuid
//	PLACE_IN_PART   u8 how many were requested, more than were placed, then as PLACE_REQUEST
//	COLLECT         {ended before (unix ns), issued before (unix ms), limit}
//	ALLOC_UPDATE    u32 slot, u32 generation, u64 sequence of the node's reports, u8 whether probes
//	                count, u32 count (0: it told of virtual machines alone), then each, by
//	                ascending id: uuid, u8 client status, u8 healthy (0 not said, 1 no, 2 yes),
//	                u8 flags: 1 a report follows, 2 flaky, 4 the node is unready; {the report as
//	                described in alloc_details.c}
//	ALLOC_TRANSITION  u32 count, then each, by ascending id: uuid, u8 two bits each for migrate,
//	                reschedule, force reschedule, no shutdown delay (0 as it was, 1 no, 2 yes)
//	PLAN            uuid evaluation, u32 metrics, each {as described in metrics.c}, whose Back counts
//	                metrics before it; stops,
//	                preemptions, updates, placements; u8 1 when a deployment follows, {the deployment
//	                as described in deployment.c}; u32 updates of deployments, each: uuid, u8 enum
//	                deployment_status, text16 description
//	DEPLOYMENT      u8 enum deployment_change, uuid, then by it: u8 enum deployment_status, text16
//	                description; u32 count, each: text16 group that is promoted; u32 count, each, by
//	                ascending id: uuid allocation, u8 healthy
//	VM              u8 enum vm_change, text16 name, then by it: u8 enum vm_power; u8 parts (1 u8 enum vm_status,
//	                2 text16 message, 4 u64 observed generation; those that are there), u8 conditions, each u8
//	                type, u8 state; u8 enum vm_verdict; text16 worker, uuid instance, u32 cpu, u32 memory, u32 disk
//	RECORD_PUT      u8 enum state_table, u8 whether its job's mark is settled with it, {the record as described for
//	                its kind}
//	RECORD_DELETE   {enum state_table, id, name}
//	GC              u8 kind (0 allocations, 1 evaluations, 2 jobs, 3 deployments, 4 evaluations that an
//	                operator wants gone), u32 count, then
//	                each: uuid id, or of a job u64 modify index of its newest version; in ascending
//	                order
//	NODE_AWAITED    as NODE_REGISTER, which nothing writes any more: it made a node ready without a heartbeat
//
// stops, preemptions: u32 count, then each: uuid, u8 enum stop_cause, u8 parts (1 follow-up, 2
//	preempting, 4 lost), uuid follow-up evaluation, uuid preempting allocation
// updates: u32 count, then each: uuid, u8 client status (ff: as it was), u8 parts, then the parts
// placements: u32 count, then each: uuid, u32 slot, f64 score, u8 parts, then the parts
// parts, where they are not those of the update or placement before (at first all 0, no metrics):
//	1 u64 job version, 2 u16 group, 4 u32 index in the name, 8 u32 cpu, u32 memory, u32 disk,
//	16 device set, 32 u32 number of the metrics (ffffffff: none); and 64 details as described
//	in alloc_details.c, 128 of a placement the report as described there, which are never those
//	before
//
// device set: u8 groups, then for each u64 bits; trailing empty groups are left out.
// description: uuid node, u64 sequence, u32 cpu, u32 memory, u32 disk, the same three reserved,
//	text8 name, text8 datacenter, text8 class, text8 pool, text8 address, text8 version,
//	u8 device groups, each: text8 vendor, text8 type, text8 name, u8 instances;
//	u16 pairs, each: u8 enum pair_kind, text8 name, text16 value (node_pairs.h);
//	groups and pairs are sorted, each is there once
#include "state/log/entry.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include <stddef.h>
#include <string.h>

#define ENTRY_VERSION 1u
#define ENTRY_HEAD_BYTES 6u

static const struct field term_fields[] = {
	{"Term", FIELD_U64, 0},
};
static const struct record_type term_type = {"term", sizeof(uint64_t), term_fields, 1};

struct entry_codec {
	const struct record_type *fields; // of a body that is a record; NULL: code is there
	coder_function *code;
	size_t bytes;                // of such a body
	void (*release)(void *body); // NULL: it owns nothing
};

#define OWN(name) entry_##name##_code, sizeof(struct entry_##name)

static const struct entry_codec codecs[] = {
	[ENTRY_TERM] = {&term_type},
	[ENTRY_NODE_REGISTER] = {NULL, OWN(node_register)},
	[ENTRY_NODE_STATUS] = {&entry_node_status_description},
	[ENTRY_NODE_STANDING] = {NULL, OWN(node_standing), entry_node_standing_release},
	[ENTRY_NODE_ELIGIBILITY] = {&entry_node_eligibility_description},
	[ENTRY_NODE_DRAIN] = {NULL, OWN(node_drain), entry_node_drain_release},
	[ENTRY_NODE_PURGE] = {&entry_node_purge_description},
	[ENTRY_JOB_REGISTER] = {NULL, OWN(job_register), entry_job_register_release},
	[ENTRY_JOB_DEREGISTER] = {&entry_job_deregister_description},
	[ENTRY_JOB_STABLE] = {&entry_job_stable_description},
	[ENTRY_JOB_NOTE] = {NULL, OWN(job_note), entry_job_note_release},
	[ENTRY_CLIENT] = {&entry_client_description},
	[ENTRY_ALLOC_PLACE] = {NULL, OWN(alloc_place)},
	[ENTRY_PLACE_REQUEST] = {NULL, OWN(place_request)},
	[ENTRY_ALLOC_RELEASE] = {NULL, OWN(alloc_release)},
	[ENTRY_COLLECT] = {&entry_collect_description},
	[ENTRY_ALLOC_UPDATE] = {NULL, OWN(alloc_update), entry_alloc_update_release},
	[ENTRY_ALLOC_TRANSITION] = {NULL, OWN(alloc_transition), entry_alloc_transition_release},
	[ENTRY_PLAN] = {NULL, OWN(plan), entry_plan_release},
	[ENTRY_DEPLOYMENT] = {NULL, OWN(deployment), entry_deployment_release},
	[ENTRY_VM] = {NULL, OWN(vm)},
	[ENTRY_RECORD_PUT] = {NULL, OWN(record_put), entry_record_put_release},
	[ENTRY_RECORD_DELETE] = {&entry_record_delete_description},
	[ENTRY_GC] = {NULL, OWN(gc), entry_gc_release},
	[ENTRY_PLACE_IN_PART] = {NULL, entry_place_in_part_code,
		sizeof(struct entry_place_request)},
	[ENTRY_NODE_AWAITED] = {NULL, entry_node_awaited_code, sizeof(struct entry_node_register)},
	[ENTRY_VM_NOTED] = {NULL, entry_vm_noted_code, sizeof(struct entry_vm)},
};
_Static_assert(sizeof codecs / sizeof codecs[0] == ENTRY_KINDS, "every kind has its row");

static const struct entry_codec *codec_of(const struct entry *e)
{
	CHECK(e->kind > 0 && e->kind < ENTRY_KINDS);
	return &codecs[e->kind];
}

void entry_encode(const struct entry *e, struct bytes_writer *w)
{
	const struct entry_codec *codec = codec_of(e);
	size_t head = w->size;

	bytes_put_u8(w, (uint8_t)e->kind);
	bytes_put_u8(w, ENTRY_VERSION);
	bytes_put_u32(w, 0);
	bytes_put_u64(w, (uint64_t)e->time_ns);
	if (codec->fields)
		record_encode(codec->fields, e->body, w);
	else
		coder_write(codec->code, e->body, w);
	if (w->failed)
		return;
	struct bytes_writer size = bytes_writer_over(w->data + head + 2, 4);
	bytes_put_u32(&size, (uint32_t)(w->size - head - ENTRY_HEAD_BYTES));
}

static size_t body_bytes(const struct entry *e)
{
	const struct entry_codec *codec = codec_of(e);
	return codec->fields ? codec->fields->size : codec->bytes;
}

// Most requests ask for few of the instances that there is room for.
size_t entry_bytes(const struct entry *e)
{
	if (e->kind == ENTRY_PLACE_REQUEST || e->kind == ENTRY_PLACE_IN_PART)
		return offsetof(struct entry, place_request.items) +
		       e->place_request.count * sizeof e->place_request.items[0];
	return offsetof(struct entry, body) + body_bytes(e);
}

int entry_decode(struct entry *e, struct node_registration *description, struct bytes_reader *r)
{
	uint8_t kind = bytes_take_u8(r);
	uint8_t version = bytes_take_u8(r);
	uint32_t size = bytes_take_u32(r);
	const uint8_t *body = bytes_take(r, size);
	if (!body)
		return -ERROR_CORRUPT;
	if (kind == 0 || kind >= ENTRY_KINDS || version != ENTRY_VERSION)
		return -ERROR_VERSION;

	struct bytes_reader inner = bytes_reader_over(body, size);
	e->kind = kind;
	e->time_ns = (int64_t)bytes_take_u64(&inner);
	memset(e->body, 0, body_bytes(e));
	if (entry_is_registration(e))
		e->node_register.description = description;
	const struct entry_codec *codec = codec_of(e);
	int error = codec->fields ? record_decode(codec->fields, e->body, &inner)
				  : coder_read(codec->code, e->body, &inner);
	if (!error && bytes_left(&inner) > 0)
		error = -ERROR_CORRUPT;
	if (error)
		entry_release(e);
	return error;
}

void entry_release(struct entry *e)
{
	const struct entry_codec *codec = codec_of(e);

	if (codec->release)
		codec->release(e->body);
}
