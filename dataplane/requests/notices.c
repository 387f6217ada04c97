#include "dataplane/requests/notices.h"
#include "dataplane/hot/line.h"
#include "dataplane/hot/reply.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"

#define WORDS_IN_BLOCK (NODE_BLOCK_SLOTS / 64u)

void notices_open(struct packet_workers *team)
{
	notices_close(team);
	team->source_count = state_node_table(team->state)->slots_max;
	team->sources = memory_map((size_t)team->source_count * sizeof team->sources[0]);
	if (team->sources == NULL)
		log_warn("notices-off", "effect=\"nodes hear of new work with their heartbeats\"");
}

void notices_close(struct packet_workers *team)
{
	if (team->sources != NULL)
		memory_unmap(team->sources, (size_t)team->source_count * sizeof team->sources[0]);
	team->sources = NULL;
}

void notices_source(
	struct packet_worker *w, uint32_t slot, const struct packet *packet, uint32_t offset)
{
	if (w->team->sources != NULL)
		source_take(&w->team->sources[slot], &w->hot.port, packet, offset);
}

void notices_heard(
	struct packet_worker *w, uint32_t slot, const struct packet *packet, uint32_t offset)
{
	struct node_line *line = node_table_line(w->hot.table, slot);
	if (line == NULL || node_table_owner(w->hot.table, slot) != w->hot.number)
		return;
	uint16_t mark = source_mark_of(packet->data, offset);
	if (LINE_GET(line->source) == mark)
		return;
	LINE_SET(line->source, mark);
	notices_source(w, slot, packet, offset);
}

void notices_forget(struct packet_worker *w, uint32_t slot)
{
	if (w->team->sources != NULL)
		w->team->sources[slot] = (struct node_source){0};
}

enum notice { NOTICE_NEEDLESS, NOTICE_LATER, NOTICE_NOW };

// A node that is down, or whose frames have not been heard in this term, is told with its next heartbeat.
static enum notice judge_notice(const struct packet_worker *w, uint32_t slot, uint32_t now_ms)
{
	const struct node_line *line = &w->hot.table->lines[slot];
	const struct node_source *source = &w->team->sources[slot];
	if (!(source->kind & NODE_SOURCE_KNOWN) || LINE_GET(line->key_id) == 0 ||
		LINE_GET(line->flags) & NODE_LINE_DOWN)
		return NOTICE_NEEDLESS;
	if (source->told_ms != 0 && now_ms - source->told_ms < NOTICE_INTERVAL_MS)
		return NOTICE_LATER;
	return NOTICE_NOW;
}

// The slots that are told now. What is left is taken with the next millisecond.
struct notice_list {
	uint32_t slots[NOTICES_PER_MS];
	uint32_t count;
	bool leaves;
};

static void take_word(
	struct packet_worker *w, uint32_t word, uint32_t now_ms, struct notice_list *list)
{
	_Atomic uint64_t *news = &w->hot.table->news[word];
	if (atomic_load_explicit(news, memory_order_relaxed) == 0)
		return;
	uint64_t left = 0, bits = atomic_exchange_explicit(news, 0, memory_order_acquire);
	for (; bits != 0; bits &= bits - 1) {
		uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
		enum notice notice = judge_notice(w, slot, now_ms);
		if (notice == NOTICE_NOW && list->count < NOTICES_PER_MS)
			list->slots[list->count++] = slot;
		else if (notice != NOTICE_NEEDLESS)
			left |= bits & -bits;
	}
	if (left == 0)
		return;
	atomic_fetch_or_explicit(news, left, memory_order_relaxed);
	list->leaves = true;
}

