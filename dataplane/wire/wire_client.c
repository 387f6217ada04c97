// A client's messages: PLACE, RELEASE, STATUS, and their answers.
#include "dataplane/wire/frame.h"
#include "dataplane/wire/wire.h"

static struct text take_client(struct bytes_reader *r)
{
	struct text client = bytes_take_text8(r);
	if (client.size == 0 || client.size > CLIENT_NAME_BYTES_MAX)
		r->failed = true;
	return client;
}

static void put_client(struct bytes_writer *w, struct text client)
{
	if (client.size == 0 || client.size > CLIENT_NAME_BYTES_MAX)
		w->failed = true;
	bytes_put_text8(w, client);
}

static bool count_in_range(uint8_t count)
{
	return count >= 1 && count <= PLACE_COUNT_MAX;
}

static uint8_t take_count(struct bytes_reader *r)
{
	uint8_t count = bytes_take_u8(r);
	if (!count_in_range(count))
		r->failed = true;
	return count;
}

static void put_count(struct bytes_writer *w, uint8_t count)
{
	if (!count_in_range(count))
		w->failed = true;
	bytes_put_u8(w, count);
}

static void take_ids(struct bytes_reader *r, uint8_t count, struct uuid *ids)
{
	for (uint32_t i = 0; i < count && !r->failed; i++)
		ids[i] = bytes_take_uuid(r);
}

static void put_ids(struct bytes_writer *w, uint8_t count, const struct uuid *ids)
{
	for (uint32_t i = 0; i < count && !w->failed; i++)
		bytes_put_uuid(w, &ids[i]);
}

bool wire_client_decode(const uint8_t *frame, const struct wire_header *header, struct text *client)
{
	struct bytes_reader r = body_reader(frame, header);
	*client = take_client(&r);
	return !r.failed;
}

bool wire_place_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_place *place)
{
	struct bytes_reader r = body_reader(frame, header);
	place->client = take_client(&r);
	place->issued_ms = bytes_take_u64(&r);
	place->request = bytes_take_u64(&r);
	place->count = take_count(&r);
	place->namespace_name = bytes_take_text8(&r);
	place->job = bytes_take_text8(&r);
	place->group = bytes_take_text8(&r);
	return body_complete(&r) && header->length >= wire_placed_bytes(place->count);
}

uint32_t wire_place_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_place *place)
{
	header.type = WIRE_PLACE;
	struct bytes_writer w = frame_begin(frame, size);
	put_client(&w, place->client);
	bytes_put_u64(&w, place->issued_ms);
	bytes_put_u64(&w, place->request);
	put_count(&w, place->count);
	bytes_put_text8(&w, place->namespace_name);
	bytes_put_text8(&w, place->job);
	bytes_put_text8(&w, place->group);
	uint32_t reply_bytes = wire_placed_bytes(place->count);
	return frame_end(&w, header,
		reply_bytes > WIRE_PLACE_BYTES_USUAL ? reply_bytes : WIRE_PLACE_BYTES_USUAL);
}

bool wire_placed_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_placed *placed)
{
	struct bytes_reader r = body_reader(frame, header);
	placed->index = bytes_take_u64(&r);
	placed->count = take_count(&r);
	placed->requested = bytes_take_u8(&r);
	uint16_t reserved = bytes_take_u16(&r);
	placed->nodes_feasible = bytes_take_u32(&r);
	for (uint32_t i = 0; i < placed->count && !r.failed; i++) {
		struct wire_placed_item *item = &placed->items[i];
		item->allocation = bytes_take_uuid(&r);
		item->node = bytes_take_uuid(&r);
		item->score = bytes_take_f64(&r);
	}
	return body_complete(&r) && reserved == 0 && placed->count <= placed->requested;
}

uint32_t wire_placed_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_placed *placed)
{
	header.type = WIRE_PLACED;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, placed->index);
	put_count(&w, placed->count);
	bytes_put_u8(&w, placed->requested);
	bytes_put_u16(&w, 0);
	bytes_put_u32(&w, placed->nodes_feasible);
	for (uint32_t i = 0; i < placed->count && !w.failed; i++) {
		const struct wire_placed_item *item = &placed->items[i];
		bytes_put_uuid(&w, &item->allocation);
		bytes_put_uuid(&w, &item->node);
		bytes_put_f64(&w, item->score);
	}
	return frame_end(&w, header, 0);
}

