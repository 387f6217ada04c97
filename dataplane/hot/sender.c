#include "dataplane/hot/sender.h"
#include <string.h>

bool sender_is_a_slot(uint8_t type)
{
	return type == WIRE_HEARTBEAT || type == WIRE_GOODBYE || type >= WIRE_ALLOC_UPDATE;
}

static int refusal_of_key(enum hot_key found)
{
	if (found == HOT_KEY_FOUND)
		return -1;
	return found == HOT_KEY_REVOKED ? HOT_REFUSED_REVOKED : HOT_REFUSED_UNKNOWN_KEY;
}

// A registration names a node, every other frame a client.
int sender_key_find(struct hot_worker *w, const struct frame *f, const struct wire_header *header,
	struct wire_key *key)
{
	if (header->type == WIRE_REGISTER) {
		if (header->length < WIRE_REGISTER_BYTES_MIN)
			return HOT_REFUSED_FRAME_LENGTH;
		struct uuid node;
		memcpy(&node, f->data + WIRE_HEADER_BYTES, sizeof node);
		return refusal_of_key(w->up.uuid_key(w->up.context, &node, header->key_id, key));
	}
	struct text client;
	if (!wire_client_decode(f->data, header, &client))
		return HOT_REFUSED_FRAME_LENGTH;
	return refusal_of_key(w->up.client_key(w->up.context, client, header->key_id, key));
}
