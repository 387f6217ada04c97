#include "dataplane/hot/heartbeat.h"
#include "dataplane/hot/line.h"
#include "dataplane/hot/liveness.h"
#include "dataplane/hot/reply.h"
#include "dataplane/hot/source.h"
#include "dataplane/wire/little_endian.h"

static inline bool find_lane(struct hot_worker *w, const struct frame *f, struct lane *lane)
{
	lane->frame = f;
	lane->slot = load32(f->data + 8);
	lane->line = node_table_line(w->table, lane->slot);
	lane->generation = lane->line == NULL ? 0
					      : atomic_load_explicit(&lane->line->generation,
							memory_order_acquire);
	if (lane->generation == 0) {
		hot_refuse(w, HOT_REFUSED_UNKNOWN_SLOT);
		return false;
	}
	uint8_t key_id = f->data[6];
	if (LINE_GET(lane->line->key_id) == key_id) {
		lane->key.k[0] = LINE_GET(lane->line->key[0]);
		lane->key.k[1] = LINE_GET(lane->line->key[1]);
		return true;
	}
	enum hot_key found =
		w->up.node_key(w->up.context, lane->slot, lane->generation, key_id, &lane->key);
	if (found == HOT_KEY_FOUND)
		return true;
	hot_refuse(w, found == HOT_KEY_REVOKED ? HOT_REFUSED_REVOKED : HOT_REFUSED_UNKNOWN_KEY);
	return false;
}

bool lane_find(struct hot_worker *w, const struct frame *f, struct lane *lane)
{
	return find_lane(w, f, lane);
}

// The other worker that owns the slot's block. NODE_BLOCK_UNOWNED: this worker owns it or nobody does, so it may write
// the line.
static inline uint16_t foreign_owner(const struct hot_worker *w, uint32_t slot)
{
	uint16_t owner = node_table_owner(w->table, slot);
	return owner == w->number ? NODE_BLOCK_UNOWNED : owner;
}

static inline void keep_key(
	const struct hot_worker *w, const struct frame *f, const struct lane *lane)
{
	uint8_t key_id = f->data[6];
	if (__builtin_expect(LINE_GET(lane->line->key_id) == key_id, 1) ||
		foreign_owner(w, lane->slot) != NODE_BLOCK_UNOWNED)
		return;
	LINE_SET(lane->line->key[0], lane->key.k[0]);
	LINE_SET(lane->line->key[1], lane->key.k[1]);
	LINE_SET(lane->line->key_id, key_id);
}

void lane_verified(const struct hot_worker *w, const struct frame *f, const struct lane *lane)
{
	keep_key(w, f, lane);
}

static inline bool accept_sequence(
	struct hot_worker *w, const struct frame *f, const struct lane *lane)
{
	struct node_line *line = lane->line;
	uint64_t sequence = LINE_GET(line->sequence), window = LINE_GET(line->window);
	if (!replay_accept(&sequence, &window, load64(f->data + 16))) {
		hot_refuse(w, HOT_REFUSED_REPLAY);
		return false;
	}
	LINE_SET(line->sequence, sequence);
	LINE_SET(line->window, window);
	return true;
}

bool lane_accept(struct hot_worker *w, const struct frame *f, const struct lane *lane)
{
	return accept_sequence(w, f, lane);
}

void lane_refuse(struct hot_worker *w, const struct frame *f, const struct lane *lane,
	enum hot_refusal reason, enum wire_refusal told)
{
	hot_refuse(w, reason);
	struct wire_header header;
	if (wire_header_decode(f->data, load16(f->data + 4), &header) != WIRE_OK)
		return;
	struct wire_refused refused = {.request_type = header.type, .reason = (uint8_t)told};
	uint32_t bytes = wire_refused_encode(f->data, header.length, header, &refused);
	if (bytes == 0)
		return;
	wire_sign(&lane->key, f->data, bytes);
	hot_turn_around(w, f->packet, f->offset, bytes);
	f->packet->verdict = PACKET_REPLY;
	counter_add(&w->counters->replies, 1);
}

