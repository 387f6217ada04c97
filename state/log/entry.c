// The stored form of changes. All integers little-endian; text8, text16: a length of that many
// bits, then the characters; uuid: its 16 bytes in text order; f64: IEEE 754.
//
// A batch, the unit of the log:
//	 0 u32 magic        0x54425242 ("BRBT")
//	 4 u16 version      1
//	 6 u16 zero
//	 8 u64 first_index  state index of its first change
//	16 u32 entries      that follow
//	20 u32 indexes      how far they advance the state's index together
//	24 u32 bytes        of the whole batch
//	28 u32 checksum     CRC-32C of bytes 0 … 27 and of everything from 32 on
//	32 entries
//
// An entry advances the state's index by one, and by one more for every allocation that it ends or
// moves, so that each of those has a modify index of its own. It begins:
//	 0 u8  kind         enum entry_kind
//	 1 u8  version      3 for NODE_REGISTER (1 knew the first three kinds of pairs), 2 for NODE_STATUS,
//	                ALLOC_UPDATE and JOB_DEREGISTER, 1 for the others; what a version added says so
//	 2 u32 bytes        that follow
//	 6 i64 time         unix ns at which it was decided
//
// and goes on by kind:
//	TERM            u64 term
//	NODE_REGISTER   u32 slot, u32 generation, u16 owner, u8 whether probes count (since 3), description
//	NODE_STATUS     u32 slot, u32 generation, u8 status, u8 cause, u8 whether probes count (since 2)
//	JOB_REGISTER    the job as described in job.c; version, submit time and indexes are in it
//	JOB_DEREGISTER  u8 purge, text16 namespace, text16 id, u8 enum stop_everywhere (since 2)
//	CLIENT          u32 number, text8 name
//	ALLOC_PLACE     uuid id, u32 slot, u32 generation, u32 client (ffffffff: none), u64 job
//	                version (the index that made it), u16 group, u32 number, u32 cpu, u32
//	                memory, u32 disk, f64 score, u32 nodes evaluated, u32 nodes feasible, device
//	                set
//	PLACE_REQUEST   u32 client, i64 issued_ms, u64 request, u32 nodes feasible, u8 count, then
//	                each: uuid allocation, uuid node, u32 slot, f64 score
//	ALLOC_RELEASE   u8 count, then each: uuid
//	COLLECT         i64 ended_before, i64 issued_before_ms, u32 limit
//	EVALUATION      u8 of the job's mark, the evaluation as described in evaluation.c; its indexes
//	                are in it
//	SCHEDULER_CONFIG  the configuration as described in scheduler_config.c
//	GC              u8 kind (0 allocations, 1 evaluations, 2 jobs, 3 deployments), u32 count, then
//	                each: uuid id, or of a job u64 modify index of its newest version; in ascending
//	                order
//	PLAN            uuid evaluation, u32 metrics, each as described in metrics.c; stops,
//	                preemptions, updates, placements; u8 1 when a deployment follows, the deployment
//	                as described in deployment.c; u32 updates of deployments, each: uuid, u8 enum
//	                deployment_status, text16 description
//	ALLOC_UPDATE    u32 slot, u32 generation, u64 sequence of the node's reports, u8 whether probes
//	                count (since 2), u32 count (0: it told of virtual machines alone), then each, by
//	                ascending id: uuid, u8 client status, u8 healthy (0 not said, 1 no, 2 yes),
//	                u8 flags: 1 when a report follows, and (since 2) 2 flaky, 4 the node is
//	                unready; the report as described in alloc_details.c
//	ALLOC_TRANSITION  u32 count, then each, by ascending id: uuid, u8 two bits each for migrate,
//	                reschedule, force reschedule, no shutdown delay (0 as it was, 1 no, 2 yes)
//	NODE_ELIGIBILITY  u32 slot, u32 generation, u8 enum node_eligibility (2: ineligible, because
//	                it rejected too many plans)
//	NODE_PURGE      u32 slot, u32 generation
//	NODE_DRAIN      u32 slot, u32 generation, u8 enum drain_end, u8 ignores system jobs, u8 marks as
//	                eligible, i64 deadline (ns), u8 count, then each, by name: text8 name, text16
//	                value
//	NODE_LIFECYCLE  u32 count, then each, by ascending slot: u32 slot, u32 generation, u8 enum
//	                lifecycle_cause, how it stands from now on: i64 lost since, i64 flaky since
//	                (unix ns, 0: not), u8 enum node_readiness, u8 flags (1 offlined, 2 forgotten,
//	                4 its probe said no)
//	JOB_STABLE      text16 namespace, text16 id, u64 version, u8 stable
//	JOB_NOTE        text16 namespace, text16 id, i64 launched for (unix ns); of 0: text16 group, the
//	                scaling event as described in job_notes.c
//	VM              u8 enum vm_change, then for one that comes: the machine as described in vm.c; for others text16
//	                name, then by it: u8 enum vm_power; u8 parts (1 u8 enum vm_status, 2 text16 message, 4 u64
//	                observed generation; those that are there follow), u8 conditions, each u8 type, u8 state; u8
//	                enum vm_verdict; text16 worker, uuid instance, u32 cpu, u32 memory, u32 disk
//	VM_WORKER       u8 enum vm_worker_change, then for one that is described: the worker as described in vm.c; for
//	                others text16 name, i64 last seen (unix ns) where it is seen, u8 flag unless it goes
//	CLUSTER_SETTINGS as described in vm.c
//	DEPLOYMENT      u8 enum deployment_change, then by it: the deployment as described in deployment.c;
//	                uuid, u8 enum deployment_status, text16 description; uuid, u32 count, each: text16
//	                group that is promoted; uuid, u32 count, each, by ascending id: uuid allocation, u8
//	                healthy
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
#include "state/base/crc32c.h"
#include "state/base/error.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "state/records/node_description.h"
#include <stdlib.h>

