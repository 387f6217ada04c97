#include "state/snapshot/snapshot_allocation.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/entry.h"
#include "state/log/entry_parts.h"
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "state/records/metrics.h"
#include "state/records/plan.h"
#include "state/tables/jobs/alloc_table.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Parts that only some allocations have; stored.
#define ITEM_DETAILS 1u
#define ITEM_REPORT 2u
#define ITEM_METRICS 4u
#define ITEM_PARTS 7u

// Writing: the numbers of metrics, by their address. Reading: the metrics, by number.
struct snapshot_metrics {
	struct slot {
		const struct shared_metrics *metrics; // NULL: empty
		uint32_t number;
	} * slots; // a power of two of them
	uint32_t capacity;
	struct shared_metrics **by_number; // a reference each
	uint32_t count;
	struct alloc_details *details; // a reference: those that were read last
};

struct snapshot_metrics *snapshot_metrics_create(void)
{
	return memory_take(sizeof(struct snapshot_metrics));
}

void snapshot_metrics_free(struct snapshot_metrics *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; m->by_number && i < m->count; i++)
		shared_metrics_release(m->by_number[i]);
	alloc_details_release(m->details);
	free(m->by_number);
	free(m->slots);
	free(m);
}

static struct slot *slot_of(const struct snapshot_metrics *m, const struct shared_metrics *metrics)
{
	uint64_t hash = (uintptr_t)metrics * 0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)(hash >> 32) & (m->capacity - 1);

	while (m->slots[at].metrics && m->slots[at].metrics != metrics)
		at = (at + 1) & (m->capacity - 1);
	return &m->slots[at];
}

static void enlarge_metrics(struct snapshot_metrics *m)
{
	struct slot *old = m->slots;
	uint32_t old_capacity = m->capacity;

	m->capacity = old_capacity ? old_capacity * 2 : 64;
	m->slots = memory_take_array(m->capacity, sizeof m->slots[0]);
	for (uint32_t i = 0; i < old_capacity; i++)
		if (old[i].metrics)
			*slot_of(m, old[i].metrics) = old[i];
	free(old);
}

// Gives metrics a number; whether they are new.
static bool number_metrics(
	struct snapshot_metrics *m, const struct shared_metrics *metrics, uint32_t *number)
{
	if (2 * (m->count + 1) > m->capacity)
		enlarge_metrics(m);
	struct slot *slot = slot_of(m, metrics);
	bool is_new = slot->metrics == NULL;
	if (is_new)
		*slot = (struct slot){metrics, m->count++};
	*number = slot->number;
	return is_new;
}

// Metrics live as long as the snapshot is read, so their address names them. After new ones comes their base.
static void put_metrics(
	struct snapshot_metrics *m, const struct shared_metrics *metrics, struct bytes_writer *w)
{
	for (; metrics; metrics = shared_metrics_base(metrics)) {
		uint32_t number;
		bool is_new = number_metrics(m, metrics, &number);
		bytes_put_u32(w, number);
		if (!is_new)
			return;
		shared_metrics_encode(metrics, w);
	}
}

static int add_metrics(struct snapshot_metrics *m, struct bytes_reader *r)
{
	struct shared_metrics *metrics;
	int error = shared_metrics_decode_after(
		&metrics, m->count ? m->by_number[m->count - 1] : NULL, r);
	if (error)
		return error;
	m->by_number = memory_resize(m->by_number, (m->count + 1) * sizeof m->by_number[0]);
	m->by_number[m->count++] = metrics;
	return 0;
}

// Metrics that come one after the other, each new but the last perhaps, are each other's bases.
static int take_metrics(
	struct snapshot_metrics *m, struct shared_metrics **out, struct bytes_reader *r)
{
	uint32_t numbers[METRICS_BASES_MAX + 1], count = 0;
	int error = 0;

	for (bool is_base = true; is_base && !error; count++) {
		uint32_t number = bytes_take_u32(r);
		bool is_new = number == m->count;
		if (r->failed || number > m->count || count > METRICS_BASES_MAX)
			return -ERROR_CORRUPT;
		if (is_new)
			error = add_metrics(m, r);
		numbers[count] = number;
		is_base = is_new && !error && m->by_number[number]->rests;
	}
	for (uint32_t i = count - 1; i > 0 && !error; i--)
		error = shared_metrics_rest_on(
			m->by_number[numbers[i - 1]], m->by_number[numbers[i]]);
	if (!error)
		*out = shared_metrics_share(m->by_number[numbers[0]]);
	return error;
}

static void put_plain(const struct allocation *a, struct bytes_writer *w)
{
	bytes_put_uuid(w, &a->id);
	bytes_put_u64(w, a->record.create_index);
	bytes_put_u64(w, a->record.modify_index);
	bytes_put_u64(w, a->alloc_modify_index);
	bytes_put_u64(w, a->job->record.modify_index);
	bytes_put_u32(w, a->node_slot);
	bytes_put_u32(w, a->client);
	bytes_put_u16(w, a->group);
	bytes_put_u32(w, a->index);
	bytes_put_u8(w, a->desired);
	bytes_put_u8(w, a->client_status);
	bytes_put_u8(w, a->end_cause);
	bytes_put_u32(w, a->resources.cpu_mhz);
	bytes_put_u32(w, a->resources.memory_mb);
	bytes_put_u32(w, a->resources.disk_mb);
	bytes_put_f64(w, a->score);
	bytes_put_u32(w, a->nodes_evaluated);
	bytes_put_u32(w, a->nodes_feasible);
	bytes_put_u64(w, (uint64_t)a->create_time_ns);
	bytes_put_u64(w, (uint64_t)a->modify_time_ns);
	coder_write(device_set_code, allocation_devices(a), w);
}

