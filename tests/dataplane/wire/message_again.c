#include "tests/dataplane/wire/message_again.h"
#include "dataplane/wire/wire_alloc.h"
#include "dataplane/wire/wire_vm.h"

union message {
	struct wire_heartbeat heartbeat;
	struct wire_heartbeat_ack ack;
	struct wire_register reg;
	struct wire_place place;
	struct wire_placed placed;
	struct wire_ids ids;
	struct wire_released released;
	struct wire_status status;
	struct wire_status_reply status_reply;
	struct wire_refused refused;
	struct wire_alloc_update alloc_update;
	struct wire_alloc_updated alloc_updated;
	struct wire_allocs allocs;
	struct wire_allocs_reply allocs_reply;
	struct wire_alloc_spec alloc_spec;
	struct wire_alloc_spec_reply alloc_spec_reply;
	struct wire_readiness readiness;
	struct wire_notify notify;
	uint64_t index;
	struct wire_vms vms;
	struct wire_vms_reply vms_reply;
};

static uint32_t alloc_message_again(
	const uint8_t *frame, const struct wire_header *h, uint8_t *out, uint32_t size)
{
	union message m;
	switch (h->type) {
	case WIRE_ALLOC_UPDATE:
		return wire_alloc_update_decode(frame, h, &m.alloc_update)
			       ? wire_alloc_update_encode(out, size, *h, &m.alloc_update)
			       : 0;
	case WIRE_ALLOC_UPDATED:
		return wire_alloc_updated_decode(frame, h, &m.alloc_updated)
			       ? wire_alloc_updated_encode(out, size, *h, &m.alloc_updated)
			       : 0;
	case WIRE_ALLOCS:
		return wire_allocs_decode(frame, h, &m.allocs)
			       ? wire_allocs_encode(out, size, *h, &m.allocs)
			       : 0;
	case WIRE_ALLOCS_REPLY:
		return wire_allocs_reply_decode(frame, h, &m.allocs_reply)
			       ? wire_allocs_reply_encode(out, size, *h, &m.allocs_reply)
			       : 0;
	case WIRE_ALLOC_SPEC:
		return wire_alloc_spec_decode(frame, h, &m.alloc_spec)
			       ? wire_alloc_spec_encode(out, size, *h, &m.alloc_spec)
			       : 0;
	case WIRE_ALLOC_SPEC_REPLY:
		return wire_alloc_spec_reply_decode(frame, h, &m.alloc_spec_reply)
			       ? wire_alloc_spec_reply_encode(out, size, *h, &m.alloc_spec_reply)
			       : 0;
	default: return 0;
	}
}

static uint32_t node_message_again(
	const uint8_t *frame, const struct wire_header *h, uint8_t *out, uint32_t size)
{
	union message m;
	switch (h->type) {
	case WIRE_READINESS:
		return wire_readiness_decode(frame, h, &m.readiness)
			       ? wire_readiness_encode(out, size, *h, &m.readiness)
			       : 0;
	case WIRE_READINESS_TAKEN:
		return wire_readiness_taken_decode(frame, h, &m.index)
			       ? wire_readiness_taken_encode(out, size, *h, m.index)
			       : 0;
	case WIRE_VMS:
		return wire_vms_decode(frame, h, &m.vms) ? wire_vms_encode(out, size, *h, &m.vms)
							 : 0;
	case WIRE_VMS_REPLY:
		return wire_vms_reply_decode(frame, h, &m.vms_reply)
			       ? wire_vms_reply_encode(out, size, *h, &m.vms_reply)
			       : 0;
	case WIRE_NOTIFY:
		return wire_notify_decode(frame, h, &m.notify)
			       ? wire_notify_encode(out, size, *h, &m.notify)
			       : 0;
	default: return 0;
	}
}

uint32_t message_again(
	const uint8_t *frame, const struct wire_header *h, uint8_t *out, uint32_t size)
{
	union message m;
	switch ((enum wire_type)h->type) {
	case WIRE_HEARTBEAT:
		return wire_heartbeat_decode(frame, &m.heartbeat)
			       ? wire_heartbeat_encode(out, size, *h, &m.heartbeat)
			       : 0;
	case WIRE_HEARTBEAT_ACK:
	case WIRE_REGISTERED:
		return wire_heartbeat_ack_decode(frame, h, &m.ack)
			       ? wire_heartbeat_ack_encode(out, size, *h, &m.ack)
			       : 0;
	case WIRE_REGISTER:
		return wire_register_decode(frame, h, &m.reg)
			       ? wire_register_encode(out, size, *h, &m.reg)
			       : 0;
	case WIRE_GOODBYE:
	case WIRE_GOODBYE_ACK:
		return wire_goodbye_decode(frame, h) ? wire_goodbye_encode(out, size, *h) : 0;
	case WIRE_PLACE:
		return wire_place_decode(frame, h, &m.place)
			       ? wire_place_encode(out, size, *h, &m.place)
			       : 0;
	case WIRE_PLACED:
		return wire_placed_decode(frame, h, &m.placed)
			       ? wire_placed_encode(out, size, *h, &m.placed)
			       : 0;
	case WIRE_RELEASE:
		return wire_release_decode(frame, h, &m.ids)
			       ? wire_release_encode(out, size, *h, &m.ids)
			       : 0;
	case WIRE_RELEASED:
		return wire_released_decode(frame, h, &m.released)
			       ? wire_released_encode(out, size, *h, &m.released)
			       : 0;
	case WIRE_STATUS:
		return wire_status_decode(frame, h, &m.status)
			       ? wire_status_encode(out, size, *h, &m.status)
			       : 0;
	case WIRE_STATUS_REPLY:
		return wire_status_reply_decode(frame, h, &m.status_reply)
			       ? wire_status_reply_encode(out, size, *h, &m.status_reply)
			       : 0;
	case WIRE_REFUSED:
		if (size > h->length)
			size = h->length;
		return wire_refused_decode(frame, h, &m.refused)
			       ? wire_refused_encode(out, size, *h, &m.refused)
			       : 0;
	case WIRE_ALLOC_UPDATE:
	case WIRE_ALLOC_UPDATED:
	case WIRE_ALLOCS:
	case WIRE_ALLOCS_REPLY:
	case WIRE_ALLOC_SPEC:
	case WIRE_ALLOC_SPEC_REPLY: return alloc_message_again(frame, h, out, size);
	case WIRE_READINESS:
	case WIRE_READINESS_TAKEN:
	case WIRE_VMS:
	case WIRE_VMS_REPLY:
	case WIRE_NOTIFY: return node_message_again(frame, h, out, size);
	case WIRE_TYPES: break;
	}
	return 0;
}