// Says what the acknowledgement of the lane's heartbeat will say, before anything of it is verified.
static inline void put_beat(const struct hot_worker *w, struct wire_beats *beats, uint32_t number,
	const struct frame *f, const struct lane *lane)
{
	uint32_t directives = atomic_load_explicit(&lane->line->directives, memory_order_relaxed);
	if (load64(f->data + 24) != w->table->term)
		directives |= WIRE_DIRECTIVE_RESYNC;
	beats->frames[number] = f->data;
	beats->key[0][number] = lane->key.k[0];
	beats->key[1][number] = lane->key.k[1];
	beats->ack_index[number] =
		atomic_load_explicit(&lane->line->alloc_index, memory_order_relaxed);
	beats->ack_end[number] = w->ttl_ms | w->line_end | (uint64_t)directives << 32;
}

uint32_t heartbeats_tag(struct hot_worker *w, struct burst *b, uint32_t first)
{
	uint32_t n = 0, i = first;
	for (; i < b->count && n < WIRE_BEATS_MAX; i++) {
		const struct frame *f = &b->frames[i];
		if (f->kind != FRAME_HEARTBEAT || !find_lane(w, f, &b->lanes[n]))
			continue;
		put_beat(w, &b->beats, n, f, &b->lanes[n]);
		n++;
	}
	b->beats.count = n;
	b->beats.term = w->table->term;
	b->received = 0;
	wire_beats_tag(&b->beats);
	return i;
}

// Only the owner reports a node, so that the node's reports are in order: it finds the time written here, which is on
// its own clock, when it sweeps.
static void heard_elsewhere(struct hot_worker *w, const struct lane *lane)
{
	uint32_t now_ms = liveness_heard_ms(w, lane->slot);
	counter_add(&w->counters->foreign, 1);
	bool is_news = LINE_GET(lane->line->flags) & NODE_LINE_NEWS;
	liveness_arm(w->table, lane->slot, is_news ? now_ms - LIVENESS_HEARD_ELSEWHERE_MS : now_ms);
}

// The next sweep tries again when there is no room for the report, as if another worker had heard the node: its next
// heartbeat may be a third of the time to live away.
static bool report_return(
	struct hot_worker *w, uint32_t slot, struct node_line *line, uint32_t generation)
{
	if (!w->up.returned(w->up.context, slot, generation)) {
		counter_add(&w->counters->reports_deferred, 1);
		liveness_arm(w->table, slot, w->now_ms - LIVENESS_HEARD_ELSEWHERE_MS);
		return false;
	}
	uint8_t flags = LINE_GET(line->flags);
	if (flags & NODE_LINE_DOWN)
		counter_add(&w->counters->returned, 1);
	LINE_SET(line->flags, flags & (uint8_t)~NODE_LINE_NEWS);
	return true;
}

static inline void heard(struct hot_worker *w, const struct lane *lane)
{
	if (__builtin_expect(LINE_GET(lane->line->registers_ms) != 0, 0))
		LINE_SET(lane->line->registers_ms, 0);
	if (foreign_owner(w, lane->slot) != NODE_BLOCK_UNOWNED) {
		heard_elsewhere(w, lane);
		return;
	}
	uint8_t flags = LINE_GET(lane->line->flags);
	if (__builtin_expect(flags & NODE_LINE_NEWS, 0) &&
		!report_return(w, lane->slot, lane->line, lane->generation))
		return;
	last_heard_set(w->table, lane->slot, w->now_ms);
}

// A heartbeat from another address than the one before is where the node is told of news from now on. A replayed frame
// does not come here, so that only the node itself moves it.
static inline void follow_source(
	struct hot_worker *w, const struct frame *f, const struct lane *lane)
{
	uint16_t mark = source_mark(f->data, f->ipv6);
	if (__builtin_expect(LINE_GET(lane->line->source) == mark, 1) ||
		foreign_owner(w, lane->slot) != NODE_BLOCK_UNOWNED)
		return;
	LINE_SET(lane->line->source, mark);
	if (w->up.moved != NULL)
		w->up.moved(w->up.context, lane->slot, f->packet, f->offset);
}