static void take_block(
	struct packet_worker *w, uint32_t block, uint32_t now_ms, struct notice_list *list)
{
	_Atomic uint8_t *mark = &w->hot.table->block_news[block];
	if (atomic_load_explicit(mark, memory_order_relaxed) == 0 ||
		atomic_exchange_explicit(mark, 0, memory_order_acquire) == 0)
		return;
	list->leaves = false;
	uint32_t first = block * WORDS_IN_BLOCK, words = (w->hot.table->slots_max + 63) / 64;
	for (uint32_t i = 0; i < WORDS_IN_BLOCK && first + i < words; i++)
		take_word(w, first + i, now_ms, list);
	if (list->leaves)
		atomic_store_explicit(mark, 1, memory_order_relaxed);
}

// Goes round this worker's blocks, from where the list was full the last time.
static void take_news(struct packet_worker *w, uint32_t now_ms, struct notice_list *list)
{
	uint32_t used = atomic_load_explicit(&w->hot.table->slots_used, memory_order_relaxed);
	uint32_t blocks = (used + NODE_BLOCK_SLOTS - 1) / NODE_BLOCK_SLOTS;
	for (uint32_t i = 0; i < blocks && list->count < NOTICES_PER_MS; i++) {
		uint32_t block = (w->notice_block + i) % blocks;
		if (node_table_owner(w->hot.table, block * NODE_BLOCK_SLOTS) == w->hot.number)
			take_block(w, block, now_ms, list);
		if (list->count == NOTICES_PER_MS)
			w->notice_block = block;
	}
}

// Notices of a node are numbered by the clock, since less than a nanosecond does not lie between two of them.
static uint32_t encode_notice(
	const struct packet_worker *w, uint32_t slot, uint64_t now_ns, uint8_t *frame)
{
	const struct node_line *line = &w->hot.table->lines[slot];
	struct wire_key key = {{LINE_GET(line->key[0]), LINE_GET(line->key[1])}};
	struct wire_header header = {.key_id = LINE_GET(line->key_id),
		.slot = slot,
		.generation = atomic_load_explicit(&line->generation, memory_order_relaxed),
		.sequence = now_ns};
	bool is_called =
		atomic_load_explicit(&line->directives, memory_order_relaxed) & NODE_DIRECTIVE_CALL;
	struct wire_notify notify = {.term = w->hot.table->term,
		.alloc_index = atomic_load_explicit(&line->alloc_index, memory_order_relaxed),
		.call_port = is_called ? w->hot.table->line_port : 0};
	uint32_t bytes = wire_notify_encode(frame, WIRE_HEARTBEAT_BYTES, header, &notify);
	wire_sign(&key, frame, bytes);
	return bytes;
}

static void write_notice(struct packet_worker *w, uint32_t slot, uint64_t now_ns, struct packet *p)
{
	struct node_source *source = &w->team->sources[slot];
	uint32_t offset = source_put(source, &w->hot.port, p->data);
	uint32_t now_ms = (uint32_t)(now_ns / NS_PER_MS);
	hot_turn_around(&w->hot, p, offset, encode_notice(w, slot, now_ns, p->data + offset));
	p->verdict = PACKET_REPLY;
	source->told_ms = now_ms == 0 ? 1 : now_ms;
}

void notices_send(struct packet_worker *w, uint64_t now_ns)
{
	if (w->team->sources == NULL || now_ns < w->notices_due_ns)
		return;
	w->notices_due_ns = now_ns + NS_PER_MS;
	uint32_t now_ms = (uint32_t)(now_ns / NS_PER_MS);
	struct notice_list list = {.count = 0};
	take_news(w, now_ms, &list);
	if (list.count == 0)
		return;
	struct packet_burst burst;
	w->io.take(w->io.context, &burst, list.count);
	uint32_t lost = list.count - burst.count;
	for (uint32_t i = 0; i < burst.count; i++)
		write_notice(w, list.slots[i], now_ns, &burst.packets[i]);
	lost += w->io.finish(w->io.context, &burst);
	counter_add(&w->counters.reply_drops, lost);
	counter_add(&w->counters.notices, list.count - lost);
}