#define BATCH_MAGIC 0x54425242u
#define BATCH_VERSION 1u
#define ENTRY_HEAD_BYTES 6u

static void put_resources(struct bytes_writer *w, struct resources r)
{
	bytes_put_u32(w, r.cpu_mhz);
	bytes_put_u32(w, r.memory_mb);
	bytes_put_u32(w, r.disk_mb);
}

static struct resources take_resources(struct bytes_reader *r)
{
	struct resources taken;

	taken.cpu_mhz = bytes_take_u32(r);
	taken.memory_mb = bytes_take_u32(r);
	taken.disk_mb = bytes_take_u32(r);
	return taken;
}

void device_set_encode(const struct device_set *set, struct bytes_writer *w)
{
	uint8_t count = NODE_DEVICE_GROUPS_MAX;

	while (count && !set->groups[count - 1])
		count--;
	bytes_put_u8(w, count);
	for (uint8_t i = 0; i < count; i++)
		bytes_put_u64(w, set->groups[i]);
}

struct device_set device_set_decode(struct bytes_reader *r)
{
	struct device_set set = {0};
	uint8_t count = bytes_take_u8(r);

	if (count > NODE_DEVICE_GROUPS_MAX)
		r->failed = true;
	for (uint8_t i = 0; i < count && !r->failed; i++)
		set.groups[i] = bytes_take_u64(r);
	return set;
}

// --- A node's description ------------------------------------------------------------------------