// Writes the acknowledgement over the heartbeat, whose slot, generation and sequence stay.
static inline void acknowledge(
	struct hot_worker *w, struct burst *b, const struct frame *f, uint32_t number)
{
	const struct wire_beats *beats = &b->beats;
	// For all that the compiler knows, bytes that are written may be those of the frame: what stays is copied.
	const struct frame at = *f;
	store64(at.data, load64(at.data) ^ WIRE_BEAT_TO_ACK);
	store64(at.data + 24, beats->term);
	store64(at.data + 32, beats->ack_index[number]);
	store64(at.data + 40, beats->ack_end[number]);
	store64(at.data + 48, beats->ack_tag[0][number]);
	store64(at.data + 56, beats->ack_tag[1][number]);
	headers_turn_around(&w->port, at.data - at.offset, at.offset, WIRE_HEARTBEAT_BYTES, at.ipv6,
		beats->ack_sum[number]);
	at.packet->size = at.offset + WIRE_HEARTBEAT_BYTES;
	at.packet->verdict = PACKET_REPLY;
	b->acknowledged++;
}

static __attribute__((noinline)) bool take_early(struct hot_worker *w, const struct lane *lane)
{
	if (bucket_take(&lane->line->bucket, &w->node_rule, 1, w->turn_ns) == 0)
		return true;
	hot_refuse(w, HOT_REFUSED_BEAT_RATE);
	if (w->up.beat_refused != NULL)
		w->up.beat_refused(w->up.context, lane->slot, &lane->key);
	return false;
}

// A heartbeat that comes when it should costs nothing, however much its node has asked.
static inline bool is_in_time(struct hot_worker *w, const struct lane *lane)
{
	uint32_t since_ms = w->now_ms - last_heard_get(w->table, lane->slot);
	return __builtin_expect(since_ms >= w->early_ms, 1) || take_early(w, lane);
}

// A node that has acted on more than there was when the term began has seen what the state has lost, as when an earlier
// one was put back: it has to register anew, and to ask for all of its work.
static __attribute__((noinline)) void refuse_term(struct hot_worker *w, struct burst *b,
	const struct frame *f, const struct lane *lane, uint32_t number)
{
	if (load64(f->data + 32) > w->table->term_index) {
		lane_refuse(
			w, f, lane, HOT_REFUSED_STALE_GENERATION, WIRE_REFUSED_STALE_GENERATION);
		return;
	}
	hot_refuse(w, HOT_REFUSED_STALE_TERM);
	acknowledge(w, b, f, number); // with RESYNC
}

static inline void receive_beat(struct hot_worker *w, struct burst *b, const struct frame *f,
	const struct lane *lane, uint32_t number)
{
	if (b->beats.differs[number] != 0) {
		hot_refuse(w, HOT_REFUSED_BAD_TAG);
		return;
	}
	keep_key(w, f, lane);
	if (load32(f->data + 12) != lane->generation) {
		lane_refuse(
			w, f, lane, HOT_REFUSED_STALE_GENERATION, WIRE_REFUSED_STALE_GENERATION);
		return;
	}
	if (load32(f->data + 44) != 0) {
		lane_refuse(w, f, lane, HOT_REFUSED_BAD_BODY, WIRE_REFUSED_BAD_REQUEST);
		return;
	}
	if (load64(f->data + 24) != w->table->term) {
		refuse_term(w, b, f, lane, number);
		return;
	}
	if (!accept_sequence(w, f, lane) || !is_in_time(w, lane))
		return;
	heard(w, lane);
	follow_source(w, f, lane);
	b->accepted++;
	acknowledge(w, b, f, number);
}

void heartbeats_receive(struct hot_worker *w, struct burst *b, const struct frame *before)
{
	for (; b->received < b->beats.count; b->received++) {
		const struct lane *lane = &b->lanes[b->received];
		if (lane->frame >= before)
			return;
		receive_beat(w, b, lane->frame, lane, b->received);
	}
}
