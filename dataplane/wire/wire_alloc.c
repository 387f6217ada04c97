#include "dataplane/wire/wire_alloc.h"
#include "dataplane/wire/frame.h"

#define CLIENT_STATUS_MOST 3u // of a report: failed
#define TASK_STATE_MOST 2u    // dead

// How the data of ALLOC_SPEC_REPLY is sealed.
enum { SEAL_NONE, SEAL_XCHACHA20 };

static void take_events(struct bytes_reader *r, struct wire_alloc_update *update, uint8_t count)
{
	if (count > WIRE_UPDATE_EVENTS_MAX - update->event_count) {
		r->failed = true;
		return;
	}
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		struct wire_task_event *event = &update->events[update->event_count++];
		event->type = bytes_take_text8(r);
		event->message = bytes_take_text8(r);
		event->time_ns = (int64_t)bytes_take_u64(r);
		event->exit_code = (int32_t)bytes_take_u32(r);
	}
}

static void take_handle(struct bytes_reader *r, struct wire_task *task)
{
	task->handle_version = 0;
	task->handle = (struct text){0};
	if (!task->has_handle)
		return;
	task->handle_version = bytes_take_u32(r);
	task->handle = bytes_take_text16(r);
	if (task->handle.size > TASK_HANDLE_BYTES_MAX)
		r->failed = true;
}

static void take_tasks(struct bytes_reader *r, struct wire_alloc_update *update, uint8_t count)
{
	if (count > WIRE_UPDATE_TASKS_MAX - update->task_count) {
		r->failed = true;
		return;
	}
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		struct wire_task *task = &update->tasks[update->task_count++];
		task->name = bytes_take_text8(r);
		task->state = bytes_take_u8(r);
		uint8_t flags = bytes_take_u8(r);
		task->failed = flags & WIRE_TASK_FAILED;
		task->has_handle = flags & WIRE_TASK_HANDLE;
		task->restarts = bytes_take_u16(r);
		task->started_ns = (int64_t)bytes_take_u64(r);
		task->finished_ns = (int64_t)bytes_take_u64(r);
		task->last_restart_ns = (int64_t)bytes_take_u64(r);
		take_handle(r, task);
		task->event_count = bytes_take_u8(r);
		if (task->state > TASK_STATE_MOST || flags & ~WIRE_TASK_FLAGS ||
			task->name.size == 0)
			r->failed = true;
		take_events(r, update, task->event_count);
	}
}

bool wire_alloc_update_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_alloc_update *update)
{
	struct bytes_reader r = body_reader(frame, header);
	update->count = bytes_take_u8(&r);
	update->task_count = update->event_count = 0;
	uint8_t reserved = bytes_take_u8(&r);
	reserved |= bytes_take_u16(&r) != 0;
	if (update->count == 0 || update->count > ALLOC_UPDATES_MAX || reserved)
		return false;
	for (uint32_t i = 0; i < update->count && !r.failed; i++) {
		struct wire_alloc_update_item *item = &update->items[i];
		item->allocation = bytes_take_uuid(&r);
		item->client = bytes_take_u8(&r);
		item->healthy = bytes_take_u8(&r);
		item->flags = bytes_take_u8(&r);
		item->task_count = bytes_take_u8(&r);
		item->description = bytes_take_text8(&r);
		if (item->client > CLIENT_STATUS_MOST || item->healthy > WIRE_UNHEALTHY ||
			item->flags & ~WIRE_UPDATE_FLAGS)
			r.failed = true;
		take_tasks(&r, update, item->task_count);
	}
	return body_complete(&r) && header->length >= wire_alloc_updated_bytes(update->count);
}

static void put_event(struct bytes_writer *w, const struct wire_task_event *event)
{
	bytes_put_text8(w, event->type);
	bytes_put_text8(w, event->message);
	bytes_put_u64(w, (uint64_t)event->time_ns);
	bytes_put_u32(w, (uint32_t)event->exit_code);
}