void node_description_encode(const struct node_registration *d, struct bytes_writer *w)
{
	bytes_put_uuid(w, &d->node);
	bytes_put_u64(w, d->sequence);
	put_resources(w, d->total);
	put_resources(w, d->reserved);
	bytes_put_text8(w, d->name);
	bytes_put_text8(w, d->datacenter);
	bytes_put_text8(w, d->class_name);
	bytes_put_text8(w, d->pool);
	bytes_put_text8(w, d->address);
	bytes_put_text8(w, d->version);
	bytes_put_u8(w, (uint8_t)d->device_group_count);
	for (uint32_t i = 0; i < d->device_group_count; i++) {
		bytes_put_text8(w, d->device_groups[i].vendor);
		bytes_put_text8(w, d->device_groups[i].type);
		bytes_put_text8(w, d->device_groups[i].name);
		bytes_put_u8(w, d->device_groups[i].instances);
	}
	bytes_put_u16(w, (uint16_t)d->pair_count);
	for (uint32_t i = 0; i < d->pair_count; i++) {
		bytes_put_u8(w, d->pairs[i].kind);
		bytes_put_text8(w, d->pairs[i].name);
		bytes_put_text16(w, d->pairs[i].value);
	}
}

static void take_device_groups(struct node_registration *d, struct bytes_reader *r)
{
	d->device_group_count = bytes_take_u8(r);
	if (d->device_group_count > NODE_DEVICE_GROUPS_MAX)
		r->failed = true;
	for (uint32_t i = 0; i < d->device_group_count && !r->failed; i++) {
		d->device_groups[i].vendor = bytes_take_text8(r);
		d->device_groups[i].type = bytes_take_text8(r);
		d->device_groups[i].name = bytes_take_text8(r);
		d->device_groups[i].instances = bytes_take_u8(r);
	}
}

static void take_pairs(struct node_registration *d, struct bytes_reader *r)
{
	d->pair_count = bytes_take_u16(r);
	if (d->pair_count > NODE_ATTRIBUTES_MAX)
		r->failed = true;
	for (uint32_t i = 0; i < d->pair_count && !r->failed; i++) {
		d->pairs[i].kind = bytes_take_u8(r);
		d->pairs[i].name = bytes_take_text8(r);
		d->pairs[i].value = bytes_take_text16(r);
	}
}

bool node_description_decode(struct node_registration *d, struct bytes_reader *r)
{
	d->node = bytes_take_uuid(r);
	d->sequence = bytes_take_u64(r);
	d->total = take_resources(r);
	d->reserved = take_resources(r);
	d->name = bytes_take_text8(r);
	d->datacenter = bytes_take_text8(r);
	d->class_name = bytes_take_text8(r);
	d->pool = bytes_take_text8(r);
	d->address = bytes_take_text8(r);
	d->version = bytes_take_text8(r);
	take_device_groups(d, r);
	take_pairs(d, r);
	return !r->failed;
}

// --- Entries by kind -----------------------------------------------------------------------------

static void put_alloc_place(const struct entry_alloc_place *p, struct bytes_writer *w)
{
	bytes_put_uuid(w, &p->id);
	bytes_put_u32(w, p->slot);
	bytes_put_u32(w, p->generation);
	bytes_put_u32(w, p->client);
	bytes_put_u64(w, p->job_version);
	bytes_put_u16(w, p->group);
	bytes_put_u32(w, p->number);
	put_resources(w, p->resources);
	bytes_put_f64(w, p->score);
	bytes_put_u32(w, p->nodes_evaluated);
	bytes_put_u32(w, p->nodes_feasible);
	device_set_encode(&p->devices, w);
}

static void take_alloc_place(struct entry_alloc_place *p, struct bytes_reader *r)
{
	p->id = bytes_take_uuid(r);
	p->slot = bytes_take_u32(r);
	p->generation = bytes_take_u32(r);
	p->client = bytes_take_u32(r);
	p->job_version = bytes_take_u64(r);
	p->group = bytes_take_u16(r);
	p->number = bytes_take_u32(r);
	p->resources = take_resources(r);
	p->score = bytes_take_f64(r);
	p->nodes_evaluated = bytes_take_u32(r);
	p->nodes_feasible = bytes_take_u32(r);
	p->devices = device_set_decode(r);
}

