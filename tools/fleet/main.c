#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/client/endpoint.h"
#include "tools/fleet/fleet_step.h"
#include "tools/fleet/report.h"
#include "tools/fleet/work/running.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GOODBYE_S 10.0

static volatile sig_atomic_t stopped, told_to_strike;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		told_to_strike = 1;
	else
		stopped = 1;
}

// Repeats one request over and over: --place.
struct stream {
	const struct fleet_options *options;
	uint32_t left;
};

static bool stream_next(void *context, struct placing_ask *ask)
{
	struct stream *s = context;
	if (s->left == 0)
		return false;
	s->left--;
	*ask = (struct placing_ask){.namespace_name = text_of(s->options->namespace_name),
		.job = s->options->job,
		.group = s->options->group,
		.count = (uint8_t)s->options->instances};
	return true;
}

static void stream_placed(void *context, uint32_t number, const struct wire_placed *placed)
{
}

static void stream_refused(void *context, uint32_t number, const struct wire_refused *refused)
{
}

static struct transport *open_sockets(const struct fleet_options *o, char *message, uint32_t size)
{
	struct servers servers;
	if (servers_open(&servers, o->server, message, size) < 0)
		return NULL;
	return transport_socket_open(servers.current, o->source, o->sockets, message, size);
}

static struct transport *open_transport(
	const struct fleet_options *o, const char *program, char *message, uint32_t size)
{
	if (!o->vdev)
		return open_sockets(o, message, size);
	struct transport_dpdk_settings settings = {.program = program,
		.vdev = o->vdev,
		.server = o->server,
		.address = o->address,
		.eal = o->eal,
		.lanes = o->sockets};
	return transport_dpdk_open(&settings, message, size);
}

// Addresses of a capture: locally administered MACs, from the fleet to the controller.
static bool capture_flow(
	const struct fleet_options *o, struct packet_flow *flow, char *message, uint32_t size)
{
	struct sockaddr_storage server;
	socklen_t server_size;
	if (endpoint_resolve(o->server, &server, &server_size, message, size) < 0)
		return false;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&server;
	const char *from = o->address ? o->address : "10.99.0.2";
	*flow = (struct packet_flow){.mac_from = {2, 0, 0, 0, 0, 2},
		.mac_to = {2, 0, 0, 0, 0, 1},
		.port_from = 20000,
		.port_to = ntohs(v4->sin_port)};
	if (server.ss_family != AF_INET || inet_pton(AF_INET, from, flow->from) != 1) {
		snprintf(message, size,
			"--write-pcap needs IPv4 addresses in --server and --address");
		return false;
	}
	memcpy(flow->to, &v4->sin_addr, 4);
	return true;
}

static void begin_placing(struct run *run, struct stream *stream)
{
	const struct fleet_options *o = run->options;
	struct placing_settings settings = {.client = o->client,
		.key_id = run->fleet.settings.key_id,
		.window = o->window,
		.rate = o->rate,
		.repeat_share = o->repeat_percent / 100,
		.release_share = o->release_percent / 100,
		// Two runs need different request numbers, or the controller answers the second with the first's
		// answers.
		.seed = o->seed ^ time_wall_ns(&time_source_real)};
	struct placing_source source = {.context = stream,
		.next = stream_next,
		.placed = stream_placed,
		.refused = stream_refused};
	if (run->trace)
		source = trace_source(run->trace);
	run->placing = memory_take(sizeof *run->placing);
	placing_start(run->placing, &settings, &source, &run->fleet);
}

// The last fault is over, and every node that should be ready is.
static bool settled(const struct run *run)
{
	const struct fleet_options *o = run->options;
	double last_ms = 0;
	for (uint32_t i = 0; i < o->fault_count; i++) {
		double end_ms = fault_end_ms(&o->faults[i]);
		last_ms = end_ms > last_ms ? end_ms : last_ms;
	}
	const struct fleet *f = &run->fleet;
	return run->faults_done && run->seconds * 1000 >= last_ms &&
	       f->ready + f->away == f->settings.nodes;
}

static bool is_over(const struct run *run)
{
	const struct fleet_options *o = run->options;
	bool has_end = o->until_registered || run->placing_asked || o->fault_count > 0;
	if (stopped || (o->duration_s > 0 && run->seconds >= o->duration_s))
		return true;
	if (!has_end || (o->duration_s > 0 && !o->until_registered && !run->placing_asked))
		return false;
	return settled(run) && (!run->placing_asked || run->placing_done);
}

static void strike_faults(struct run *run)
{
	struct fault *faults = (struct fault *)run->options->faults;
	if (told_to_strike) {
		told_to_strike = 0;
		faults_signal(faults, run->options->fault_count, &run->fleet);
	}
	run->faults_done = faults_strike(faults, run->options->fault_count, &run->fleet);
}

