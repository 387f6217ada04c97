#include "dataplane/hot/receive.h"
#include "dataplane/hot/heartbeat.h"
#include "dataplane/hot/line.h"
#include "dataplane/hot/parse.h"
#include "dataplane/hot/sender.h"
#include "dataplane/wire/little_endian.h"
#include "state/base/check.h"
#include <string.h>

static void hand_on(struct hot_worker *w, const struct frame *f, const struct wire_header *header,
	const struct wire_key *key)
{
	struct hot_frame verified = {
		.packet = f->packet, .offset = f->offset, .header = *header, .key = *key};
	enum packet_verdict verdict = w->up.request(w->up.context, &verified);
	f->packet->verdict = (uint8_t)verdict;
	if (verdict == PACKET_REPLY)
		counter_add(&w->counters->replies, 1);
}

// What a node sent before its goodbye does not bring it back, however late it comes.
static bool goodbye_accept(struct hot_worker *w, const struct frame *f, const struct lane *lane)
{
	if (!lane_accept(w, f, lane))
		return false;
	uint64_t behind = LINE_GET(lane->line->sequence) - load64(f->data + 16);
	LINE_SET(lane->line->window, LINE_GET(lane->line->window) | UINT64_MAX << behind);
	return true;
}

// Receives a node's frames other than REGISTER and the usual heartbeat. A GOODBYE takes part in the replay window of
// heartbeats; reports and questions about allocations may be sent again and are answered again.
static void receive_from_node(
	struct hot_worker *w, const struct frame *f, const struct wire_header *header)
{
	struct lane lane;
	if (!lane_find(w, f, &lane))
		return;
	if (!wire_verify(&lane.key, f->data, header->length)) {
		hot_refuse(w, HOT_REFUSED_BAD_TAG);
		return;
	}
	lane_verified(w, f, &lane);
	if (header->generation != lane.generation)
		lane_refuse(
			w, f, &lane, HOT_REFUSED_STALE_GENERATION, WIRE_REFUSED_STALE_GENERATION);
	else if (header->type == WIRE_HEARTBEAT)
		lane_refuse(w, f, &lane, HOT_REFUSED_BAD_BODY, WIRE_REFUSED_BAD_REQUEST);
	else if (header->type != WIRE_GOODBYE || goodbye_accept(w, f, &lane))
		hand_on(w, f, header, &lane.key);
}

// The watch says in the log who cannot register: with a wrong key a node hears nothing itself.
static void stranger_refuse(struct hot_worker *w, const struct frame *f,
	const struct wire_header *header, enum hot_refusal refusal)
{
	uint64_t id[2];
	hot_refuse(w, refusal);
	bool is_strange = refusal == HOT_REFUSED_BAD_TAG || refusal == HOT_REFUSED_UNKNOWN_KEY;
	if (!is_strange || header->type != WIRE_REGISTER ||
		header->length < WIRE_HEADER_BYTES + sizeof id)
		return;
	memcpy(id, f->data + WIRE_HEADER_BYTES, sizeof id);
	for (int half = 0; half < 2; half++)
		atomic_store_explicit(&w->counters->stranger[half], id[half], memory_order_relaxed);
}

static void receive_from_sender(
	struct hot_worker *w, const struct frame *f, const struct wire_header *header)
{
	struct wire_key key;
	int refusal = sender_key_find(w, f, header, &key);
	if (refusal >= 0)
		stranger_refuse(w, f, header, (enum hot_refusal)refusal);
	else if (!wire_verify(&key, f->data, header->length))
		stranger_refuse(w, f, header, HOT_REFUSED_BAD_TAG);
	else
		hand_on(w, f, header, &key);
}

static void receive_other(struct hot_worker *w, const struct frame *f)
{
	struct wire_header header;
	enum wire_error error = wire_header_decode(f->data, load16(f->data + 4), &header);
	HOT_CHECK(error == WIRE_OK); // the first pass said so
	if (error != WIRE_OK)
		return;
	if (sender_is_a_slot(header.type))
		receive_from_node(w, f, &header);
	else
		receive_from_sender(w, f, &header);
}

// The second and the third pass, in which frames keep their order. Returns the first frame that is still to come.
static uint32_t receive_some(struct hot_worker *w, struct burst *b, uint32_t first)
{
	uint32_t end = heartbeats_tag(w, b, first);
	for (uint32_t i = first; i < end; i++) {
		if (b->frames[i].kind == FRAME_HEARTBEAT)
			continue;
		heartbeats_receive(w, b, &b->frames[i]);
		receive_other(w, &b->frames[i]);
	}
	heartbeats_receive(w, b, &b->frames[end]);
	return end;
}

void hot_receive(struct hot_worker *w, struct packet *packets, uint32_t packet_count)
{
	struct burst b;
	HOT_CHECK(packet_count <= BURST_MAX);
	counter_add(&w->counters->received, packet_count);
	parse_burst(w, packets, packet_count, &b);
	b.acknowledged = b.accepted = 0;
	for (uint32_t i = 0; i < b.count;)
		i = receive_some(w, &b, i);
	counter_add(&w->counters->heartbeats, b.accepted);
	counter_add(&w->counters->replies, b.acknowledged);
}