void place_request_encode(const struct entry_place_request *p, struct bytes_writer *w)
{
	bytes_put_u32(w, p->client);
	bytes_put_u64(w, (uint64_t)p->issued_ms);
	bytes_put_u64(w, p->request);
	bytes_put_u32(w, p->nodes_feasible);
	bytes_put_u8(w, p->count);
	for (uint8_t i = 0; i < p->count; i++) {
		bytes_put_uuid(w, &p->items[i].allocation);
		bytes_put_uuid(w, &p->items[i].node);
		bytes_put_u32(w, p->items[i].node_slot);
		bytes_put_f64(w, p->items[i].score);
	}
}

static uint8_t take_count(struct bytes_reader *r)
{
	uint8_t count = bytes_take_u8(r);

	if (count == 0 || count > PLACE_COUNT_MAX)
		r->failed = true;
	return count;
}

void place_request_decode(struct entry_place_request *p, struct bytes_reader *r)
{
	p->client = bytes_take_u32(r);
	p->issued_ms = (int64_t)bytes_take_u64(r);
	p->request = bytes_take_u64(r);
	p->nodes_feasible = bytes_take_u32(r);
	p->count = take_count(r);
	for (uint8_t i = 0; i < p->count && !r->failed; i++) {
		p->items[i].allocation = bytes_take_uuid(r);
		p->items[i].node = bytes_take_uuid(r);
		p->items[i].node_slot = bytes_take_u32(r);
		p->items[i].score = bytes_take_f64(r);
	}
}

static void put_body(const struct entry *e, struct bytes_writer *w)
{
	switch (e->kind) {
	case ENTRY_TERM: bytes_put_u64(w, e->term); break;
	case ENTRY_NODE_REGISTER:
		bytes_put_u32(w, e->node_register.slot);
		bytes_put_u32(w, e->node_register.generation);
		bytes_put_u16(w, e->node_register.owner);
		bytes_put_u8(w, e->node_register.readiness);
		node_description_encode(e->node_register.description, w);
		break;
	case ENTRY_NODE_STATUS:
		bytes_put_u32(w, e->node_status.slot);
		bytes_put_u32(w, e->node_status.generation);
		bytes_put_u8(w, e->node_status.status);
		bytes_put_u8(w, e->node_status.cause);
		bytes_put_u8(w, e->node_status.readiness);
		break;
	case ENTRY_JOB_REGISTER:
		record_encode(&job_type_description, e->job_register.job, w);
		break;
	case ENTRY_JOB_DEREGISTER:
		bytes_put_u8(w, e->job_deregister.purge);
		bytes_put_text16(w, e->job_deregister.namespace_name);
		bytes_put_text16(w, e->job_deregister.id);
		bytes_put_u8(w, e->job_deregister.everywhere);
		break;
	case ENTRY_CLIENT:
		bytes_put_u32(w, e->client.number);
		bytes_put_text8(w, e->client.name);
		break;
	case ENTRY_ALLOC_PLACE: put_alloc_place(&e->alloc_place, w); break;
	case ENTRY_PLACE_REQUEST: place_request_encode(&e->place_request, w); break;
	case ENTRY_ALLOC_RELEASE:
		bytes_put_u8(w, e->alloc_release.count);
		for (uint8_t i = 0; i < e->alloc_release.count; i++)
			bytes_put_uuid(w, &e->alloc_release.ids[i]);
		break;
	case ENTRY_COLLECT:
		bytes_put_u64(w, (uint64_t)e->collect.ended_before_ns);
		bytes_put_u64(w, (uint64_t)e->collect.issued_before_ms);
		bytes_put_u32(w, e->collect.limit);
		break;
	case ENTRY_EVALUATION: entry_evaluation_encode(&e->evaluation, w); break;
	case ENTRY_SCHEDULER_CONFIG: entry_scheduler_config_encode(&e->scheduler_config, w); break;
	case ENTRY_GC: entry_gc_encode(&e->gc, w); break;
	case ENTRY_PLAN: entry_plan_encode(&e->plan, w); break;
	case ENTRY_ALLOC_UPDATE: entry_alloc_update_encode(&e->alloc_update, w); break;
	case ENTRY_ALLOC_TRANSITION: entry_alloc_transition_encode(&e->alloc_transition, w); break;
	case ENTRY_NODE_ELIGIBILITY:
		bytes_put_u32(w, e->node_eligibility.slot);
		bytes_put_u32(w, e->node_eligibility.generation);
		bytes_put_u8(w, e->node_eligibility.eligibility);
		break;
	case ENTRY_NODE_PURGE:
		bytes_put_u32(w, e->node_purge.slot);
		bytes_put_u32(w, e->node_purge.generation);
		break;
	case ENTRY_JOB_STABLE: entry_job_stable_encode(&e->job_stable, w); break;
	case ENTRY_JOB_NOTE: entry_job_note_encode(&e->job_note, w); break;
	case ENTRY_DEPLOYMENT: entry_deployment_encode(&e->deployment, w); break;
	case ENTRY_NODE_DRAIN: entry_node_drain_encode(&e->node_drain, w); break;
	case ENTRY_NODE_LIFECYCLE: entry_node_lifecycle_encode(&e->node_lifecycle, w); break;
	case ENTRY_VM: entry_vm_encode(&e->vm, w); break;
	case ENTRY_VM_WORKER: entry_vm_worker_encode(&e->vm_worker, w); break;
	case ENTRY_CLUSTER_SETTINGS: entry_cluster_settings_encode(&e->cluster_settings, w); break;
	case ENTRY_KINDS: w->failed = true; break;
	}
}