static bool has_details(const struct allocation *a)
{
	return a->details || a->health.is_there;
}

static void put_details(const struct allocation *a, struct bytes_writer *w)
{
	const size_t from = offsetof(struct alloc_details, previous_allocation);
	struct alloc_deployment_status health = a->health;
	struct alloc_details details = {0};

	if (a->details) // but for its references, which others count meanwhile
		memcpy((char *)&details + from, (const char *)a->details + from,
			sizeof details - from);
	if (a->health.is_there)
		details.deployment_status = &health;
	record_encode(&alloc_details_description, &details, w);
}

static bool details_are_empty(const struct alloc_details *details)
{
	static const struct alloc_details empty;
	return record_equal(&alloc_details_description, details, &empty);
}

// Allocations that follow each other mostly have the same details, but each has a health of its own.
static int take_details(struct allocation *a, struct snapshot_metrics *m, struct bytes_reader *r)
{
	int error = alloc_details_decode(&a->details, r);

	if (error)
		return error;
	if (a->details->deployment_status) {
		a->health = *a->details->deployment_status;
		a->health.is_there = true;
		free(a->details->deployment_status);
		a->details->deployment_status = NULL;
		if (details_are_empty(a->details)) {
			alloc_details_release(a->details);
			a->details = NULL;
			return 0;
		}
	}
	a->details = alloc_details_unite(a->details, m->details);
	if (a->details != m->details) {
		alloc_details_release(m->details);
		m->details = alloc_details_share(a->details);
	}
	return 0;
}

void allocation_item_encode(
	const struct allocation *a, struct snapshot_metrics *metrics, struct bytes_writer *w)
{
	uint8_t parts = (uint8_t)((has_details(a) ? ITEM_DETAILS : 0) |
				  (a->report ? ITEM_REPORT : 0) | (a->metrics ? ITEM_METRICS : 0));

	put_plain(a, w);
	bytes_put_u8(w, a->client_text);
	bytes_put_uuid(w, &a->eval_id);
	if (a->node_slot == NODE_SLOT_NONE)
		bytes_put_uuid(w, &a->node_id);
	bytes_put_u8(w, parts);
	if (has_details(a))
		put_details(a, w);
	if (a->report)
		alloc_report_encode(a->report, w);
	if (a->metrics)
		put_metrics(metrics, a->metrics, w);
}

static uint64_t take_plain(struct allocation *a, uint8_t *cause, struct bytes_reader *r)
{
	a->id = bytes_take_uuid(r);
	a->record.create_index = bytes_take_u64(r);
	a->record.modify_index = bytes_take_u64(r);
	a->alloc_modify_index = bytes_take_u64(r);
	uint64_t version = bytes_take_u64(r);
	a->node_slot = bytes_take_u32(r);
	a->client = bytes_take_u32(r);
	a->group = bytes_take_u16(r);
	a->index = bytes_take_u32(r);
	a->desired = bytes_take_u8(r);
	a->client_status = bytes_take_u8(r);
	*cause = bytes_take_u8(r);
	a->resources.cpu_mhz = bytes_take_u32(r);
	a->resources.memory_mb = bytes_take_u32(r);
	a->resources.disk_mb = bytes_take_u32(r);
	a->score = bytes_take_f64(r);
	a->nodes_evaluated = bytes_take_u32(r);
	a->nodes_feasible = bytes_take_u32(r);
	a->create_time_ns = (int64_t)bytes_take_u64(r);
	a->modify_time_ns = (int64_t)bytes_take_u64(r);
	struct device_set devices;
	(void)coder_read(device_set_code, &devices, r); // a failure is the reader's
	allocation_set_devices(a, &devices);
	return version;
}

static int take_parts(struct allocation *a, struct snapshot_metrics *m, struct bytes_reader *r)
{
	uint8_t parts = bytes_take_u8(r);
	int error = r->failed || (parts & ~ITEM_PARTS) ? -ERROR_CORRUPT : 0;

	if (!error && parts & ITEM_DETAILS)
		error = take_details(a, m, r);
	if (!error && parts & ITEM_REPORT)
		error = alloc_report_decode(&a->report, r);
	if (!error && parts & ITEM_METRICS)
		error = take_metrics(m, &a->metrics, r);
	return error;
}

static int take_rest(
	struct allocation *a, uint8_t cause, struct snapshot_metrics *m, struct bytes_reader *r)
{
	uint8_t text = bytes_take_u8(r);

	a->eval_id = bytes_take_uuid(r);
	if (a->node_slot == NODE_SLOT_NONE)
		a->node_id = bytes_take_uuid(r);
	int error = take_parts(a, m, r);
	if (error || r->failed || text >= CLIENT_TEXTS || cause >= END_CAUSES)
		return error ? error : -ERROR_CORRUPT;
	allocation_describe(a, cause, text);
	return 0;
}

int allocation_item_decode(
	struct allocation_item *item, struct snapshot_metrics *metrics, struct bytes_reader *r)
{
	uint8_t cause;

	item->allocation = allocation_create();
	item->job_version = take_plain(item->allocation, &cause, r);
	int error = r->failed ? -ERROR_CORRUPT : take_rest(item->allocation, cause, metrics, r);
	if (error) {
		allocation_free(item->allocation);
		item->allocation = NULL;
	}
	return error;
}
