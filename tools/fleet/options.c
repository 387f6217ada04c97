#include "tools/fleet/options.h"
#include "tools/agent/vm/vm_worker_lists.h"
#include <stdio.h>
#include <string.h>

static const struct flag table[] = {
#define AT(field) offsetof(struct fleet_options, field)
	{"server", "HOST[:PORT][,...]", FLAG_TEXT, AT(server),
		"the controller, or several of a cluster (default 127.0.0.1:4647)"},
	{"source", "ADDRESS", FLAG_TEXT, AT(source), "local address to send from"},
	{"sockets", "N", FLAG_U32, AT(sockets),
		"sockets, or UDP source ports of --vdev (4; --trace 1)"},
	{"vdev", "ARGS", FLAG_TEXT, AT(vdev), "send through this DPDK device instead of sockets"},
	{"address", "IPV4", FLAG_TEXT, AT(address), "our address on --vdev and in --write-pcap"},
	{"eal", "ARGS", FLAG_TEXT, AT(eal), "further DPDK arguments"},
	{"key-file", "FILE", FLAG_TEXT, AT(key_file), "the cluster's master key file (required)"},
	{"nodes", "N", FLAG_U32, AT(nodes), "simulated nodes (1000; at most 1000000)"},
	{"first", "INDEX", FLAG_U64, AT(first), "index of the first (0)"},
	{"seed", "N", FLAG_U64, AT(seed), "makes ids, shapes and faults (1)"},
	{"name", "PREFIX", FLAG_TEXT, AT(name_prefix), "node names before the index (fleet-)"},
	{"cpu", "MHZ", FLAG_U32, AT(cpu_mhz), "of a node, unless --shape (32000)"},
	{"memory", "MB", FLAG_U32, AT(memory_mb), "of a node, unless --shape (65536)"},
	{"disk", "MB", FLAG_U32, AT(disk_mb), "of a node, unless --shape (500000)"},
	{"class", "NAME", FLAG_TEXT, AT(class_name), "of a node, unless --shape"},
	{"shape", "CLASS=WEIGHT,CPU,MEM,DISK[,GPUS[,MODEL]]", FLAG_LIST, AT(shape),
		"a kind of node; may be repeated, chosen by weight"},
	{"datacenter", "NAME[,NAME]...", FLAG_TEXT, AT(datacenter), "spread evenly (dc1)"},
	{"attributes", "N", FLAG_U32, AT(attributes), "of each node (45, as a real one)"},
	{"register-rate", "N", FLAG_REAL, AT(register_rate), "new nodes a second (10000; 0 all)"},
	{"send-rate", "N", FLAG_REAL, AT(send_rate), "frames a second at most (0: no bound)"},
	{"loss", "PERCENT", FLAG_REAL, AT(loss_percent), "frames lost, each way"},
	{"silence", "COUNT@S[+S]", FLAG_LIST, AT(silence), "nodes fall silent at S (for S)"},
	{"crash", "COUNT@S[+S]", FLAG_LIST, AT(crash), "nodes restart at S (after S more)"},
	{"leave", "COUNT@S", FLAG_LIST, AT(leave), "nodes say goodbye at S"},
	{"return", "COUNT@S", FLAG_LIST, AT(back), "nodes that are away come back at S"},
	{"flap", "COUNT@S+S[xN]", FLAG_LIST, AT(flap),
		"nodes are silent for S and back for S, N times (3)"},
	{"unready", "COUNT@S[+S]", FLAG_LIST, AT(unready), "their probes say no from S on (for S)"},
	{"break", "COUNT@S[+S]", FLAG_LIST, AT(broken),
		"what runs on them fails by their fault from S on (for S)"},
	{"duration", "S", FLAG_REAL, AT(duration_s), "run so long (0: until all was seen)"},
	{"until-registered", NULL, FLAG_SWITCH, AT(until_registered),
		"end when all nodes are ready, and fail when --duration comes first"},
	{"goodbye", NULL, FLAG_SWITCH, AT(goodbye), "all nodes say goodbye at the end"},
	{"run-for", "S", FLAG_REAL, AT(run_for_s),
		"an allocation whose job does not say runs so long, half to one and a half "
		"times (0: until it is stopped)"},
	{"fail-percent", "PERCENT", FLAG_REAL, AT(fail_percent),
		"of the allocations that end by themselves, failed (0)"},
	{"bad-version", "JOB:VERSION", FLAG_LIST, AT(bad_version),
		"allocations of that version of a job fail to start; may be repeated"},
	{"start-delay", "S", FLAG_REAL, AT(start_delay_s),
		"an allocation takes up to so long to start (0)"},
	{"run", NULL, FLAG_SWITCH, AT(run),
		"run allocations, also with --place and --trace, where they are left alone"},
	{"no-run", NULL, FLAG_SWITCH, AT(no_run), "leave allocations alone"},
	{"workers", "N", FLAG_U32, AT(workers), "of the nodes run virtual machines, too (0)"},
	{"worker-resource", "NAME=N", FLAG_LIST, AT(worker_resources),
		"that a worker has; may be repeated"},
	{"worker-label", "NAME=VALUE", FLAG_LIST, AT(worker_labels),
		"of a worker; may be repeated"},
	{"worker-default-cpu", "N", FLAG_U32, AT(worker_default_cpu),
		"cores of a machine that does not say (the controller's)"},
	{"worker-default-memory", "MIB", FLAG_U32, AT(worker_default_memory_mib),
		"memory of a machine that does not say (the controller's)"},
	{"place", "JOB:GROUP", FLAG_TEXT, AT(place), "place instances once all nodes are ready"},
	{"namespace", "NAME", FLAG_TEXT, AT(namespace_name), "of that job (default)"},
	{"count", "N", FLAG_U32, AT(count), "requests to make (1)"},
	{"instances", "N", FLAG_U32, AT(instances), "instances of each request (1; at most 32)"},
	{"rate", "N", FLAG_REAL, AT(rate), "requests a second (0: as fast as answered)"},
	{"window", "N", FLAG_U32, AT(window), "requests on their way at once (64; --trace 1)"},
	{"repeat", "PERCENT", FLAG_REAL, AT(repeat_percent),
		"asked twice; the answers must agree (10)"},
	{"release", "PERCENT", FLAG_REAL, AT(release_percent), "of the placed, released again (0)"},
	{"client", "NAME", FLAG_TEXT, AT(client), "name of the client that places (fleet)"},
	{"trace", "DIR", FLAG_TEXT, AT(trace), "openb machines and pods instead of --nodes"},
	{"http", "URL", FLAG_TEXT, AT(api.url),
		"where --trace registers jobs (BERTH_ADDR, http://127.0.0.1:4646)"},
	{"token", "SECRET", FLAG_TEXT, AT(api.token), "who registers them (BERTH_TOKEN)"},
	{"ca-cert", "FILE", FLAG_TEXT, AT(api.tls.ca_file),
		"authority of that server's certificate (BERTH_CACERT)"},
	{"client-cert", "FILE", FLAG_TEXT, AT(api.tls.certificate_file),
		"what is shown to it (BERTH_CLIENT_CERT)"},
	{"client-key", "FILE", FLAG_TEXT, AT(api.tls.key_file), "its key (BERTH_CLIENT_KEY)"},
	{"tls-server-name", "NAME", FLAG_TEXT, AT(api.tls.server_name),
		"what that certificate names (BERTH_TLS_SERVER_NAME)"},
	{"tls-skip-verify", NULL, FLAG_SWITCH, AT(api.tls.is_unverified),
		"believe whoever answers (BERTH_SKIP_VERIFY)"},
	{"write-pcap", "FILE", FLAG_TEXT, AT(write_pcap), "capture of the heartbeats sent"},
	{"json", "FILE", FLAG_TEXT, AT(json), "summary; \"-\" is standard output"},
	{"quiet", NULL, FLAG_SWITCH, AT(quiet), "no line every second"},
#undef AT
};