static int take_job(struct entry *e, struct bytes_reader *r)
{
	struct job *job = job_create();
	int error = record_decode(&job_type_description, job, r);

	if (!error && !job_derive(job))
		error = -ERROR_CORRUPT;
	if (error) {
		job_free(job);
		return error;
	}
	e->job_register.job = job;
	return 0;
}

static void take_ids(struct entry_alloc_release *release, struct bytes_reader *r)
{
	release->count = take_count(r);
	for (uint8_t i = 0; i < release->count && !r->failed; i++)
		release->ids[i] = bytes_take_uuid(r);
}

// A flag that versions before that one did not have.
static bool take_flag(struct bytes_reader *r, uint8_t version, uint8_t since)
{
	uint8_t flag = version >= since ? bytes_take_u8(r) : 0;

	if (flag > 1)
		r->failed = true;
	return flag;
}

static int take_body(struct entry *e, uint8_t version, struct node_registration *description,
	struct bytes_reader *r)
{
	switch (e->kind) {
	case ENTRY_TERM: e->term = bytes_take_u64(r); break;
	case ENTRY_NODE_REGISTER:
		e->node_register.slot = bytes_take_u32(r);
		e->node_register.generation = bytes_take_u32(r);
		e->node_register.owner = bytes_take_u16(r);
		e->node_register.readiness = take_flag(r, version, 3);
		e->node_register.description = description;
		return node_description_decode(description, r) &&
				       node_description_is_sound(description)
			       ? 0
			       : -ERROR_CORRUPT;
	case ENTRY_NODE_STATUS:
		e->node_status.slot = bytes_take_u32(r);
		e->node_status.generation = bytes_take_u32(r);
		e->node_status.status = bytes_take_u8(r);
		e->node_status.cause = bytes_take_u8(r);
		e->node_status.readiness = take_flag(r, version, 2);
		break;
	case ENTRY_JOB_REGISTER: return take_job(e, r);
	case ENTRY_JOB_DEREGISTER:
		e->job_deregister.purge = bytes_take_u8(r);
		e->job_deregister.namespace_name = bytes_take_text16(r);
		e->job_deregister.id = bytes_take_text16(r);
		e->job_deregister.everywhere = version >= 2 ? bytes_take_u8(r) : STOP_HERE;
		break;
	case ENTRY_CLIENT:
		e->client.number = bytes_take_u32(r);
		e->client.name = bytes_take_text8(r);
		break;
	case ENTRY_ALLOC_PLACE: take_alloc_place(&e->alloc_place, r); break;
	case ENTRY_PLACE_REQUEST: place_request_decode(&e->place_request, r); break;
	case ENTRY_ALLOC_RELEASE: take_ids(&e->alloc_release, r); break;
	case ENTRY_COLLECT:
		e->collect.ended_before_ns = (int64_t)bytes_take_u64(r);
		e->collect.issued_before_ms = (int64_t)bytes_take_u64(r);
		e->collect.limit = bytes_take_u32(r);
		break;
	case ENTRY_EVALUATION: return entry_evaluation_decode(&e->evaluation, r);
	case ENTRY_SCHEDULER_CONFIG: return entry_scheduler_config_decode(&e->scheduler_config, r);
	case ENTRY_GC: return entry_gc_decode(&e->gc, r);
	case ENTRY_PLAN: return entry_plan_decode(&e->plan, r);
	case ENTRY_ALLOC_UPDATE: return entry_alloc_update_decode(&e->alloc_update, version, r);
	case ENTRY_ALLOC_TRANSITION: return entry_alloc_transition_decode(&e->alloc_transition, r);
	case ENTRY_NODE_ELIGIBILITY:
		e->node_eligibility.slot = bytes_take_u32(r);
		e->node_eligibility.generation = bytes_take_u32(r);
		e->node_eligibility.eligibility = bytes_take_u8(r);
		break;
	case ENTRY_NODE_PURGE:
		e->node_purge.slot = bytes_take_u32(r);
		e->node_purge.generation = bytes_take_u32(r);
		break;
	case ENTRY_JOB_STABLE: return entry_job_stable_decode(&e->job_stable, r);
	case ENTRY_JOB_NOTE: return entry_job_note_decode(&e->job_note, r);
	case ENTRY_DEPLOYMENT: return entry_deployment_decode(&e->deployment, r);
	case ENTRY_NODE_DRAIN: return entry_node_drain_decode(&e->node_drain, r);
	case ENTRY_NODE_LIFECYCLE: return entry_node_lifecycle_decode(&e->node_lifecycle, r);
	case ENTRY_VM: return entry_vm_decode(&e->vm, r);
	case ENTRY_VM_WORKER: return entry_vm_worker_decode(&e->vm_worker, r);
	case ENTRY_CLUSTER_SETTINGS: return entry_cluster_settings_decode(&e->cluster_settings, r);
	case ENTRY_KINDS: return -ERROR_VERSION;
	}
	return r->failed ? -ERROR_CORRUPT : 0;
}