bool wire_release_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_ids *ids)
{
	struct bytes_reader r = body_reader(frame, header);
	ids->client = take_client(&r);
	ids->count = take_count(&r);
	take_ids(&r, ids->count, ids->ids);
	return body_complete(&r) && header->length >= wire_released_bytes(ids->count);
}

uint32_t wire_release_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_ids *ids)
{
	header.type = WIRE_RELEASE;
	struct bytes_writer w = frame_begin(frame, size);
	put_client(&w, ids->client);
	put_count(&w, ids->count);
	put_ids(&w, ids->count, ids->ids);
	return frame_end(&w, header, wire_released_bytes(ids->count));
}

bool wire_released_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_released *released)
{
	struct bytes_reader r = body_reader(frame, header);
	released->index = bytes_take_u64(&r);
	released->count = take_count(&r);
	for (uint32_t i = 0; i < released->count && !r.failed; i++) {
		released->results[i] = bytes_take_u8(&r);
		if (released->results[i] > WIRE_RELEASE_UNKNOWN)
			r.failed = true;
	}
	return body_complete(&r);
}

uint32_t wire_released_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_released *released)
{
	header.type = WIRE_RELEASED;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, released->index);
	put_count(&w, released->count);
	if (!w.failed)
		bytes_put(&w, released->results, released->count);
	return frame_end(&w, header, 0);
}

bool wire_status_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_status *status)
{
	struct bytes_reader r = body_reader(frame, header);
	status->client = take_client(&r);
	status->mode = bytes_take_u8(&r);
	status->count = take_count(&r);
	status->since = 0;
	if (status->mode == WIRE_STATUS_BY_ID)
		take_ids(&r, status->count, status->ids);
	else if (status->mode == WIRE_STATUS_CHANGES)
		status->since = bytes_take_u64(&r);
	else
		return false;
	return body_complete(&r) && header->length >= wire_status_reply_bytes(status->count);
}

uint32_t wire_status_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_status *status)
{
	if (status->mode > WIRE_STATUS_CHANGES)
		return 0;
	header.type = WIRE_STATUS;
	struct bytes_writer w = frame_begin(frame, size);
	put_client(&w, status->client);
	bytes_put_u8(&w, status->mode);
	put_count(&w, status->count);
	if (status->mode == WIRE_STATUS_BY_ID)
		put_ids(&w, status->count, status->ids);
	else
		bytes_put_u64(&w, status->since);
	return frame_end(&w, header, wire_status_reply_bytes(status->count));
}

static void take_status_item(struct bytes_reader *r, struct wire_status_item *item)
{
	item->allocation = bytes_take_uuid(r);
	item->modify_index = bytes_take_u64(r);
	item->desired = bytes_take_u8(r);
	item->client = bytes_take_u8(r);
	item->known = bytes_take_u8(r);
	uint8_t reserved = bytes_take_u8(r);
	item->node_slot = bytes_take_u32(r);
	if (item->known > 1 || reserved != 0)
		r->failed = true;
}

bool wire_status_reply_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_status_reply *reply)
{
	struct bytes_reader r = body_reader(frame, header);
	reply->index = bytes_take_u64(&r);
	reply->count = bytes_take_u8(&r); // no change since: 0
	reply->more = bytes_take_u8(&r);
	uint16_t reserved = bytes_take_u16(&r);
	if (reply->count > PLACE_COUNT_MAX || reply->more > 1 || reserved != 0)
		return false;
	for (uint32_t i = 0; i < reply->count && !r.failed; i++)
		take_status_item(&r, &reply->items[i]);
	return body_complete(&r);
}

uint32_t wire_status_reply_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_status_reply *reply)
{
	if (reply->count > PLACE_COUNT_MAX)
		return 0;
	header.type = WIRE_STATUS_REPLY;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, reply->index);
	bytes_put_u8(&w, reply->count);
	bytes_put_u8(&w, reply->more);
	bytes_put_u16(&w, 0);
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct wire_status_item *item = &reply->items[i];
		bytes_put_uuid(&w, &item->allocation);
		bytes_put_u64(&w, item->modify_index);
		bytes_put_u8(&w, item->desired);
		bytes_put_u8(&w, item->client);
		bytes_put_u8(&w, item->known);
		bytes_put_u8(&w, 0);
		bytes_put_u32(&w, item->node_slot);
	}
	return frame_end(&w, header, 0);
}