static const struct flags flags = {
	.program = "berth-fleet",
	.usage = "usage: berth-fleet --key-file FILE [OPTION]...\n"
		 "Simulates many node agents, and a client, against a Berth controller.\n",
	.notes = "\nThe time of a fault is seconds after the start, or the word signal: when "
		 "SIGUSR1 comes.\n"
		 "Exit status: 0 everything asked for was seen, 1 not, 2 usage, 3 failure.\n",
	.table = table,
	.count = sizeof table / sizeof table[0],
};

static bool refuse_option(const char *what, const char *value)
{
	fprintf(stderr, "berth-fleet: %s, not \"%s\"\n", what, value);
	return false;
}

static bool read_datacenters(struct fleet_options *o)
{
	struct shapes *s = &o->shapes;
	for (const char *at = o->datacenter;;) {
		size_t size = strcspn(at, ",");
		if (size == 0 || size >= sizeof s->datacenters[0] ||
			s->datacenter_count == DATACENTERS_MAX)
			return refuse_option("--datacenter wants 1 to 16 names", o->datacenter);
		memcpy(s->datacenters[s->datacenter_count++], at, size);
		if (at[size] == '\0')
			return true;
		at += size + 1;
	}
}

static bool read_shapes(struct fleet_options *o)
{
	struct shapes *s = &o->shapes;
	s->seed = o->seed;
	s->attributes = o->attributes;
	s->name_prefix = o->name_prefix;
	if (strlen(o->name_prefix) > 100)
		return refuse_option("--name wants up to 100 characters", o->name_prefix);
	for (uint32_t i = 0; i < o->shape.count; i++)
		if (!shape_parse(o->shape.items[i], &s->list[s->count++]))
			return refuse_option(
				"--shape wants CLASS=WEIGHT,CPU,MEMORY,DISK[,GPUS[,MODEL]]",
				o->shape.items[i]);
	if (s->count == 0) {
		s->list[0] = (struct shape){.weight = 1,
			.cpu_mhz = o->cpu_mhz,
			.memory_mb = o->memory_mb,
			.disk_mb = o->disk_mb};
		snprintf(s->list[0].class_name, sizeof s->list[0].class_name, "%s", o->class_name);
		s->count = 1;
	}
	return read_datacenters(o);
}

