#include "dataplane/packet_workers.h"
#include "dataplane/expiry.h"
#include "dataplane/hot/announce.h"
#include "dataplane/hot/neighbour.h"
#include "dataplane/hot/receive.h"
#include "dataplane/requests/follow.h"
#include "dataplane/requests/lines.h"
#include "dataplane/requests/notices.h"
#include "dataplane/requests/sender_keys.h"
#include "dataplane/wire/seal.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <rte_cycles.h>
#include <rte_pause.h>
#include <stdlib.h>
#include <sys/prctl.h>

// A burst smaller than this has emptied the queue: some drivers hand out at most 32 at a time.
#define DRAINED_BELOW 32u
// The column is swept in this many slices, one a millisecond: each node is looked at ten times a
// second, and no slice of ten million nodes takes longer than about 50 us.
#define SWEEP_SLICES 100u
#define SWEEP_SLICE_NS NS_PER_MS
// Pings that a worker answers in a second: enough to look after a port, too few to be worth a flood.
#define PINGS_PER_S 1000u
#define METER_INTERVAL_NS (100 * NS_PER_MS)
#define NAP_US_MAX 900u
// Of the slices that a longer nap has put off, so many are made up for at once.
#define SWEEP_SLICES_LATE_MAX 4u
// A node beats three times in the time to live. One that beats twice as often, or whose heartbeats come by twos, is
// still in time.
#define EARLY_PARTS_OF_TTL 6u
// Linux rounds naps up by the timer slack, 50 us by default: more than our shortest nap.
#define TIMER_SLACK_NS 1000u
// Who misses one announcement of an address hears another: five within two seconds.
#define ANNOUNCEMENTS 5u
#define ANNOUNCE_INTERVAL_NS (500 * NS_PER_MS)
// Then again and again: whoever was told something else meanwhile hears it.
#define ANNOUNCE_AGAIN_NS (10ull * NS_PER_S)
// A leader is followed by another no sooner.
#define OLD_AFTER_NS (500 * NS_PER_MS)

struct packet_workers *packet_workers_create(
	uint32_t worker_count, const struct packet_worker_settings *settings)
{
	struct packet_workers *team = memory_take(sizeof *team);
	team->settings = *settings;
	if (team->settings.idle_sleep_us > NAP_US_MAX)
		team->settings.idle_sleep_us = NAP_US_MAX;
	team->count = worker_count;
	team->node_rule = bucket_rule(settings->node_rate, settings->node_burst);
	team->client_rule = bucket_rule(settings->client_rate, settings->client_burst);
	key_buckets_open(&team->client_buckets);
	key_buckets_open(&team->register_buckets);
	team->items = memory_take_aligned(
		_Alignof(struct packet_worker), worker_count * sizeof(struct packet_worker));
	team->counters = memory_take_array(worker_count, sizeof team->counters[0]);
	for (uint32_t i = 0; i < worker_count; i++) {
		struct packet_worker *w = &team->items[i];
		*w = (struct packet_worker){
			.team = team, .rest = {.longest_us = team->settings.idle_sleep_us}};
		w->hot.number = (uint16_t)i;
		w->hot.counters = &w->counters;
		team->counters[i] = &w->counters;
		w->hot.peers = team->counters;
		w->hot.peer_count = worker_count;
		w->hot.ttl_ms = settings->ttl_ms;
		w->hot.node_rule = team->node_rule;
		w->hot.early_ms =
			settings->node_rate == 0 ? 0 : settings->ttl_ms / EARLY_PARTS_OF_TTL;
		request_pool_init(&w->requests, worker_count * WORKER_REQUESTS_MAX);
		doorbell_open(&w->doorbell);
		appointments_begin(&w->appointments);
		report_pool_init(&w->reports);
	}
	return team;
}

void packet_workers_destroy(struct packet_workers *team)
{
	for (uint32_t i = 0; i < team->count; i++) {
		doorbell_close(&team->items[i].doorbell);
		request_pool_free(&team->items[i].requests);
		report_pool_free(&team->items[i].reports);
		spec_cache_free(&team->items[i].specs);
	}
	notices_close(team);
	key_buckets_close(&team->client_buckets);
	key_buckets_close(&team->register_buckets);
	free(team->counters);
	free(team->items);
	free(team);
}

