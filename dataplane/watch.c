#include "dataplane/watch.h"
#include "dataplane/packet_workers.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LOOK_INTERVAL_NS (100 * NS_PER_MS)
#define LOOKS_PER_PROGRAM 10u // once a second
#define LOOKS_PER_NOISE 100u  // every ten seconds at most
#define TEXT_BYTES 400u

static bool sign(const _Atomic bool *of)
{
	return atomic_load_explicit(of, memory_order_relaxed);
}

// Adds one more reason, as far as there is room.
__attribute__((format(printf, 3, 4))) static void reason_add(
	char *text, uint32_t text_size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;
	if (used > 0 && used + 2 < text_size)
		used += (size_t)snprintf(text + used, text_size - used, "; ");
	va_start(arguments, format);
	vsnprintf(text + used, text_size - used, format, arguments);
	va_end(arguments);
}

static void add_ports(const struct watch *w, char *text, uint32_t text_size)
{
	for (uint32_t i = 0; i < w->port_count; i++) {
		const struct ethernet_port *port = &w->ports[i];
		if (sign(&port->signs.link_down))
			reason_add(text, text_size, "the link of port %u (%s) is down", i,
				port->device.name);
		if (sign(&port->signs.program_lost))
			reason_add(text, text_size, "port %u (%s) has lost its XDP program", i,
				port->device.name);
	}
}

void watch_text(
	const struct watch *w, const struct expiry_status *s, char *text, uint32_t text_size)
{
	static const char *const states[] = {[HOLD_RELEASED] = "goes on by order although ",
		[HOLD_DRAINING] = "goes on slowly although ",
		[HOLD_HELD] = "is held: "};
	char why[TEXT_BYTES] = "";
	text[0] = '\0';
	if (s->state == HOLD_NONE)
		return;
	if (s->causes & (HOLD_LINK_DOWN | HOLD_PROGRAM_LOST))
		add_ports(w, why, sizeof why);
	if (s->causes & HOLD_PORT_SILENT)
		reason_add(why, sizeof why, "a port has heard nothing for three heartbeats");
	if (s->causes & HOLD_MASS)
		reason_add(why, sizeof why, "more than %" PRIu32 " %% of the nodes are silent",
			w->workers->settings.mass_percent);
	snprintf(text, text_size,
		"expiry of nodes %s%s (%" PRIu64 " of %" PRIu64 " nodes are silent)",
		states[s->state], why[0] != '\0' ? why : "the cause has just gone", s->silent,
		s->nodes);
}

static void say_expiry(struct watch *w)
{
	struct expiry_status now = expiry_status(w->workers);
	char text[TEXT_BYTES + 128];
	if (now.state == w->told.state && now.holds == w->told.holds)
		return;
	watch_text(w, &now, text, sizeof text);
	if (now.state == HOLD_HELD)
		log_error("expiry-held",
			"reason=\"%s\" silent=%" PRIu64 " nodes=%" PRIu64
			" remedy=\"look at the network; berth liveness release lets them expire\"",
			text, now.silent, now.nodes);
	else if (now.state != HOLD_NONE)
		log_warn("expiry-goes-on", "reason=\"%s\" silent=%" PRIu64 " nodes=%" PRIu64, text,
			now.silent, now.nodes);
	else
		log_info("expiry-as-ever", "silent=%" PRIu64 " nodes=%" PRIu64, now.silent,
			now.nodes);
	bool was_held = w->told.state == HOLD_HELD, is_held = now.state == HOLD_HELD;
	w->told = now;
	if (is_held != was_held && w->expiry_changed != NULL)
		w->expiry_changed(w->context, is_held);
}

static uint64_t sum_refused(
	const struct packet_workers *team, enum hot_refusal one, enum hot_refusal other)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < team->count; i++) {
		const struct hot_counters *c = &team->items[i].counters;
		sum += atomic_load_explicit(&c->refused[one], memory_order_relaxed);
		sum += atomic_load_explicit(&c->refused[other], memory_order_relaxed);
	}
	return sum;
}