static uint8_t newest_version(uint8_t kind)
{
	switch (kind) {
	case ENTRY_NODE_REGISTER: return 3;
	case ENTRY_NODE_STATUS:
	case ENTRY_ALLOC_UPDATE:
	case ENTRY_JOB_DEREGISTER: return 2;
	default: return 1;
	}
}

void entry_encode(const struct entry *e, struct bytes_writer *w)
{
	size_t head = w->size;

	bytes_put_u8(w, (uint8_t)e->kind);
	bytes_put_u8(w, newest_version((uint8_t)e->kind));
	bytes_put_u32(w, 0);
	bytes_put_u64(w, (uint64_t)e->time_ns);
	put_body(e, w);
	if (w->failed)
		return;
	struct bytes_writer size = bytes_writer_over(w->data + head + 2, 4);
	bytes_put_u32(&size, (uint32_t)(w->size - head - ENTRY_HEAD_BYTES));
}

int entry_decode(struct entry *e, struct node_registration *description, struct bytes_reader *r)
{
	uint8_t kind = bytes_take_u8(r);
	uint8_t version = bytes_take_u8(r);
	uint32_t size = bytes_take_u32(r);
	const uint8_t *body = bytes_take(r, size);
	if (!body)
		return -ERROR_CORRUPT;
	if (kind == 0 || kind >= ENTRY_KINDS || version == 0 || version > newest_version(kind))
		return -ERROR_VERSION;

	struct bytes_reader inner = bytes_reader_over(body, size);
	*e = (struct entry){.kind = kind, .time_ns = (int64_t)bytes_take_u64(&inner)};
	int error = take_body(e, version, description, &inner);
	if (error)
		return error;
	if (bytes_left(&inner) == 0 && !inner.failed)
		return 0;
	entry_release(e);
	return -ERROR_CORRUPT;
}