void packet_worker_attach(struct packet_worker *w, struct packet_io io, const struct hot_port *port,
	const struct port_signs *signs)
{
	w->io = io;
	w->hot.port = *port;
	w->signs = signs;
	if (io.bell != NULL && io.bell(io.context) >= 0)
		w->rest.longest_us = NAP_US_MAX; // it misses nothing meanwhile
}

static void port_add(struct hot_port *to, const struct hot_port *from)
{
	CHECK(to->ipv4_count + from->ipv4_count <= HOT_ADDRESSES_MAX);
	CHECK(to->ipv6_count + from->ipv6_count <= HOT_ADDRESSES_MAX);
	memcpy(to->ipv4[to->ipv4_count], from->ipv4, from->ipv4_count * sizeof from->ipv4[0]);
	memcpy(to->ipv6[to->ipv6_count], from->ipv6, from->ipv6_count * sizeof from->ipv6[0]);
	to->ipv4_count += from->ipv4_count;
	to->ipv6_count += from->ipv6_count;
}

static struct hot_port without(const struct hot_port *port, const struct hot_port *own)
{
	struct hot_port rest = *port;
	rest.ipv4_count = rest.ipv6_count = 0;
	for (uint32_t i = 0; i < port->ipv4_count; i++)
		if (!port_has_ipv4(own, port->ipv4[i]))
			memcpy(rest.ipv4[rest.ipv4_count++], port->ipv4[i], 4);
	for (uint32_t i = 0; i < port->ipv6_count; i++)
		if (!port_has_ipv6(own, port->ipv6[i]))
			memcpy(rest.ipv6[rest.ipv6_count++], port->ipv6[i], 16);
	return rest;
}

// Nodes speak to the service addresses, so the first address, whose packets are taken fastest, is one of them.
void packet_worker_follow(struct packet_worker *w, const struct hot_port *own)
{
	w->follows = true;
	w->service = without(&w->hot.port, own);
	w->leading = w->service;
	port_add(&w->leading, own);
	w->hot.port = *own;
	w->hot.silent = &w->service;
	atomic_store_explicit(&w->team->follows, true, memory_order_relaxed);
}

static uint64_t missed_now(const struct packet_worker *w)
{
	return w->signs == NULL ? 0 : atomic_load_explicit(&w->signs->missed, memory_order_relaxed);
}

static void start_clock(struct packet_worker *w, uint64_t now_ns)
{
	liveness_clock_start(&w->clock, now_ns, w->team->settings.stall_ms);
	w->hot.now_ms = liveness_clock_tick(&w->clock, now_ns, missed_now(w), &w->counters);
	w->sweep_due_ns = now_ns;
	expiry_open(w);
}

// No worker reads or writes a line meanwhile: they have not begun, or they follow. All their clocks begin alike.
static void restore_lines(struct packet_workers *team)
{
	if (team->count == 0)
		return;
	uint32_t armed = lines_restore(team->state, state_node_table(team->state),
		team->items[0].hot.now_ms, team->settings.restart_grace_ms);
	log_info("nodes-armed", "nodes=%u grace_ms=%u", armed, team->settings.restart_grace_ms);
}

void packet_workers_open(struct packet_workers *team, struct state *state,
	struct command_queue *queue, const struct master_keys *keys, const struct time_source *time)
{
	team->state = state;
	team->queue = queue;
	team->key_sets[0] = *keys;
	atomic_store(&team->keys, &team->key_sets[0]);
	team->time = time;
	state_node_table(state)->line_port = team->settings.line_port;
	notices_open(team);
	wire_seal_prepare();
	uint64_t now_ns = time_monotonic_ns(time);
	for (uint32_t i = 0; i < team->count; i++) {
		struct packet_worker *w = &team->items[i];
		w->hot.table = state_node_table(state);
		w->hot.line_end = (uint64_t)team->settings.line_port << 48;
		w->hot.up = request_upcalls(w);
		start_clock(w, now_ns);
		w->meter_due_ns = now_ns;
		atomic_store(&w->turned_ns, now_ns);
	}
	if (!atomic_load_explicit(&team->follows, memory_order_relaxed))
		restore_lines(team);
}

