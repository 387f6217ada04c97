#include "dataplane/dataplane.h"
#include "dataplane/packet_workers.h"
#include "dataplane/port/address.h"
#include "dataplane/port/beside_kernel.h"
#include "dataplane/port/eal.h"
#include "dataplane/port/numa.h"
#include "dataplane/port/port.h"
#include "dataplane/port/port_lock.h"
#include "dataplane/requests/follow.h"
#include "dataplane/requests/sender_keys.h"
#include "dataplane/roles.h"
#include "dataplane/watch.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <pthread.h>
#include <rte_lcore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIVE_WITHIN_NS (2 * NS_PER_S)

struct dataplane {
	struct dataplane_settings settings;
	struct topology_plan plan;
	struct device devices[PORTS_MAX];
	struct ethernet_port *ports; // settings.port_count of them
	struct port_lock locks[WORKERS_MAX];
	uint32_t locks_taken;
	bool eal_started;
	struct packet_workers *workers;
	pthread_t threads[WORKERS_MAX];
	uint32_t threads_running;
	struct watch watch;
	pthread_mutex_t leader_lock; // of who sets the leader's place
};

void dataplane_topology_ask(const struct dataplane_settings *s, struct topology_ask *ask)
{
	*ask = (struct topology_ask){.ports = s->port_count, .spin = s->poll == POLL_SPIN};
	for (uint32_t i = 0; i < s->port_count; i++) {
		struct device device;
		char message[256]; // unused: preflight reports it
		ask->port[i].queues = port_queues(&s->ports[i]);
		ask->port[i].numa_node =
			device_resolve(&s->ports[i], i, &device, message, sizeof message) == 0
				? device.numa_node
				: -1;
	}
}

static int resolve_devices(struct dataplane *d, char *message, uint32_t message_size)
{
	for (uint32_t i = 0; i < d->settings.port_count; i++) {
		struct hot_port addresses;
		int error = device_resolve(
			&d->settings.ports[i], i, &d->devices[i], message, message_size);
		if (error == 0)
			error = port_addresses(
				&d->settings.ports[i], i, &addresses, message, message_size);
		if (error != 0)
			return error;
		for (uint32_t j = 0; j < i; j++) {
			if (!device_is_same(&d->devices[i], &d->devices[j]))
				continue;
			snprintf(message, message_size,
				"ports %u and %u are both device %s; give each port a device of "
				"its own",
				j, i, d->devices[i].name);
			return -EEXIST;
		}
	}
	return 0;
}

static int lock_ports(struct dataplane *d, char *message, uint32_t message_size)
{
	for (uint32_t i = 0; i < d->settings.port_count; i++) {
		for (uint32_t q = 0; q < port_queues(&d->settings.ports[i]); q++) {
			int error = port_lock_take(&d->locks[d->locks_taken], PORT_LOCK_DIRECTORY,
				&d->devices[i], i, q, message, message_size);
			if (error != 0)
				return error;
			d->locks_taken++;
		}
	}
	return 0;
}

bool dataplane_needs_eal(const struct dataplane_settings *s)
{
	for (uint32_t i = 0; i < s->port_count; i++)
		if (!port_is_sockets(&s->ports[i]))
			return true;
	return false;
}

static int start_eal(struct dataplane *d, char *message, uint32_t message_size)
{
	const struct dataplane_settings *s = &d->settings;
	if (!dataplane_needs_eal(s))
		return 0;
	struct eal_ask ask = {.devices = d->devices,
		.device_count = s->port_count,
		.main_cpu = d->plan.main_cpu,
		.huge = s->huge,
		.memory_mb = s->memory_mb,
		.ports = s->ports,
		.extra = s->eal_extra};
	int error = eal_start(&ask, message, message_size);
	d->eal_started = error == 0;
	return error;
}

// Gives each worker of the port its queue, the port's addresses and the port's count of lost packets.
static void attach_workers(struct dataplane *d, uint32_t index)
{
	struct ethernet_port *port = &d->ports[index];
	for (uint32_t i = 0; i < d->plan.worker_count; i++) {
		const struct topology_worker *place = &d->plan.workers[i];
		if (place->port != index)
			continue;
		struct packet_worker *w = &d->workers->items[i];
		packet_worker_attach(
			w, port_queue_io(port, place->queue), &port->hot, &port->signs);
		if (place->queue == 0) {
			w->meter = port_meter;
			w->meter_context = port;
			// The kernel says whose its are.
			w->announces = !port->device.is_sockets && !port->device.is_shared;
		}
		if (d->settings.starts_as_follower) {
			struct hot_port own = roles_own(&port->hot, d->settings.own_address);
			packet_worker_follow(w, &own);
		}
	}
}

