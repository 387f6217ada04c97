#include "dataplane/wire/wire_vm.h"
#include "dataplane/wire/frame.h"

#define ITEM_RESERVED_BYTES 7u

static bool count_in_range(uint8_t count)
{
	return count >= 1 && count <= VM_ITEMS_MAX;
}

bool wire_vms_decode(const uint8_t *frame, const struct wire_header *header, struct wire_vms *vms)
{
	struct bytes_reader r = body_reader(frame, header);
	vms->version = bytes_take_u64(&r);
	vms->from = bytes_take_u16(&r);
	vms->count = bytes_take_u8(&r);
	return body_complete(&r) && count_in_range(vms->count) &&
	       header->length >= wire_vms_reply_bytes(vms->count);
}

uint32_t wire_vms_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_vms *vms)
{
	if (!count_in_range(vms->count))
		return 0;
	header.type = WIRE_VMS;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, vms->version);
	bytes_put_u16(&w, vms->from);
	bytes_put_u8(&w, vms->count);
	return frame_end(&w, header, wire_vms_reply_bytes(vms->count) + term_bytes(header.flags));
}

static void take_item(struct bytes_reader *r, struct wire_vm_item *item)
{
	uint8_t reserved = 0;
	item->instance = bytes_take_uuid(r);
	item->version = bytes_take_u64(r);
	item->power = bytes_take_u8(r);
	for (uint32_t i = 0; i < ITEM_RESERVED_BYTES; i++)
		reserved |= bytes_take_u8(r);
	if (reserved != 0 || item->power > WIRE_VM_SUSPENDED)
		r->failed = true;
}

bool wire_vms_reply_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_vms_reply *reply)
{
	struct bytes_reader r = body_reader(frame, header);
	reply->version = bytes_take_u64(&r);
	reply->from = bytes_take_u16(&r);
	reply->count = bytes_take_u8(&r);
	reply->more = bytes_take_u8(&r);
	if (reply->count > VM_ITEMS_MAX || reply->more > 1)
		return false;
	for (uint32_t i = 0; i < reply->count && !r.failed; i++)
		take_item(&r, &reply->items[i]);
	reply->term = term_take(&r, header);
	return body_complete(&r);
}

uint32_t wire_vms_reply_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_vms_reply *reply)
{
	if (reply->count > VM_ITEMS_MAX)
		return 0;
	header.type = WIRE_VMS_REPLY;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_u64(&w, reply->version);
	bytes_put_u16(&w, reply->from);
	bytes_put_u8(&w, reply->count);
	bytes_put_u8(&w, reply->more);
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct wire_vm_item *item = &reply->items[i];
		bytes_put_uuid(&w, &item->instance);
		bytes_put_u64(&w, item->version);
		bytes_put_u8(&w, item->power);
		bytes_put_zeros(&w, ITEM_RESERVED_BYTES);
	}
	term_put(&w, &header, reply->term);
	return frame_end(&w, header, 0);
}