void packet_workers_lead(struct packet_workers *team)
{
	CHECK(atomic_load_explicit(&team->follows, memory_order_relaxed));
	restore_lines(team);
	atomic_store_explicit(&team->follows, false, memory_order_release);
}

uint32_t packet_workers_noisiest(
	const struct packet_workers *team, struct noisy_sender *senders, uint32_t max)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < team->count; i++)
		count = noisy_gather(&team->items[i].noisy, senders, count, max);
	return count;
}

static void send_burst(struct packet_worker *w, uint64_t began)
{
	uint32_t refused = w->io.finish(w->io.context, &w->burst);
	if (refused > 0)
		counter_add(&w->counters.reply_drops, refused);
	counter_add(&w->counters.bursts, 1);
	counter_add(&w->counters.busy_cycles, rte_rdtsc() - began);
}

static void handle_burst(struct packet_worker *w)
{
	uint64_t began = rte_rdtsc();
	hot_receive(&w->hot, w->burst.packets, w->burst.count);
	send_burst(w, began);
}

static void sweep_slice(struct packet_worker *w, uint64_t now_ns)
{
	if (now_ns < w->sweep_due_ns)
		return;
	// What a busy queue has put off is not made up for: more packets are on their way.
	uint64_t late_ns = w->rest.naps == 0 ? 0 : now_ns - w->sweep_due_ns;
	uint64_t slices = 1 + late_ns / SWEEP_SLICE_NS;
	if (slices > SWEEP_SLICES_LATE_MAX)
		slices = SWEEP_SLICES_LATE_MAX;
	w->sweep_due_ns = now_ns + SWEEP_SLICE_NS;
	expiry_look(w, now_ns);
	uint32_t slots = atomic_load_explicit(&w->hot.table->slots_used, memory_order_relaxed);
	liveness_sweep(&w->hot, &w->sweep_cursor,
		slots / SWEEP_SLICES * (uint32_t)slices + NODE_BLOCK_SLOTS);
}

static void announce(struct packet_worker *w, uint64_t now_ns)
{
	const struct hot_port *service = &w->service;
	struct packet_burst burst;
	w->announce_due_ns = now_ns + ANNOUNCE_INTERVAL_NS;
	if (w->hot.is_unsure)
		return;
	if (--w->announcements_left == 0) {
		w->announcements_left = 1;
		w->announce_due_ns = now_ns + ANNOUNCE_AGAIN_NS;
	}
	uint32_t wanted = service->ipv4_count + service->ipv6_count;
	w->io.take(w->io.context, &burst, wanted);
	uint32_t lost = wanted - burst.count;
	for (uint32_t i = 0; i < burst.count; i++) {
		struct packet *p = &burst.packets[i];
		uint32_t ipv6 = i - service->ipv4_count;
		p->size = i < service->ipv4_count
				  ? announce_ipv4(service, service->ipv4[i], p->data)
				  : announce_ipv6(service, service->ipv6[ipv6], p->data);
		p->verdict = PACKET_REPLY;
	}
	lost += w->io.finish(w->io.context, &burst);
	counter_add(&w->counters.reply_drops, lost);
}

// Goes over from following to leading. False: the worker's team has not been told to.
static bool takes_lead(struct packet_worker *w, uint64_t now_ns)
{
	if (atomic_load_explicit(&w->team->follows, memory_order_acquire))
		return false;
	w->follows = false;
	w->hot.port = w->leading;
	w->hot.silent = NULL;
	start_clock(w, now_ns);
	w->announcements_left = w->announces ? ANNOUNCEMENTS : 0;
	w->announce_due_ns = now_ns;
	return true;
}

static uint32_t follow_turn(struct packet_worker *w, uint64_t now_ns)
{
	w->hot.turn_ns = now_ns;
	w->io.receive(w->io.context, &w->burst);
	uint32_t received = w->burst.count;
	if (received > 0) {
		uint64_t began = rte_rdtsc();
		follow_receive(w, w->burst.packets, received);
		send_burst(w, began);
	}
	state_reader_quiescent();
	return received;
}