void entry_release(struct entry *e)
{
	switch (e->kind) {
	case ENTRY_JOB_REGISTER:
		job_free(e->job_register.job);
		e->job_register.job = NULL;
		break;
	case ENTRY_EVALUATION:
		evaluation_free(e->evaluation.evaluation);
		e->evaluation.evaluation = NULL;
		break;
	case ENTRY_SCHEDULER_CONFIG:
		free(e->scheduler_config.config);
		e->scheduler_config.config = NULL;
		break;
	case ENTRY_GC: entry_gc_release(&e->gc); break;
	case ENTRY_PLAN: entry_plan_release(&e->plan); break;
	case ENTRY_ALLOC_UPDATE: entry_alloc_update_release(&e->alloc_update); break;
	case ENTRY_ALLOC_TRANSITION: entry_alloc_transition_release(&e->alloc_transition); break;
	case ENTRY_JOB_NOTE: entry_job_note_release(&e->job_note); break;
	case ENTRY_NODE_DRAIN: drain_meta_release(&e->node_drain.meta); break;
	case ENTRY_NODE_LIFECYCLE: entry_node_lifecycle_release(&e->node_lifecycle); break;
	case ENTRY_DEPLOYMENT: entry_deployment_release(&e->deployment); break;
	case ENTRY_VM: entry_vm_release(&e->vm); break;
	case ENTRY_VM_WORKER: entry_vm_worker_release(&e->vm_worker); break;
	case ENTRY_CLUSTER_SETTINGS: entry_cluster_settings_release(&e->cluster_settings); break;
	default: break;
	}
}

// --- Batches -------------------------------------------------------------------------------------

void batch_seal(struct bytes_writer *w, const struct batch_header *header)
{
	struct bytes_writer head = bytes_writer_over(w->data, BATCH_HEADER_BYTES);

	bytes_put_u32(&head, BATCH_MAGIC);
	bytes_put_u16(&head, BATCH_VERSION);
	bytes_put_u16(&head, 0);
	bytes_put_u64(&head, header->first_index);
	bytes_put_u32(&head, header->entries);
	bytes_put_u32(&head, header->indexes);
	bytes_put_u32(&head, (uint32_t)w->size);
	uint32_t sum = crc32c(0, w->data, BATCH_HEADER_BYTES - 4);
	sum = crc32c(sum, w->data + BATCH_HEADER_BYTES, w->size - BATCH_HEADER_BYTES);
	bytes_put_u32(&head, sum);
}

int batch_open(struct bytes_reader *r, struct batch_header *header)
{
	uint32_t magic = bytes_take_u32(r);
	uint16_t version = bytes_take_u16(r);
	uint16_t zero = bytes_take_u16(r);
	header->first_index = bytes_take_u64(r);
	header->entries = bytes_take_u32(r);
	header->indexes = bytes_take_u32(r);
	uint32_t size = bytes_take_u32(r);
	uint32_t stored = bytes_take_u32(r);

	if (r->failed || magic != BATCH_MAGIC)
		return -ERROR_CORRUPT;
	if (version != BATCH_VERSION)
		return -ERROR_VERSION;
	uint32_t sum = crc32c(0, r->data, BATCH_HEADER_BYTES - 4);
	sum = crc32c(sum, r->data + BATCH_HEADER_BYTES, r->size - BATCH_HEADER_BYTES);
	return zero != 0 || size != r->size || sum != stored ? -ERROR_CORRUPT : 0;
}