static bool read_faults(struct fleet_options *o)
{
	const struct {
		enum fault_kind kind;
		const struct flag_list *list;
		const char *wants;
	} kinds[] = {
		{FAULT_SILENCE, &o->silence, "--silence wants COUNT@SECONDS[+SECONDS]"},
		{FAULT_CRASH, &o->crash, "--crash wants COUNT@SECONDS[+SECONDS]"},
		{FAULT_LEAVE, &o->leave, "--leave wants COUNT@SECONDS"},
		{FAULT_RETURN, &o->back, "--return wants COUNT@SECONDS"},
		{FAULT_FLAP, &o->flap, "--flap wants COUNT@SECONDS+SECONDS[xTIMES]"},
		{FAULT_UNREADY, &o->unready, "--unready wants COUNT@SECONDS[+SECONDS]"},
		{FAULT_BREAK, &o->broken, "--break wants COUNT@SECONDS[+SECONDS]"},
	};
	for (uint32_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		for (uint32_t i = 0; i < kinds[k].list->count; i++) {
			struct fault *fault = &o->faults[o->fault_count++];
			const char *text = kinds[k].list->items[i];
			if (!fault_parse(kinds[k].kind, text, fault) || fault->count > o->nodes)
				return refuse_option(kinds[k].wants, text);
		}
	}
	return true;
}

static bool read_place(struct fleet_options *o)
{
	if (!o->place)
		return true;
	const char *colon = strrchr(o->place, ':');
	if (!colon || colon == o->place || colon[1] == '\0' || colon - o->place > 255 ||
		strlen(colon + 1) > 255)
		return refuse_option("--place wants JOB:GROUP", o->place);
	o->job = (struct text){o->place, (uint32_t)(colon - o->place)};
	o->group = text_of(colon + 1);
	return true;
}