static int start_ports(struct dataplane *d, char *message, uint32_t message_size)
{
	const struct dataplane_settings *s = &d->settings;
	bool huge = eal_wants_huge(s->huge, s->ports, s->port_count);
	for (uint32_t i = 0; i < s->port_count; i++) {
		int numa_nodes[WORKERS_MAX];
		for (uint32_t w = 0; w < d->plan.worker_count; w++)
			if (d->plan.workers[w].port == i)
				numa_nodes[d->plan.workers[w].queue] =
					huge ? d->plan.workers[w].numa_node : SOCKET_ID_ANY;
		d->ports[i].device = d->devices[i];
		int error = port_start(&d->ports[i], &s->ports[i], i, s->udp_port, numa_nodes,
			message, message_size);
		if (error != 0)
			return error;
		attach_workers(d, i);
	}
	return 0;
}

static int add_own_address(struct dataplane *d, char *message, uint32_t message_size)
{
	struct dataplane_settings *s = &d->settings;
	if (!s->starts_as_follower || s->own_address[0] == '\0' ||
		roles_add_own(s->ports, s->port_count, s->own_address))
		return 0;
	snprintf(message, message_size,
		"\"%s\" cannot be the controller's own address: write one IPv4 or IPv6 address "
		"that a port has, or for which the first port has room",
		s->own_address);
	return -EINVAL;
}

static bool plan_matches(const struct dataplane_settings *s, const struct topology_plan *plan)
{
	uint32_t queues = 0;
	for (uint32_t i = 0; i < s->port_count; i++)
		queues += port_queues(&s->ports[i]);
	return queues == plan->worker_count;
}

int dataplane_create(const struct dataplane_settings *settings, const struct topology_plan *plan,
	struct dataplane **out, char *message, uint32_t message_size)
{
	CHECK(plan_matches(settings, plan));
	struct dataplane *d = memory_take(sizeof *d);
	d->settings = *settings;
	d->plan = *plan;
	d->ports = memory_take_array(settings->port_count, sizeof *d->ports);
	struct packet_worker_settings worker_settings = {.ttl_ms = settings->ttl_ms,
		.restart_grace_ms = settings->restart_grace_ms,
		.stall_ms = settings->stall_ms,
		.node_rate = settings->node_rate,
		.node_burst = settings->node_burst,
		.client_rate = settings->client_rate,
		.client_burst = settings->client_burst,
		.mass_percent = settings->mass_percent,
		.mass_hold_s = settings->mass_hold_s,
		.idle_sleep_us = settings->idle_sleep_us,
		.spins = settings->poll == POLL_SPIN,
		.leads_surely = settings->leads_surely,
		.lead_context = settings->lead_context,
		.line_port = settings->line_port,
		.sealed_only = settings->sealed_only,
		.alloc_spec = settings->alloc_spec,
		.vm_spec = settings->vm_spec,
		.alloc_spec_context = settings->alloc_spec_context};
	d->workers = packet_workers_create(plan->worker_count, &worker_settings);
	pthread_mutex_init(&d->leader_lock, NULL);
	for (uint32_t i = 0; i < settings->port_count; i++)
		beside_kernel_settle(&d->settings.ports[i]);
	int error = add_own_address(d, message, message_size);
	if (error == 0)
		error = resolve_devices(d, message, message_size);
	if (error == 0)
		error = lock_ports(d, message, message_size);
	if (error == 0)
		error = start_eal(d, message, message_size);
	if (error == 0)
		error = start_ports(d, message, message_size);
	if (error != 0) {
		dataplane_destroy(d);
		return error;
	}
	*out = d;
	return 0;
}

static void *socket_worker_main(void *context)
{
	packet_worker_run(context);
	return NULL;
}

