#include "tools/agent/agent.h"
#include "state/base/clock/waited.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/confinement.h"
#include "tools/agent/variable_line.h"
#include "tools/agent/vm_worker.h"
#include "tools/client/endpoint.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

// A node that leaves waits no longer than this for its tasks to end, whatever time they may take.
#define STOP_TASKS_MAX_NS NS_PER_MIN
// Frames in a row that one controller of several leaves unanswered before the agent goes on to the next.
#define MISSED_BY_ONE_SERVER 2u

static uint64_t now_ns(void)
{
	return time_monotonic_ns(&time_source_real);
}

static int open_runner(struct agent *a, char *message, uint32_t message_size)
{
	const struct agent_options *o = a->options;
	struct machine_settings machines;
	int rc = vm_worker_machines(o, &machines, a->images, message, message_size);
	if (rc < 0)
		return rc;
	struct runner_settings settings = {.data_folder = o->data_dir ? o->data_dir : o->state_dir,
		.state_folder = o->state_dir,
		.time = &time_source_real,
		.seed = prng_u64(&a->prng),
		.no_raw_exec = o->no_raw_exec,
		.machines = machines,
		.prepare = {.helper = "/proc/self/exe",
			.limits = {(uint64_t)o->artifact_max_mb << 20, o->artifact_max_files,
				o->artifact_timeout_s},
			.source = {&a->line, variable_line_ask},
			.seed = prng_u64(&a->prng)},
		.confine = &a->confine};
	rc = runner_open(&a->runner, &settings, message, message_size);
	if (rc < 0)
		return rc;
	struct probe_settings probe = {o->probe, o->probe_backoff_ms, o->probe_timeout_ms};
	readiness_open(&a->readiness, &a->runner, &probe);
	alloc_sync_start(&a->sync, &a->runner, &a->readiness, &a->beat.session, prng_u64(&a->prng),
		time_wall_ns(&time_source_real) / NS_PER_MS);
	// These facts hold until the agent describes the machine for the first time.
	struct node_facts facts = {.id = a->identity.node,
		.name = o->name ? o->name : "",
		.datacenter = o->datacenter,
		.class_name = o->class_name,
		.pool = o->pool};
	runner_know_node(&a->runner, &facts);
	a->sync.vms.is_worker = o->worker;
	if (o->worker)
		log_info("worker", "machines=%s images=%s", machines.qemu ? "qemu" : "mock",
			a->images);
	if (!o->worker)
		runner_forget_machines(&a->runner);
	a->runs = true;
	return agent_serve(a, message, message_size);
}

// The state directory is made the same way.
static int make_data_folder(
	const struct agent_options *options, char *message, uint32_t message_size)
{
	const char *folder = options->data_dir;
	if (!folder || mkdir(folder, 0711) == 0 || errno == EEXIST)
		return 0;
	int error = errno;
	snprintf(message, message_size, "cannot make --data-dir %s: %s", folder, strerror(error));
	return -error;
}

int agent_create(
	struct agent *a, const struct agent_options *options, char *message, uint32_t message_size)
{
	*a = (struct agent){.options = options, .fd = -1, .load_fd = -1};
	a->identity.lock_fd = -1;
	engines_open(&a->engines, options);
	prng_seed_from_system(&a->prng);
	a->boot = prng_u64(&a->prng) | 1;
	int rc = identity_open(options->state_dir, &a->prng, &a->identity, message, message_size);
	if (rc < 0 || options->print_id)
		return rc;
	if (options->server)
		rc = servers_open(&a->servers, options->server, message, message_size);
	if (rc < 0)
		return rc;
	rc = make_data_folder(options, message, message_size);
	if (rc < 0)
		return rc;
	char path[300];
	snprintf(path, sizeof path, "%s/node.key", options->state_dir);
	struct node_session *s = &a->beat.session;
	if (!options->print_fingerprint)
		rc = identity_read_key(options->key_file ? options->key_file : path, &s->key_id,
			&s->key, message, message_size);
	if (rc < 0)
		return rc;
	if (hwloc_topology_init(&a->topology) < 0 || hwloc_topology_load(a->topology) < 0) {
		snprintf(message, message_size, "hwloc cannot read this machine's topology");
		return -EIO;
	}
	rc = confinement_open(&a->confine, options, message, message_size);
	if (rc < 0)
		return rc;
	s->term = a->identity.term;
	a->load_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	beat_start(&a->beat, prng_u64(&a->prng), now_ns());
	engines_look(&a->engines);
	return options->print_fingerprint ? 0 : open_runner(a, message, message_size);
}