// Whoever floods fills no log.
static void say_noise(struct watch *w)
{
	if (w->noise_rest > 0 && --w->noise_rest > 0)
		return;
	struct noisy_sender noisiest;
	uint64_t refused = sum_refused(w->workers, HOT_REFUSED_REQUEST_RATE, HOT_REFUSED_BEAT_RATE);
	if (refused == w->told_refused || packet_workers_noisiest(w->workers, &noisiest, 1) == 0)
		return;
	char name[6 * CLIENT_NAME_BYTES_MAX + 3];
	log_warn("senders-over-rate",
		"refused=%" PRIu64 " noisiest=%s name=%s remedy=\"berth senders lists them\"",
		refused - w->told_refused, noisiest.kind == NOISY_NODE ? "node" : "client",
		log_quote(noisiest.name, name, sizeof name));
	w->told_refused = refused;
	w->noise_rest = LOOKS_PER_NOISE;
}

// The node that some worker refused as a stranger; all zeros: none.
static struct uuid find_stranger(const struct packet_workers *team)
{
	struct uuid id = {0};
	for (uint32_t i = 0; i < team->count && uuid_is_zero(&id); i++) {
		uint64_t halves[2];
		for (int half = 0; half < 2; half++)
			halves[half] = atomic_load_explicit(
				&team->items[i].counters.stranger[half], memory_order_relaxed);
		memcpy(&id, halves, sizeof id);
	}
	return id;
}

static void say_strangers(struct watch *w)
{
	if (w->strange_rest > 0 && --w->strange_rest > 0)
		return;
	uint64_t refused = sum_refused(w->workers, HOT_REFUSED_BAD_TAG, HOT_REFUSED_UNKNOWN_KEY);
	if (refused == w->told_strange)
		return;
	char text[UUID_TEXT_BYTES] = "-";
	struct uuid node = find_stranger(w->workers);
	if (!uuid_is_zero(&node))
		uuid_format(&node, text);
	log_warn("frames-not-authentic",
		"refused=%" PRIu64 " node=%s remedy=\"a node or client has a wrong key: make it "
		"with berth node key or berth client key\"",
		refused - w->told_strange, text);
	w->told_strange = refused;
	w->strange_rest = LOOKS_PER_NOISE;
}

// Waits for it as long as it is between two looks.
static bool is_told_to_stop(struct watch *w)
{
	uint64_t until_ns = time_monotonic_ns(&time_source_real) + LOOK_INTERVAL_NS;
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};
	return sem_clockwait(&w->stop, CLOCK_MONOTONIC, &until) == 0;
}

static void *watch_main(void *context)
{
	struct watch *w = context;
	uint32_t look = 0;
	do {
		for (uint32_t i = 0; i < w->port_count; i++) {
			port_watch_link(&w->ports[i]);
			if (look % LOOKS_PER_PROGRAM == 0)
				port_watch_program(&w->ports[i]);
		}
		say_expiry(w);
		say_noise(w);
		say_strangers(w);
		look++;
	} while (!is_told_to_stop(w));
	return NULL;
}

int watch_start(struct watch *w, struct ethernet_port *ports, uint32_t port_count,
	const struct packet_workers *workers)
{
	w->ports = ports;
	w->port_count = port_count;
	w->workers = workers;
	CHECK(sem_init(&w->stop, 0, 0) == 0);
	int error = pthread_create(&w->thread, NULL, watch_main, w);
	w->runs = error == 0;
	if (w->runs)
		pthread_setname_np(w->thread, "port-watch");
	return -error;
}

void watch_stop(struct watch *w)
{
	if (!w->runs)
		return;
	sem_post(&w->stop);
	pthread_join(w->thread, NULL);
	w->runs = false;
}