// The numbers of a refusal in wire order, from offset 40 on: one list for both directions.
#define REFUSED_NUMBERS 9
static void refused_numbers(struct wire_refused *refused, uint32_t *numbers[REFUSED_NUMBERS])
{
	uint32_t *const list[REFUSED_NUMBERS] = {&refused->nodes_seen, &refused->nodes_not_ready,
		&refused->filtered_datacenter, &refused->filtered_class, &refused->filtered_device,
		&refused->exhausted_cpu, &refused->exhausted_memory, &refused->exhausted_disk,
		&refused->exhausted_device};
	memcpy(numbers, list, sizeof list);
}

static bool take_leader(struct bytes_reader *r, struct wire_refused *refused)
{
	refused->leader.port = bytes_take_u16(r);
	refused->retry_after_ms = bytes_take_u32(r);
	for (uint32_t i = 0; i < sizeof refused->leader.address && refused->leader.port != 0; i++)
		refused->leader.address[i] = bytes_take_u8(r);
	return body_complete(r);
}

static uint32_t encode_not_leader(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_refused *refused)
{
	bool is_said = refused->leader.port != 0 && size >= WIRE_NOT_LEADER_BYTES;
	struct bytes_writer w =
		frame_begin(frame, is_said ? WIRE_NOT_LEADER_BYTES : WIRE_REFUSED_BYTES_MIN);
	bytes_put_u8(&w, refused->request_type);
	bytes_put_u8(&w, refused->reason);
	bytes_put_u16(&w, is_said ? refused->leader.port : 0);
	bytes_put_u32(&w, refused->retry_after_ms);
	for (uint32_t i = 0; i < sizeof refused->leader.address && is_said; i++)
		bytes_put_u8(&w, refused->leader.address[i]);
	return frame_end(&w, header, WIRE_REFUSED_BYTES_MIN);
}

bool wire_refused_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_refused *refused)
{
	memset(refused, 0, sizeof *refused);
	struct bytes_reader r = body_reader(frame, header);
	refused->request_type = bytes_take_u8(&r);
	refused->reason = bytes_take_u8(&r);
	if (refused->reason == WIRE_REFUSED_NOT_LEADER)
		return header->length >= WIRE_REFUSED_BYTES_MIN && take_leader(&r, refused);
	refused->filter_count = bytes_take_u16(&r);
	refused->retry_after_ms = bytes_take_u32(&r);
	refused->value = bytes_take_u64(&r);
	uint32_t *numbers[REFUSED_NUMBERS];
	refused_numbers(refused, numbers);
	for (uint32_t i = 0; i < REFUSED_NUMBERS && bytes_left(&r) > 0; i++)
		*numbers[i] = bytes_take_u32(&r);
	if (refused->filter_count > JOB_CONSTRAINTS_MAX)
		return false;
	for (uint32_t i = 0; i < refused->filter_count; i++)
		refused->filters[i] = bytes_take_u32(&r);
	return body_complete(&r);
}

uint32_t wire_refused_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_refused *refused)
{
	if (size < WIRE_REFUSED_BYTES_MIN || refused->filter_count > JOB_CONSTRAINTS_MAX)
		return 0;
	if (size > FRAME_BYTES_MAX)
		size = FRAME_BYTES_MAX;
	header.type = WIRE_REFUSED;
	if (refused->reason == WIRE_REFUSED_NOT_LEADER)
		return encode_not_leader(frame, size, header, refused);
	struct wire_refused copy = *refused;
	uint32_t room = (size - WIRE_REFUSED_BYTES_MIN) / 4;
	uint32_t number_count = room < REFUSED_NUMBERS ? room : REFUSED_NUMBERS;
	if (copy.filter_count > room - number_count)
		copy.filter_count = (uint16_t)(room - number_count);
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u8(&w, copy.request_type);
	bytes_put_u8(&w, copy.reason);
	bytes_put_u16(&w, copy.filter_count);
	bytes_put_u32(&w, copy.retry_after_ms);
	bytes_put_u64(&w, copy.value);
	uint32_t *numbers[REFUSED_NUMBERS];
	refused_numbers(&copy, numbers);
	for (uint32_t i = 0; i < number_count; i++)
		bytes_put_u32(&w, *numbers[i]);
	for (uint32_t i = 0; i < copy.filter_count; i++)
		bytes_put_u32(&w, copy.filters[i]);
	return frame_end(&w, header, 0);
}