// A leader that stood still may have been followed by another, and what waited for it meanwhile was asked before that.
static void look_for_doubt(struct packet_worker *w, uint64_t gap_ns)
{
	const struct packet_worker_settings *s = &w->team->settings;
	if (s->leads_surely == NULL)
		return;
	w->hot.is_unsure = !s->leads_surely(s->lead_context);
	w->drops_old = w->hot.is_unsure && (w->drops_old || gap_ns > OLD_AFTER_NS);
}

static void drop_burst(struct packet_worker *w)
{
	uint64_t began = rte_rdtsc();
	for (uint32_t i = 0; i < w->burst.count; i++)
		w->burst.packets[i].verdict = PACKET_DROP;
	counter_add(&w->counters.received, w->burst.count);
	counter_add(&w->counters.refused[HOT_REFUSED_SERVICE], w->burst.count);
	send_burst(w, began);
}

static uint32_t receive_burst(struct packet_worker *w)
{
	w->io.receive(w->io.context, &w->burst);
	uint32_t received = w->burst.count;
	if (received > 0 && w->drops_old)
		drop_burst(w);
	else if (received > 0)
		handle_burst(w);
	w->drops_old = w->drops_old && received > 0;
	return received;
}

uint32_t packet_worker_step(struct packet_worker *w)
{
	uint64_t now_ns = time_monotonic_ns(w->team->time);
	uint64_t before_ns = atomic_load_explicit(&w->turned_ns, memory_order_relaxed);
	atomic_store_explicit(&w->turned_ns, now_ns, memory_order_relaxed);
	if (w->meter != NULL && now_ns >= w->meter_due_ns) {
		w->meter(w->meter_context);
		w->meter_due_ns = now_ns + METER_INTERVAL_NS;
	}
	if (now_ns >= w->pings_due_ns) {
		w->hot.pings_left = PINGS_PER_S;
		w->follows_left = FOLLOWS_PER_S;
		w->pings_due_ns = now_ns + NS_PER_S;
	}
	if (w->follows && !takes_lead(w, now_ns))
		return follow_turn(w, now_ns);
	look_for_doubt(w, now_ns - before_ns);
	if (w->announcements_left > 0 && now_ns >= w->announce_due_ns)
		announce(w, now_ns);
	w->hot.turn_ns = now_ns;
	w->hot.now_ms = liveness_clock_tick(&w->clock, now_ns, missed_now(w), &w->counters);
	uint32_t received = receive_burst(w);
	requests_answer(w);
	sender_keys_forget(w);
	notices_send(w, now_ns);
	// The worker handles every queued packet before it judges a node silent.
	if (received < DRAINED_BELOW)
		sweep_slice(w, now_ns);
	state_reader_quiescent();
	return received;
}

// A nap ends when a request is finished, and when packets come where the port can tell. One that ended for packets that
// were not there is followed by one that does not listen for them: whatever the port says, the worker rests.
static void nap_worker(struct packet_worker *w)
{
	int packets = w->was_roused || w->io.bell == NULL ? -1 : w->io.bell(w->io.context);
	uint32_t longest_us = rest_nap(&w->rest);

	doorbell_lie_down(&w->doorbell);
	if (!inbox_is_empty(&w->requests)) {
		doorbell_get_up(&w->doorbell);
		return;
	}
	state_reader_offline();
	w->was_roused = doorbell_sleep(&w->doorbell, packets, longest_us);
	state_reader_online();
}

// Rests an idle worker: it stays awake at first, then naps. Applier and schedulers work meanwhile, where it has no core
// of its own.
static void rest_worker(struct packet_worker *w, uint32_t received)
{
	if (received > 0) {
		rest_ends(&w->rest);
		w->was_roused = false;
	} else if (w->team->settings.spins || !rest_turn(&w->rest)) {
		rte_pause();
	} else {
		nap_worker(w);
	}
}

void packet_worker_run(struct packet_worker *w)
{
	if (prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0) != 0)
		log_warn("timer-slack-not-set", "worker=%u", w->hot.number);
	state_reader_online();
	while (!atomic_load_explicit(&w->team->stopping, memory_order_relaxed))
		rest_worker(w, packet_worker_step(w));
	// Answers the requests that the applier finished before it stopped.
	while (requests_answer(w) > 0)
		;
	state_reader_offline();
}