static void put_task(struct bytes_writer *w, const struct wire_task *task)
{
	bytes_put_text8(w, task->name);
	bytes_put_u8(w, task->state);
	bytes_put_u8(w, (uint8_t)((task->failed ? WIRE_TASK_FAILED : 0) |
				  (task->has_handle ? WIRE_TASK_HANDLE : 0)));
	bytes_put_u16(w, task->restarts);
	bytes_put_u64(w, (uint64_t)task->started_ns);
	bytes_put_u64(w, (uint64_t)task->finished_ns);
	bytes_put_u64(w, (uint64_t)task->last_restart_ns);
	if (task->has_handle) {
		bytes_put_u32(w, task->handle_version);
		bytes_put_text16(w, task->handle);
	}
	bytes_put_u8(w, task->event_count);
}

uint32_t wire_alloc_update_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_alloc_update *update)
{
	if (update->count == 0 || update->count > ALLOC_UPDATES_MAX)
		return 0;
	header.type = WIRE_ALLOC_UPDATE;
	struct bytes_writer w = frame_begin(frame, size);
	uint32_t task = 0, event = 0;
	bytes_put_u8(&w, update->count);
	bytes_put_u8(&w, 0);
	bytes_put_u16(&w, 0);
	for (uint32_t i = 0; i < update->count; i++) {
		const struct wire_alloc_update_item *item = &update->items[i];
		bytes_put_uuid(&w, &item->allocation);
		bytes_put_u8(&w, item->client);
		bytes_put_u8(&w, item->healthy);
		bytes_put_u8(&w, item->flags);
		bytes_put_u8(&w, item->task_count);
		bytes_put_text8(&w, item->description);
		for (uint32_t t = 0; t < item->task_count && task < update->task_count; t++) {
			put_task(&w, &update->tasks[task]);
			for (uint32_t e = 0;
				e < update->tasks[task].event_count && event < update->event_count;
				e++)
				put_event(&w, &update->events[event++]);
			task++;
		}
	}
	return frame_end(&w, header, wire_alloc_updated_bytes(update->count));
}

bool wire_alloc_updated_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_alloc_updated *updated)
{
	struct bytes_reader r = body_reader(frame, header);
	updated->index = bytes_take_u64(&r);
	updated->count = bytes_take_u8(&r);
	if (updated->count == 0 || updated->count > ALLOC_UPDATES_MAX)
		return false;
	for (uint32_t i = 0; i < updated->count; i++) {
		updated->known[i] = bytes_take_u8(&r);
		if (updated->known[i] > 1)
			r.failed = true;
	}
	return body_complete(&r);
}

uint32_t wire_alloc_updated_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_alloc_updated *updated)
{
	if (updated->count == 0 || updated->count > ALLOC_UPDATES_MAX)
		return 0;
	header.type = WIRE_ALLOC_UPDATED;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, updated->index);
	bytes_put_u8(&w, updated->count);
	bytes_put(&w, updated->known, updated->count);
	return frame_end(&w, header, 0);
}

static bool count_in_range(uint8_t count)
{
	return count >= 1 && count <= ALLOC_ITEMS_MAX;
}

bool wire_allocs_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_allocs *allocs)
{
	struct bytes_reader r = body_reader(frame, header);
	allocs->since = bytes_take_u64(&r);
	allocs->count = bytes_take_u8(&r);
	return body_complete(&r) && count_in_range(allocs->count) &&
	       header->length >= wire_allocs_reply_bytes(allocs->count);
}

uint32_t wire_allocs_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_allocs *allocs)
{
	if (!count_in_range(allocs->count))
		return 0;
	header.type = WIRE_ALLOCS;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, allocs->since);
	bytes_put_u8(&w, allocs->count);
	return frame_end(
		&w, header, wire_allocs_reply_bytes(allocs->count) + term_bytes(header.flags));
}

bool wire_allocs_reply_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_allocs_reply *reply)
{
	struct bytes_reader r = body_reader(frame, header);
	reply->index = bytes_take_u64(&r);
	reply->count = bytes_take_u8(&r);
	reply->more = bytes_take_u8(&r);
	uint16_t reserved = bytes_take_u16(&r);
	if (reply->count > ALLOC_ITEMS_MAX || reply->more > 1 || reserved != 0)
		return false;
	for (uint32_t i = 0; i < reply->count && !r.failed; i++) {
		struct wire_alloc_item *item = &reply->items[i];
		item->allocation = bytes_take_uuid(&r);
		item->version = bytes_take_u64(&r);
		item->job_index = bytes_take_u64(&r);
		item->desired = bytes_take_u8(&r);
		item->client = bytes_take_u8(&r);
		item->group = bytes_take_u16(&r);
		item->flags = bytes_take_u16(&r);
		if (item->flags & ~WIRE_ALLOC_FLAGS || bytes_take_u16(&r) != 0)
			r.failed = true;
	}
	reply->term = term_take(&r, header);
	return body_complete(&r);
}