static void *worker_main(void *context)
{
	struct packet_worker *w = context;
	// An lcore number gives the thread its mempool caches.
	if (rte_thread_register() != 0)
		log_warn("worker-not-registered", "worker=%u effect=\"slower packet pools\"",
			w->hot.number);
	packet_worker_run(w);
	if (rte_lcore_id() != LCORE_ID_ANY)
		rte_thread_unregister();
	return NULL;
}

static int launch_worker(struct dataplane *d, uint32_t number)
{
	pthread_attr_t attributes;
	cpu_set_t cpus;
	char name[16];
	int error = pthread_attr_init(&attributes);
	if (error != 0)
		return -error;
	CPU_ZERO(&cpus);
	CPU_SET(d->plan.workers[number].cpu, &cpus);
	error = pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
	if (error == 0)
		error = pthread_create(&d->threads[number], &attributes,
			d->eal_started ? worker_main : socket_worker_main,
			&d->workers->items[number]);
	pthread_attr_destroy(&attributes);
	if (error != 0)
		return -error;
	snprintf(name, sizeof name, "worker-%hu", (uint16_t)number);
	pthread_setname_np(d->threads[number], name);
	d->threads_running++;
	return 0;
}

// Moves the node lines to the NUMA node of the workers. With workers on several NUMA nodes each line stays where it
// was first touched: by its owner, unless the node was known before.
static void bring_lines_home(const struct dataplane *d, const struct node_table *table)
{
	if (numa_nodes() < 2 || d->plan.worker_count == 0)
		return;
	int home = d->plan.workers[0].numa_node;
	for (uint32_t i = 1; i < d->plan.worker_count; i++)
		if (d->plan.workers[i].numa_node != home)
			return;
	int error = numa_prefer(table->lines, table->slots_max * sizeof table->lines[0], home);
	if (error == 0)
		error = numa_prefer((void *)table->last_heard_ms,
			table->slots_max * sizeof table->last_heard_ms[0], home);
	if (error != 0)
		log_warn("node-lines-not-moved",
			"numa_node=%d error=\"%s\" effect=\"slower heartbeats\"", home,
			strerror(-error));
}

int dataplane_start(struct dataplane *d, struct state *state, struct command_queue *queue,
	const struct master_keys *keys, const struct time_source *time)
{
	bring_lines_home(d, state_node_table(state));
	packet_workers_open(d->workers, state, queue, keys, time);
	// Only the main thread takes signals.
	sigset_t all, before;
	sigfillset(&all);
	int error = -pthread_sigmask(SIG_SETMASK, &all, &before);
	for (uint32_t i = 0; i < d->workers->count && error == 0; i++)
		error = launch_worker(d, i);
	d->watch.expiry_changed = d->settings.expiry_changed;
	d->watch.context = d->settings.expiry_context;
	if (error == 0)
		error = watch_start(&d->watch, d->ports, d->settings.port_count, d->workers);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0)
		dataplane_stop(d);
	return error;
}

// Whether every worker begins a turn soon: then none looks any more at what it found before.
static bool workers_turn(struct packet_workers *team)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	uint64_t since_ns = time_monotonic_ns(team->time);
	for (uint32_t i = 0; i < team->count; i++) {
		while (atomic_load(&team->items[i].turned_ns) <= since_ns) {
			if (time_monotonic_ns(team->time) - since_ns > ALIVE_WITHIN_NS)
				return false;
			nanosleep(&pause, NULL);
		}
	}
	return true;
}

int dataplane_change_keys(struct dataplane *d, const struct master_keys *keys)
{
	int error = sender_keys_publish(d->workers, keys);
	bool turned = workers_turn(d->workers);
	if (turned)
		sender_keys_retire(d->workers);
	if (error == -EBUSY && turned) // the ones before had to wait for this
		return dataplane_change_keys(d, keys);
	return error != 0 ? error : turned ? 0 : -ETIMEDOUT;
}

void dataplane_set_leader_address(struct dataplane *d, const char *ip_and_port)
{
	struct wire_endpoint leader = {.port = 0};
	if (ip_and_port[0] != '\0' && !roles_parse_place(ip_and_port, &leader)) {
		char quoted[300];
		log_warn("leader-address-odd", "address=%s effect=\"nodes try the others\"",
			log_quote(ip_and_port, quoted, sizeof quoted));
		leader = (struct wire_endpoint){.port = 0};
	}
	pthread_mutex_lock(&d->leader_lock);
	follow_set_leader(&d->workers->leader, &leader);
	pthread_mutex_unlock(&d->leader_lock);
}

