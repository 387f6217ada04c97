#include "dataplane/wire/wire.h"
#include "dataplane/wire/little_endian.h"

static const char *const type_names[WIRE_TYPES] = {
	[WIRE_HEARTBEAT] = "HEARTBEAT",
	[WIRE_HEARTBEAT_ACK] = "HEARTBEAT_ACK",
	[WIRE_REGISTER] = "REGISTER",
	[WIRE_REGISTERED] = "REGISTERED",
	[WIRE_GOODBYE] = "GOODBYE",
	[WIRE_GOODBYE_ACK] = "GOODBYE_ACK",
	[WIRE_PLACE] = "PLACE",
	[WIRE_PLACED] = "PLACED",
	[WIRE_RELEASE] = "RELEASE",
	[WIRE_RELEASED] = "RELEASED",
	[WIRE_STATUS] = "STATUS",
	[WIRE_STATUS_REPLY] = "STATUS_REPLY",
	[WIRE_REFUSED] = "REFUSED",
	[WIRE_ALLOC_UPDATE] = "ALLOC_UPDATE",
	[WIRE_ALLOC_UPDATED] = "ALLOC_UPDATED",
	[WIRE_ALLOCS] = "ALLOCS",
	[WIRE_ALLOCS_REPLY] = "ALLOCS_REPLY",
	[WIRE_ALLOC_SPEC] = "ALLOC_SPEC",
	[WIRE_ALLOC_SPEC_REPLY] = "ALLOC_SPEC_REPLY",
	[WIRE_READINESS] = "READINESS",
	[WIRE_READINESS_TAKEN] = "READINESS_TAKEN",
	[WIRE_VMS] = "VMS",
	[WIRE_VMS_REPLY] = "VMS_REPLY",
	[WIRE_NOTIFY] = "NOTIFY",
};

static const char *const refusal_names[WIRE_REFUSED_REASONS] = {
	[WIRE_REFUSED_STALE_GENERATION] = "stale-generation",
	[WIRE_REFUSED_STALE_REGISTRATION] = "stale-registration",
	[WIRE_REFUSED_BAD_REQUEST] = "bad-request",
	[WIRE_REFUSED_UNKNOWN_JOB] = "unknown-job",
	[WIRE_REFUSED_UNKNOWN_GROUP] = "unknown-group",
	[WIRE_REFUSED_NOT_DIRECT] = "not-direct",
	[WIRE_REFUSED_JOB_STOPPED] = "job-stopped",
	[WIRE_REFUSED_NO_NODE] = "no-node",
	[WIRE_REFUSED_TOO_OLD] = "too-old",
	[WIRE_REFUSED_OVERLOADED] = "overloaded",
	[WIRE_REFUSED_TABLE_FULL] = "table-full",
	[WIRE_REFUSED_STORE_FULL] = "store-full",
	[WIRE_REFUSED_STOPPING] = "stopping",
	[WIRE_REFUSED_BAD_DESCRIPTION] = "bad-description",
	[WIRE_REFUSED_NOT_ALLOWED] = "not-allowed",
	[WIRE_REFUSED_UNKNOWN_ALLOCATION] = "unknown-allocation",
	[WIRE_REFUSED_CONFLICT] = "conflict",
	[WIRE_REFUSED_NOT_ADMITTED] = "not-admitted",
	[WIRE_REFUSED_CLIENT_NOT_ALLOWED] = "client-not-allowed",
	[WIRE_REFUSED_NOT_SEALED] = "not-sealed",
	[WIRE_REFUSED_QUOTA] = "quota-exhausted",
	[WIRE_REFUSED_QUARANTINED] = "quarantined",
	[WIRE_REFUSED_NOT_LEADER] = "not-leader",
};

const char *wire_type_name(uint8_t type)
{
	return type < WIRE_TYPES && type_names[type] ? type_names[type] : "?";
}

const char *wire_refusal_name(uint8_t reason)
{
	return reason < WIRE_REFUSED_REASONS && refusal_names[reason] ? refusal_names[reason] : "?";
}

_Static_assert(WIRE_TYPES <= 32, "a type is a bit of types_known");

// Bit t is set when t is a type: one test on the hot path instead of a switch.
static const uint32_t types_known =
	1u << WIRE_HEARTBEAT | 1u << WIRE_HEARTBEAT_ACK | 1u << WIRE_REGISTER |
	1u << WIRE_REGISTERED | 1u << WIRE_GOODBYE | 1u << WIRE_GOODBYE_ACK | 1u << WIRE_PLACE |
	1u << WIRE_PLACED | 1u << WIRE_RELEASE | 1u << WIRE_RELEASED | 1u << WIRE_STATUS |
	1u << WIRE_STATUS_REPLY | 1u << WIRE_REFUSED | 1u << WIRE_ALLOC_UPDATE |
	1u << WIRE_ALLOC_UPDATED | 1u << WIRE_ALLOCS | 1u << WIRE_ALLOCS_REPLY |
	1u << WIRE_ALLOC_SPEC | 1u << WIRE_ALLOC_SPEC_REPLY | 1u << WIRE_READINESS |
	1u << WIRE_READINESS_TAKEN | 1u << WIRE_VMS | 1u << WIRE_VMS_REPLY | 1u << WIRE_NOTIFY;

enum wire_error wire_header_decode(const uint8_t *frame, uint32_t size, struct wire_header *h)
{
	if (size < WIRE_FRAME_BYTES_MIN)
		return WIRE_SHORT;
	if (load16(frame) != WIRE_MAGIC)
		return WIRE_BAD_MAGIC;
	if (frame[2] != WIRE_VERSION)
		return WIRE_BAD_VERSION;
	h->type = frame[3];
	h->length = load16(frame + 4);
	h->key_id = frame[6];
	h->flags = frame[7];
	h->slot = load32(frame + 8);
	h->generation = load32(frame + 12);
	h->sequence = load64(frame + 16);
	if (h->length != size || size > FRAME_BYTES_MAX)
		return WIRE_BAD_LENGTH;
	if (h->type >= WIRE_TYPES || !(types_known >> h->type & 1))
		return WIRE_BAD_TYPE;
	return WIRE_OK;
}

void wire_header_encode(uint8_t *frame, const struct wire_header *h)
{
	store16(frame, WIRE_MAGIC);
	frame[2] = WIRE_VERSION;
	frame[3] = h->type;
	store16(frame + 4, h->length);
	frame[6] = h->key_id;
	frame[7] = h->flags;
	store32(frame + 8, h->slot);
	store32(frame + 12, h->generation);
	store64(frame + 16, h->sequence);
}