void agent_destroy(struct agent *a)
{
	if (a->runs) // nobody asks over the line any more
		preparations_stop(a->runner.preparations);
	agent_serve_no_more(a);
	if (a->runs) {
		runner_close(&a->runner);
		alloc_sync_stop(&a->sync);
		readiness_close(&a->readiness);
	}
	confine_close(&a->confine);
	engines_close(&a->engines);
	identity_close(&a->identity);
	if (a->topology)
		hwloc_topology_destroy(a->topology);
	if (a->fd >= 0)
		close(a->fd);
	if (a->load_fd >= 0)
		close(a->load_fd);
	explicit_bzero(&a->beat.session.key, sizeof a->beat.session.key);
}

// Load of the last minute in thousandths of all cores. One read of an open file, no allocation.
static uint32_t load_permille(const struct agent *a)
{
	char text[64];
	ssize_t n = a->load_fd < 0 ? -1 : pread(a->load_fd, text, sizeof text - 1, 0);
	int cores = hwloc_get_nbobjs_by_type(a->topology, HWLOC_OBJ_PU);
	if (n <= 0 || cores <= 0)
		return 0;
	text[n] = '\0';
	return (uint32_t)(strtod(text, NULL) * 1000 / cores);
}

static void address_text(const struct sockaddr_storage *from, char address[static INET6_ADDRSTRLEN])
{
	const void *bytes = from->ss_family == AF_INET
				    ? (const void *)&((const struct sockaddr_in *)from)->sin_addr
				    : (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr;
	inet_ntop(from->ss_family, bytes, address, INET6_ADDRSTRLEN);
}

static void local_address(int fd, char address[static INET6_ADDRSTRLEN])
{
	struct sockaddr_storage local;
	socklen_t size = sizeof local;
	address[0] = '\0';
	if (fd >= 0 && getsockname(fd, (struct sockaddr *)&local, &size) == 0)
		address_text(&local, address);
}

// The line goes where heartbeats go.
static void follow_controller(struct agent *a)
{
	char host[INET6_ADDRSTRLEN];
	struct sockaddr_storage peer;
	socklen_t size = sizeof peer;
	if (!a->line || getpeername(a->fd, (struct sockaddr *)&peer, &size) < 0)
		return;
	address_text(&peer, host);
	line_follow(a->line, host);
}

static void hear_call(struct agent *a, const struct node_answer *answer)
{
	const struct node_session *s = &a->beat.session;
	const struct line_call call = {
		answer->line_port, s->generation, s->term, answer->call_number};
	bool is_answer = answer->event == NODE_ACKED || answer->event == NODE_REGISTERED;
	if (a->line && is_answer)
		line_heard(a->line, answer->line_port);
	if (a->line && answer->calls && !a->stop_by_ns)
		line_called(a->line, &call);
}

static void disconnect(struct agent *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}

// Another one is opened for what is sent next: this one would be readable, or refuse, without end.
static void give_up_socket(struct agent *a, const char *event, int error)
{
	log_warn(event, "error=\"%s\" action=\"another socket is opened\"", strerror(error));
	disconnect(a);
}

// Opens the socket if it is closed. When the local address has changed, the agent registers again.
static bool connected(struct agent *a)
{
	char message[200], quoted[240], address[INET6_ADDRSTRLEN];
	if (a->fd >= 0)
		return true;
	a->fd = endpoint_connect(a->servers.current, a->options->source, message, sizeof message);
	a->counters.reconnects++;
	if (a->fd < 0) {
		log_warn("connect-failed", "error=%s", log_quote(message, quoted, sizeof quoted));
		servers_next(&a->servers);
		return false;
	}
	local_address(a->fd, address);
	if (a->address[0] && strcmp(a->address, address) != 0) {
		log_info("address-changed", "from=%s to=%s", a->address, address);
		beat_describe(&a->beat, now_ns());
	}
	memcpy(a->address, address, sizeof a->address);
	follow_controller(a);
	return true;
}

static void send_bytes(struct agent *a, const uint8_t *frame, uint32_t length)
{
	a->counters.sent++;
	if (CAN_FAIL(BEAT_SEND, send(a->fd, frame, length, 0)) < 0 && errno != EAGAIN &&
		errno != ECONNREFUSED)
		give_up_socket(a, "sent-nothing", errno);
}

// Fails for good only if the agent never could describe this machine; otherwise a later try may succeed.
static bool send_registration(struct agent *a)
{
	if (a->beat.describe && !agent_describe(a)) {
		char quoted[240];
		log_error("cannot-describe", "error=%s",
			log_quote(a->fingerprint.failure, quoted, sizeof quoted));
		return a->counters.registrations > 0;
	}
	for (uint32_t i = 0; i < a->description.count && a->fd >= 0; i++)
		send_bytes(a, a->description.frames[i], a->description.lengths[i]);
	// The session awaits an answer again, also after an earlier refusal.
	node_session_registering(&a->beat.session, a->beat.session.registration);
	return true;
}

// Without answers the agent opens a new socket: its own address or the controller's may have changed. Of several
// controllers it goes on to the next.
static void look_for_silence(struct agent *a)
{
	if (a->beat.missed == 0)
		return;
	disconnect(a);
	if (a->beat.missed % MISSED_BY_ONE_SERVER == 0 && servers_next(&a->servers))
		log_info("next-server", "server=%s unanswered=%u", a->servers.current,
			a->beat.missed);
	if (a->beat.missed < 3 || a->missed_told)
		return;
	a->missed_told = a->beat.missed;
	log_warn(
		"controller-silent", "server=%s unanswered=%u", a->servers.current, a->beat.missed);
}

// Sends the frame that is due. False when the agent cannot go on.
static bool send_due(struct agent *a)
{
	uint8_t frame[WIRE_HEARTBEAT_BYTES];
	enum beat_send what = beat_due(&a->beat, now_ns());
	if (what == BEAT_SEND_NOTHING)
		return true;
	look_for_silence(a);
	if (!connected(a))
		return true;
	switch (what) {
	case BEAT_SEND_REGISTER: return send_registration(a);
	case BEAT_SEND_HEARTBEAT:
		send_bytes(a, frame,
			node_session_heartbeat(&a->beat.session, load_permille(a), frame));
		break;
	case BEAT_SEND_GOODBYE:
		send_bytes(a, frame, node_session_goodbye(&a->beat.session, frame));
		break;
	case BEAT_SEND_NOTHING: break;
	}
	return true;
}

// Stores a higher term before the agent obeys it, so that the agent obeys no older term after a crash.
static void note_term(struct agent *a)
{
	char message[200], quoted[240];
	uint64_t term = a->beat.session.term;
	if (term <= a->identity.term)
		return;
	log_info("controller-term", "term=%lu", (unsigned long)term);
	if (identity_store_term(&a->identity, term, message, sizeof message) < 0)
		log_error("term-not-stored", "error=%s", log_quote(message, quoted, sizeof quoted));
}

static void tell_refusal(struct agent *a, const struct wire_refused *why)
{
	a->counters.refused++;
	log_warn("refused", "request=%s reason=%s retry_after_ms=%u",
		wire_type_name(why->request_type), wire_refusal_name(why->reason),
		why->retry_after_ms);
	if (why->reason == WIRE_REFUSED_CONFLICT)
		log_error("conflict", "hint=%s",
			"\"another node has the worker of this name: take another --name or, if "
			"this machine was set up anew, berth node purge OLD-NODE\"");
	if (why->reason == WIRE_REFUSED_NOT_ADMITTED)
		log_error("not-admitted", "claim=%lu hint=%s", (unsigned long)why->value,
			"\"an operator has to allow what this node says of itself: berth node "
			"admit refused\"");
	if (why->reason == WIRE_REFUSED_QUARANTINED)
		log_error("quarantined", "hint=%s",
			"\"another agent has the id and the key of this one and registered first: "
			"give one of the two machines an id and a key of its own\"");
	if (why->reason == WIRE_REFUSED_BAD_DESCRIPTION)
		log_error("bad-description", "hint=%s",
			"\"see berth-agent --print-fingerprint and the controller's log\"");
}

static void go_to_leader(struct agent *a, const struct wire_refused *why)
{
	a->counters.redirects++;
	if (!servers_follow(&a->servers, &why->leader))
		return;
	log_info("next-server", "server=%s reason=not-leader", a->servers.current);
	disconnect(a);
}

static void log_answer(struct agent *a, const struct node_answer *answer)
{
	const struct node_session *s = &a->beat.session;
	switch (answer->event) {
	case NODE_REGISTERED:
		a->counters.registrations++;
		alloc_sync_registered(&a->sync);
		log_info("registered", "slot=%u generation=%u ttl_ms=%u term=%lu", s->slot,
			s->generation, s->ttl_ms, (unsigned long)s->term);
		sd_notifyf(0, "READY=1\nSTATUS=registered as slot %u, generation %u", s->slot,
			s->generation);
		break;
	case NODE_REGISTER_NOW: log_info("register-again", "generation=%u", s->generation); break;
	case NODE_OLD_TERM:
		a->counters.old_terms++;
		log_warn("old-term", "term=%lu highest=%lu hint=%s", (unsigned long)answer->term,
			(unsigned long)s->term,
			"\"a replaced controller still answers, or the clock of a new one is "
			"behind\"");
		break;
	case NODE_REFUSED:
		if (answer->refused.reason == WIRE_REFUSED_NOT_LEADER)
			go_to_leader(a, &answer->refused);
		else
			tell_refusal(a, &answer->refused);
		break;
	case NODE_GONE: log_info("left", "slot=%u", s->slot); break;
	case NODE_ACKED:
		alloc_sync_heard(&a->sync, now_ns(), time_wall_ns(&time_source_real));
		readiness_heard(&a->readiness, s->directives, now_ns());
		break;
	case NODE_NOTIFIED: a->counters.notices++; break; // the next turn asks
	case NODE_NOTHING:
	case NODE_BEAT_NOW: break;
	}
}

static void receive_all(struct agent *a)
{
	uint8_t frame[FRAME_BYTES_MAX];
	while (a->fd >= 0) {
		ssize_t n = CAN_FAIL(BEAT_RECEIVE, recv(a->fd, frame, sizeof frame, MSG_TRUNC));
		if (n < 0 && (errno == EINTR || errno == ECONNREFUSED))
			continue;
		if (n < 0 && errno != EAGAIN)
			give_up_socket(a, "received-nothing", errno);
		if (n < 0)
			return;
		if ((size_t)n > sizeof frame) {
			a->counters.ignored++;
			continue;
		}
		if (alloc_sync_receive(&a->sync, frame, (uint32_t)n, now_ns())) {
			a->counters.answered++;
			if (a->sync.wants_beat)
				beat_hasten(&a->beat, now_ns());
			a->sync.wants_beat = false;
			continue;
		}
		struct node_answer answer = beat_receive(&a->beat, frame, (uint32_t)n, now_ns());
		if (answer.event == NODE_NOTHING) {
			a->counters.ignored++;
			continue;
		}
		a->counters.answered++;
		note_term(a);
		hear_call(a, &answer);
		log_answer(a, &answer);
		if (a->missed_told && answer.event != NODE_OLD_TERM) {
			log_info("controller-answers", "server=%s", a->servers.current);
			a->missed_told = 0;
		}
	}
}

static void take_signal(struct agent *a, int signal_fd)
{
	struct signalfd_siginfo info;
	if (read(signal_fd, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGHUP) {
		log_info("describing-again", "signal=SIGHUP");
		beat_describe(&a->beat, now_ns());
		return;
	}
	sd_notify(0, "STOPPING=1");
	if (info.ssi_signo == SIGUSR1) {
		log_info("pausing", "tasks=%u", a->runner.count);
		a->stays = true;
		return;
	}
	log_info("leaving", "signal=%u allocations=%u", info.ssi_signo, a->runner.count);
	runner_stop_all(&a->runner);
	a->stop_by_ns = now_ns() + STOP_TASKS_MAX_NS;
}

// A node that leaves stops its tasks; its heartbeats go on until they have ended.
static void leave_when_idle(struct agent *a)
{
	if (!a->stop_by_ns || (!runner_is_idle(&a->runner) && now_ns() < a->stop_by_ns))
		return;
	a->stop_by_ns = 0;
	beat_leave(&a->beat, now_ns());
}

static void send_alloc_frames(struct agent *a)
{
	if (a->beat.state != BEAT_BEATING || a->stop_by_ns || a->fd < 0)
		return;
	if (a->beat.missed > 0)
		alloc_sync_missed(&a->sync);
	uint32_t length = alloc_sync_due(&a->sync, now_ns());
	if (length > 0)
		send_bytes(a, a->sync.frame, length);
}

// Does the work that is due. Returns when the next work is due.
static uint64_t agent_turn(struct agent *a)
{
	uint64_t due = runner_step(&a->runner);
	leave_when_idle(a);
	if (readiness_step(&a->readiness, now_ns()))
		beat_describe(&a->beat, now_ns());
	if (engines_step(&a->engines, a->runner.epoll_fd, now_ns()))
		beat_describe(&a->beat, now_ns());
	send_alloc_frames(a);
	uint64_t sync_due = a->beat.state == BEAT_BEATING && !a->stop_by_ns && a->fd >= 0
				    ? alloc_sync_next_ns(&a->sync)
				    : UINT64_MAX;
	due = sync_due < due ? sync_due : due;
	due = a->beat.due_ns < due ? a->beat.due_ns : due;
	uint64_t probe_due = readiness_due_ns(&a->readiness);
	due = probe_due < due ? probe_due : due;
	uint64_t engines_due = engines_due_ns(&a->engines);
	due = engines_due < due ? engines_due : due;
	return a->stop_by_ns && a->stop_by_ns < due ? a->stop_by_ns : due;
}

enum agent_exit agent_run(struct agent *a, int signal_fd)
{
	if (signal_fd < 0) {
		log_error("signals-not-watched", "error=\"%s\"", strerror(errno));
		return AGENT_FAILED;
	}
	while (a->beat.state != BEAT_LEFT && !a->stays) {
		if (!send_due(a))
			return AGENT_FAILED;
		uint64_t due = agent_turn(a), now = now_ns();
		uint64_t wait_ns = due > now ? due - now : 0;
		struct timespec timeout = {.tv_sec = (time_t)(wait_ns / NS_PER_S),
			.tv_nsec = (long)(wait_ns % NS_PER_S)};
		struct pollfd polled[] = {{.fd = signal_fd, .events = POLLIN},
			{.fd = a->fd, .events = POLLIN},
			{.fd = a->runner.epoll_fd, .events = POLLIN},
			{.fd = a->readiness.probe.fd, .events = POLLIN},
			{.fd = ask_runner_fd(a->ask), .events = POLLIN}};
		if (a->beat.state == BEAT_LEFT ||
			WAITED(CAN_FAIL(BEAT_WAIT, ppoll(polled, 5, &timeout, NULL)), "agent") == 0)
			continue;
		if (polled[4].revents)
			ask_runner_serve(a->ask, &a->runner);
		if (polled[0].revents)
			take_signal(a, signal_fd);
		if (polled[1].revents)
			receive_all(a);
	}
	if (a->stays)
		return AGENT_LEFT;
	return a->beat.session.generation ? AGENT_UNCONFIRMED : AGENT_LEFT;
}