int dataplane_lead(struct dataplane *d)
{
	if (d->workers->count == 0)
		return 0; // nobody to lead
	if (!atomic_load(&d->workers->follows))
		return -EALREADY;
	packet_workers_lead(d->workers);
	return 0;
}

void dataplane_refuse(struct dataplane *d)
{
	atomic_store(&d->workers->refuses, true);
}

void dataplane_stop(struct dataplane *d)
{
	watch_stop(&d->watch);
	atomic_store(&d->workers->stopping, true);
	for (uint32_t i = 0; i < d->threads_running; i++)
		pthread_join(d->threads[i], NULL);
	d->threads_running = 0;
	for (uint32_t i = 0; i < d->settings.port_count; i++)
		port_stop(&d->ports[i]);
}

void dataplane_destroy(struct dataplane *d)
{
	if (d == NULL)
		return;
	for (uint32_t i = 0; i < d->settings.port_count; i++)
		port_close(&d->ports[i]);
	if (d->eal_started)
		eal_stop();
	for (uint32_t i = 0; i < d->locks_taken; i++)
		port_lock_release(&d->locks[i]);
	packet_workers_destroy(d->workers);
	pthread_mutex_destroy(&d->leader_lock);
	free(d->ports);
	free(d);
}

uint32_t dataplane_workers(const struct dataplane *d)
{
	return d->workers->count;
}

const struct hot_counters *dataplane_counters(const struct dataplane *d, uint32_t worker)
{
	CHECK(worker < d->workers->count);
	return &d->workers->items[worker].counters;
}

uint32_t dataplane_ports(const struct dataplane *d)
{
	return d->settings.port_count;
}

static uint64_t load_counter(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

void dataplane_port_counters(
	const struct dataplane *d, uint32_t port, struct dataplane_port_counters *c)
{
	CHECK(port < d->settings.port_count);
	const struct ethernet_port *p = &d->ports[port];
	*c = (struct dataplane_port_counters){.received = load_counter(&p->received),
		.received_bytes = load_counter(&p->received_bytes),
		.sent = load_counter(&p->sent),
		.sent_bytes = load_counter(&p->sent_bytes),
		.missed = load_counter(&p->signs.missed),
		.errors = load_counter(&p->errors),
		.no_mbuf = load_counter(&p->no_mbuf)};
	snprintf(c->name, sizeof c->name, "%s", p->device.name);
	snprintf(c->driver, sizeof c->driver, "%.31s", p->device.driver);
}

struct dataplane_port_signs dataplane_port_signs(const struct dataplane *d, uint32_t port)
{
	CHECK(port < d->settings.port_count);
	const struct port_signs *signs = &d->ports[port].signs;
	return (struct dataplane_port_signs){
		atomic_load_explicit(&signs->link_down, memory_order_relaxed),
		atomic_load_explicit(&signs->program_lost, memory_order_relaxed)};
}

uint32_t dataplane_noisiest(const struct dataplane *d, struct noisy_sender *senders, uint32_t max)
{
	return packet_workers_noisiest(d->workers, senders, max);
}

struct expiry_status dataplane_expiry(const struct dataplane *d)
{
	return expiry_status(d->workers);
}

bool dataplane_expiry_release(struct dataplane *d)
{
	bool is_held = expiry_status(d->workers).state >= HOLD_DRAINING;
	if (is_held)
		expiry_release(d->workers);
	return is_held;
}

void dataplane_expiry_text(const struct dataplane *d, char *text, uint32_t text_size)
{
	struct expiry_status status = expiry_status(d->workers);
	watch_text(&d->watch, &status, text, text_size);
}

static bool worker_silent_for(const _Atomic uint64_t *since_ns, uint64_t now_ns, uint64_t limit_ns)
{
	uint64_t since = load_counter(since_ns);
	return now_ns > since && now_ns - since > limit_ns;
}

bool dataplane_alive(const struct dataplane *d, const struct time_source *time)
{
	uint64_t now_ns = time_monotonic_ns(time);
	for (uint32_t i = 0; i < d->threads_running; i++)
		if (worker_silent_for(&d->workers->items[i].turned_ns, now_ns, ALIVE_WITHIN_NS))
			return false;
	return true;
}