static void work_as_fleet(struct run *run, struct stream *stream)
{
	struct fleet *f = &run->fleet;
	double told_s = 0;
	while (!is_over(run)) {
		uint32_t handled = fleet_step(f);
		run->seconds = (double)(f->now_ns - f->start_ns) / NS_PER_S;
		strike_faults(run);
		if (run->placing_asked && !run->placing && f->ready + f->away == f->settings.nodes)
			begin_placing(run, stream);
		if (run->placing && !run->placing_done)
			run->placing_done = placing_step(run->placing);
		if (!run->options->quiet && run->seconds - told_s >= 1) {
			told_s = run->seconds;
			report_line(run);
		}
		if (handled == 0)
			f->transport->wait(f->transport, 1000);
	}
}

static void say_goodbye(struct run *run)
{
	struct fleet *f = &run->fleet;
	uint64_t end_ns = f->now_ns + (uint64_t)(GOODBYE_S * NS_PER_S);
	uint32_t away_before = f->away;
	for (uint32_t i = 0; i < f->settings.nodes; i++) {
		if (f->nodes[i].phase != FLEET_BEATING)
			continue;
		fleet_set_phase(f, &f->nodes[i], FLEET_LEAVING);
		fleet_urge(f, i);
	}
	uint64_t gone_before = f->counters.gone, leaving = f->away - away_before;
	while (f->counters.gone - gone_before < leaving && f->now_ns < end_ns)
		if (fleet_step(f) == 0)
			f->transport->wait(f->transport, 1000);
}

static int finish_run(struct run *run)
{
	const struct fleet_options *o = run->options;
	bool seen = report_verdict(run);
	if (!o->quiet)
		report_line(run);
	report_trace(run);
	if (o->goodbye)
		say_goodbye(run);
	if (o->json && report_json(run, seen, o->json) < 0) {
		fprintf(stderr, "berth-fleet: cannot write %s: %m\n", o->json);
		return FLEET_FAILED;
	}
	return seen ? FLEET_SEEN : FLEET_UNSEEN;
}

static int simulate(struct run *run, const struct fleet_settings *settings,
	const struct shapes *shapes, const struct master_keys *masters, const char *program)
{
	char message[500] = "";
	struct stream stream = {.options = run->options, .left = run->options->count};
	struct transport *transport =
		open_transport(run->options, program, message, sizeof message);
	if (transport && run->trace &&
		trace_register_jobs(run->trace, &run->options->api, message, sizeof message) < 0) {
		transport->close(transport);
		transport = NULL;
	}
	if (!transport || fleet_create(&run->fleet, settings, shapes, masters, &time_source_real,
				  transport, message, sizeof message) < 0) {
		fprintf(stderr, "berth-fleet: %s\n", message);
		if (transport)
			transport->close(transport);
		return FLEET_FAILED;
	}
	struct running_settings running = {.run_for_s = run->options->run_for_s,
		.fail_share = run->options->fail_percent / 100,
		.start_delay_s = run->options->start_delay_s,
		.bad = run->options->bad_version,
		.workers = run->options->workers};
	if (run->options->run)
		run->fleet.running = running_create(&run->fleet, &running);
	work_as_fleet(run, &stream);
	int code = finish_run(run);
	running_destroy(run->fleet.running);
	if (run->placing)
		placing_stop(run->placing);
	free(run->placing);
	if (fleet_destroy(&run->fleet) < 0) {
		fprintf(stderr, "berth-fleet: cannot write %s: %m\n", settings->pcap);
		code = FLEET_FAILED;
	}
	transport->close(transport);
	return code;
}

static int run_with_keys(struct fleet_options *o, const char *program)
{
	static struct run run;
	static struct trace trace;
	struct master_keys masters;
	char message[500];
	struct fleet_settings settings = {.first = o->first,
		.nodes = o->nodes,
		.register_rate = o->register_rate,
		.send_rate = o->send_rate,
		.loss = o->loss_percent / 100,
		.seed = o->seed,
		.servers = o->server,
		.pcap = o->write_pcap};
	run = (struct run){.options = o,
		.out = o->json && strcmp(o->json, "-") == 0 ? stderr : stdout,
		.placing_asked = o->place || o->trace,
		.placing_requests = o->count};
	bool good = master_keys_load(o->key_file, &masters, message, sizeof message) == 0;
	if (good && o->trace) {
		good = trace_load(&trace, o->trace, o->seed, message, sizeof message) == 0;
		run.trace = &trace;
		run.placing_requests = trace.pods;
		settings.nodes = trace.nodes;
		settings.first = 0;
	}
	if (good && o->write_pcap)
		good = capture_flow(o, &settings.pcap_flow, message, sizeof message);
	if (!good) {
		fprintf(stderr, "berth-fleet: %s\n", message);
		return FLEET_FAILED;
	}
	settings.key_id = masters.keys[0].id;
	int code =
		simulate(&run, &settings, o->trace ? &trace.shapes : &o->shapes, &masters, program);
	trace_free(&trace);
	explicit_bzero(&masters, sizeof masters);
	return code;
}

int main(int argc, char **argv)
{
	static struct fleet_options options;
	int code;
	if (!fleet_options_read(argc, argv, &options, &code))
		return code;
	struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	return run_with_keys(&options, argv[0]);
}