static bool read_workers(struct fleet_options *o)
{
	char message[200] = "";
	o->shapes.workers = (struct shape_vm_workers){.first = o->first,
		.count = o->workers,
		.resources = o->worker_resources,
		.labels = o->worker_labels,
		.default_cpu = o->worker_default_cpu,
		.default_memory_mib = o->worker_default_memory_mib};
	if (vm_worker_resources_are_sound(&o->worker_resources, message, sizeof message) &&
		vm_worker_labels_are_sound(&o->worker_labels, message, sizeof message))
		return true;
	fprintf(stderr, "berth-fleet: %s\n", message);
	return false;
}

static bool check_ranges(const struct fleet_options *o)
{
	const struct {
		bool good;
		const char *says;
	} checks[] = {
		{o->key_file, "--key-file FILE is missing"},
		{o->nodes <= 1000000, "--nodes is at most 1000000"},
		{o->loss_percent < 100, "--loss is less than 100"},
		{o->repeat_percent <= 100 && o->release_percent <= 100,
			"--repeat and --release are at most 100"},
		{o->fail_percent <= 100, "--fail-percent is at most 100"},
		{o->run_for_s <= 4e6 && o->start_delay_s <= 4e6,
			"--run-for and --start-delay are at most 4000000"},
		{!o->trace || o->workers == 0, "--trace and --workers exclude each other"},
		{o->workers <= o->nodes, "--workers is at most --nodes"},
		{o->run || o->workers == 0, "--workers needs allocations to be run"},
		{o->run || o->broken.count == 0, "--break needs allocations to be run"},
		{!o->run || !o->no_run, "--run and --no-run exclude each other"},
		{o->instances >= 1 && o->instances <= PLACE_COUNT_MAX, "--instances is 1 to 32"},
		{o->window <= PLACING_WINDOW_MAX, "--window is at most 1024"},
		{*o->client && strlen(o->client) <= CLIENT_NAME_BYTES_MAX,
			"--client has 1 to 64 characters"},
		{!o->vdev || o->address, "--vdev needs --address IPV4"},
		{(!o->vdev && !o->write_pcap) || !strchr(o->server, ','),
			"--vdev and --write-pcap take one --server"},
		{!o->trace || !o->place, "--trace and --place exclude each other"},
	};
	for (uint32_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
		if (checks[i].good)
			continue;
		fprintf(stderr, "berth-fleet: %s; see --help\n", checks[i].says);
		return false;
	}
	return true;
}

bool fleet_options_read(int argc, char **argv, struct fleet_options *o, int *exit_code)
{
	*o = (struct fleet_options){.server = "127.0.0.1",
		.nodes = 1000,
		.seed = 1,
		.name_prefix = "fleet-",
		.cpu_mhz = 32000,
		.memory_mb = 65536,
		.disk_mb = 500000,
		.class_name = "",
		.datacenter = "dc1",
		.attributes = 45,
		.register_rate = 10000,
		.namespace_name = "",
		.count = 1,
		.instances = 1,
		.repeat_percent = 10,
		.client = "fleet",
		.api = api_access_preset()};
	enum flags_result result = flags_read(&flags, argc, argv, o);
	*exit_code = result == FLAGS_DONE ? FLEET_SEEN : FLEET_USAGE;
	// A trace is placed in order, on machines that registered in order, so that each run is the same.
	if (o->window == 0)
		o->window = o->trace ? 1 : 64;
	if (o->sockets == 0)
		o->sockets = o->trace ? 1 : 4;
	if (!o->place && !o->trace && !o->no_run)
		o->run = true;
	return result == FLAGS_READ && check_ranges(o) && read_shapes(o) && read_faults(o) &&
	       read_place(o) && read_workers(o);
}