uint32_t wire_allocs_reply_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_allocs_reply *reply)
{
	if (reply->count > ALLOC_ITEMS_MAX)
		return 0;
	header.type = WIRE_ALLOCS_REPLY;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, reply->index);
	bytes_put_u8(&w, reply->count);
	bytes_put_u8(&w, reply->more);
	bytes_put_u16(&w, 0);
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct wire_alloc_item *item = &reply->items[i];
		bytes_put_uuid(&w, &item->allocation);
		bytes_put_u64(&w, item->version);
		bytes_put_u64(&w, item->job_index);
		bytes_put_u8(&w, item->desired);
		bytes_put_u8(&w, item->client);
		bytes_put_u16(&w, item->group);
		bytes_put_u16(&w, item->flags);
		bytes_put_u16(&w, 0);
	}
	term_put(&w, &header, reply->term);
	return frame_end(&w, header, 0);
}

static bool bytes_in_range(uint16_t bytes)
{
	return bytes >= 1 && bytes <= WIRE_SPEC_BYTES_MAX;
}

bool wire_alloc_spec_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_alloc_spec *spec)
{
	struct bytes_reader r = body_reader(frame, header);
	spec->allocation = bytes_take_uuid(&r);
	spec->offset = bytes_take_u32(&r);
	spec->bytes = bytes_take_u16(&r);
	uint16_t reserved = bytes_take_u16(&r);
	return body_complete(&r) && reserved == 0 && bytes_in_range(spec->bytes) &&
	       header->length >= wire_alloc_spec_reply_bytes(spec->bytes, header->flags);
}

uint32_t wire_alloc_spec_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_alloc_spec *spec)
{
	if (!bytes_in_range(spec->bytes))
		return 0;
	header.type = WIRE_ALLOC_SPEC;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_uuid(&w, &spec->allocation);
	bytes_put_u32(&w, spec->offset);
	bytes_put_u16(&w, spec->bytes);
	bytes_put_u16(&w, 0);
	return frame_end(&w, header,
		wire_alloc_spec_reply_bytes(spec->bytes, header.flags) + term_bytes(header.flags));
}

bool wire_alloc_spec_reply_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_alloc_spec_reply *reply)
{
	struct bytes_reader r = body_reader(frame, header);
	reply->version = bytes_take_u64(&r);
	reply->total = bytes_take_u32(&r);
	reply->offset = bytes_take_u32(&r);
	reply->bytes = bytes_take_u16(&r);
	uint16_t seal = bytes_take_u16(&r);
	reply->is_sealed = seal == SEAL_XCHACHA20;
	if (reply->is_sealed)
		(void)bytes_take(&r, WIRE_SEAL_NONCE_BYTES);
	reply->data = bytes_take(&r, reply->bytes);
	if (reply->is_sealed)
		(void)bytes_take(&r, WIRE_SEAL_MAC_BYTES);
	reply->term = term_take(&r, header);
	return body_complete(&r) && seal <= SEAL_XCHACHA20 && reply->offset <= reply->total &&
	       reply->bytes <= reply->total - reply->offset;
}

uint32_t wire_alloc_spec_reply_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_alloc_spec_reply *reply)
{
	header.type = WIRE_ALLOC_SPEC_REPLY;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, reply->version);
	bytes_put_u32(&w, reply->total);
	bytes_put_u32(&w, reply->offset);
	bytes_put_u16(&w, reply->bytes);
	bytes_put_u16(&w, reply->is_sealed ? SEAL_XCHACHA20 : SEAL_NONE);
	if (reply->is_sealed)
		bytes_put_zeros(&w, WIRE_SEAL_NONCE_BYTES);
	bytes_put(&w, reply->data, reply->bytes);
	if (reply->is_sealed)
		bytes_put_zeros(&w, WIRE_SEAL_MAC_BYTES);
	term_put(&w, &header, reply->term);
	return frame_end(&w, header, 0);
}
