#include "tools/berthd/berthd.h"
#include "state/base/check.h"
#include "state/base/clock/steady_time.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "tools/api/events/event_log.h"
#include "tools/berthd/agents.h"
#include "tools/berthd/backup.h"
#include "tools/berthd/health.h"
#include "tools/berthd/membership/membership.h"
#include "tools/berthd/membership/shared_keyring.h"
#include "tools/berthd/metrics.h"
#include "tools/berthd/peers.h"
#include "tools/berthd/preflight.h"
#include "tools/forms/alloc_spec.h"
#include "tools/forms/vm_spec.h"
#include "tools/keyring/keyring.h"
#include "tools/keyring/rekeyer.h"
#include <errno.h>
#include <hwloc.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STOP_DRAIN_MS 2000
// Exit status of a process that may not acknowledge anything any more (sysexits: temporary failure).
#define EXIT_LOG_FAILED 75

static bool refuse_start(char *message, const char *what, int error)
{
	snprintf(message, BERTHD_MESSAGE_BYTES, "%s: %s", what, error_text(error));
	return false;
}

// Ends the process: for an acknowledged change memory may never be ahead of the disk.
static void log_failed(void *context, int error)
{
	const struct berthd *b = context;
	log_error("log-failed",
		"error=\"%s\" action=\"stopping; nothing unwritten was acknowledged\"",
		error_text(error));
	if (error != -ESTALE) // another member leads
		store_note_failure(b->store, error);
	_exit(EXIT_LOG_FAILED);
}

static bool open_store(struct berthd *b, bool read_only, char *message)
{
	struct store_settings settings = {
		.directory = b->config.data_dir,
		.map_bytes = (int64_t)b->config.store_map_mb << 20,
		.read_only = read_only,
		.may_lag = *b->config.cluster_name != '\0',
		.sync = b->config.store_sync,
		.snapshot_log_bytes = (int64_t)b->config.store_snapshot_log_mb << 20,
	};
	if (!settings.sync)
		log_warn("store-not-synced", "meaning=\"a power cut loses acknowledged changes\"");
	return store_open(&settings, &b->store, message, BERTHD_MESSAGE_BYTES) == 0;
}

// The applier runs before the pipeline exists: the recovery comes between them.
static struct command *next_plan(void *context)
{
	struct berthd *b = context;
	return b->pipeline ? pipeline_next_plan(b->pipeline) : NULL;
}

static struct standing_limits standing_limits_of(const struct config *config)
{
	return (struct standing_limits){.lost_after_ns = config->lost_after_ms * NS_PER_MS,
		.flaky_after_ns = config->flaky_after_ms * NS_PER_MS,
		.readiness = config->readiness};
}

static int64_t vm_offline_after_ns_of(const struct config *config)
{
	return config->vm_offline_after_ms * NS_PER_MS;
}

static uint32_t worker_count(const struct dataplane_settings *d)
{
	uint32_t workers = 0;
	for (uint32_t i = 0; i < d->port_count; i++)
		workers += d->ports[i].queues;
	return workers;
}

bool berthd_open(struct berthd *b, bool read_only, char *message)
{
	b->agents_fd = -1;
	b->state = state_create(&b->config.limits);
	b->queue = command_queue_create(worker_count(&b->config.dataplane));
	if (!b->state || !b->queue)
		return refuse_start(message, "memory for the tables (limits.*)", -ENOMEM);
	if (!open_store(b, read_only, message))
		return false;
	if (!read_only && !membership_open(b, message, BERTHD_MESSAGE_BYTES))
		return false;
	b->placement = placement_create(b->state, (enum placement_algorithm)b->config.algorithm);
	struct applier_settings settings = {
		.state = b->state,
		.queue = b->queue,
		.log = b->cluster ? cluster_log(b->cluster) : store_log(b->store),
		.placer = placement_placer(b->placement),
		.time = &time_source_steady,
		.collect_after_ms = (int64_t)b->config.collect_after_s * 1000,
		.beat_ns = (int64_t)b->config.dataplane.ttl_ms * NS_PER_MS / 3,
		.standing = standing_limits_of(&b->config),
		.admits_known = b->config.admission,
		.vm_offline_after_ns = vm_offline_after_ns_of(&b->config),
		.rejections = {b->config.rejection_threshold,
			(int64_t)b->config.rejection_window_s * NS_PER_S},
		.next_plan = next_plan,
		.plan_context = b,
		.log_failed = log_failed,
		.context = b,
	};
	b->applier = applier_create(&settings);
	if (store_recover(b->store, b->state, b->applier, &b->recovery, message,
		    BERTHD_MESSAGE_BYTES) != 0)
		return false;
	log_info("recovered", "index=%lu snapshot=%lu records=%lu entries=%lu seconds=%.3f",
		state_index(b->state), b->recovery.snapshot_index, b->recovery.snapshot_records,
		b->recovery.log_entries, b->recovery.seconds);
	return true;
}

// As a member of a cluster the dataplane follows at first, and has an address of its own.
static void set_role(const struct config *config, struct dataplane_settings *settings)
{
	settings->starts_as_follower = *config->cluster_name != '\0';
	membership_own_address(config, settings->own_address, sizeof settings->own_address);
}

// NULL: hwloc cannot tell.
static hwloc_topology_t read_machine(void)
{
	hwloc_topology_t machine;
	if (hwloc_topology_init(&machine) != 0)
		return NULL;
	if (hwloc_topology_set_io_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
		hwloc_topology_load(machine) == 0)
		return machine;
	hwloc_topology_destroy(machine);
	return NULL;
}

bool berthd_plan(const struct config *config, struct topology_plan *plan, char *message)
{
	hwloc_topology_t machine = read_machine();
	if (!machine)
		return refuse_start(message, "reading the machine's topology through hwloc", -EIO);
	struct dataplane_settings dataplane = config->dataplane;
	set_role(config, &dataplane);
	struct topology_ask ask = {0};
	dataplane_topology_ask(&dataplane, &ask);
	ask.schedulers = config->scheduler_workers;
	int error = topology_plan(machine, &ask, plan);
	hwloc_topology_destroy(machine);
	if (error != 0)
		return refuse_start(message, "planning threads to cores", error);
	dataplane_preflight(&dataplane, plan);
	return true;
}

static void log_plan_line(const char *text, void *context)
{
	char quoted[256];
	log_info("plan", "line=%s", log_quote(text, quoted, sizeof quoted));
}

static bool plan_is_possible(const struct topology_plan *plan, char *message)
{
	for (uint32_t i = 0; i < plan->problem_count; i++) {
		if (plan->problems[i].severity != TOPOLOGY_ERROR)
			continue;
		snprintf(message, BERTHD_MESSAGE_BYTES, "%s: %s", plan->problems[i].text,
			plan->problems[i].remedy);
		return false;
	}
	return true;
}

static void expiry_changed(void *context, bool is_held)
{
	struct berthd *b = context;
	event_log_expiry(b->events, is_held, state_index(b->state));
}

static bool leads_surely(void *context)
{
	const struct berthd *b = context;
	return cluster_leads(b->cluster);
}

// EAL pins the thread that starts it; API threads that this thread starts later must not inherit that.
static bool start_dataplane(struct berthd *b, char *message)
{
	cpu_set_t before;
	if (sched_getaffinity(0, sizeof before, &before) != 0)
		return refuse_start(message, "sched_getaffinity", -errno);
	b->config.dataplane.alloc_spec = alloc_spec_json;
	b->config.dataplane.alloc_spec_context = b->keyring;
	b->config.dataplane.vm_spec = vm_spec_json;
	b->config.dataplane.expiry_changed = expiry_changed;
	b->config.dataplane.expiry_context = b;
	set_role(&b->config, &b->config.dataplane);
	if (b->cluster) {
		b->config.dataplane.leads_surely = leads_surely;
		b->config.dataplane.lead_context = b;
	}
	if (dataplane_create(&b->config.dataplane, &b->plan, &b->dataplane, message,
		    BERTHD_MESSAGE_BYTES) != 0)
		return false;
	int error =
		dataplane_start(b->dataplane, b->state, b->queue, &b->keys, &time_source_steady);
	if (error != 0)
		return refuse_start(message, "starting the dataplane", error);
	b->dataplane_runs = true;
	if (sched_setaffinity(0, sizeof before, &before) != 0)
		return refuse_start(message, "sched_setaffinity", -errno);
	return true;
}

static struct pipeline *create_pipeline(struct berthd *b)
{
	const struct config *config = &b->config;
	struct pipeline_settings settings = {
		.state = b->state,
		.queue = b->queue,
		.time = &time_source_steady,
		.threads = pipeline_threads_for(b->plan.scheduler_count),
		.deciding = b->plan.scheduler_count,
		.cpus = b->plan.scheduler_cpus,
		.gc_interval_ns = config->gc_interval_s * NS_PER_S,
		.eval_gc_ns = config->eval_gc_s * NS_PER_S,
		.batch_eval_gc_ns = config->batch_eval_gc_s * NS_PER_S,
		.job_gc_ns = config->job_gc_s * NS_PER_S,
		.node_gc_ns = config->node_gc_s * NS_PER_S,
		.deployment_gc_ns = config->deployment_gc_s * NS_PER_S,
		.acl_token_gc_ns = config->acl_token_gc_s * NS_PER_S,
	};
	return pipeline_create(&settings);
}

// With peers: creates the watchers of rollouts over several regions.
static struct watchers *create_watchers(struct berthd *b, const struct peers *peers)
{
	struct watchers_settings settings = {
		.state = b->state,
		.queue = b->queue,
		.time = &time_source_steady,
		.node_ttl_ns = (int64_t)b->config.dataplane.ttl_ms * NS_PER_MS,
		.standing = standing_limits_of(&b->config),
		.vm_offline_after_ns = vm_offline_after_ns_of(&b->config),
		.vm_interval_ns = b->config.vm_interval_ms * NS_PER_MS,
		.peers = peers,
	};
	return watchers_create(&settings);
}

static char *configuration(void *context)
{
	struct berthd *b = context;
	pthread_mutex_lock(&b->changing);
	char *text = config_json(&b->config);
	pthread_mutex_unlock(&b->changing);
	return text;
}

// The number in DATA_DIR/acl-bootstrap-reset, which only who may write there can leave.
static uint64_t acl_reset_index(void *context)
{
	const struct berthd *b = context;
	char path[CONFIG_PATH_BYTES + 32];
	uint64_t index = 0;
	snprintf(path, sizeof path, "%s/acl-bootstrap-reset", b->config.data_dir);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%20" SCNu64, &index) != 1)
		log_warn("acl-reset-bad",
			"file=%s meaning=\"no number: it counts as if it was not there\"", path);
	fclose(file);
	return index;
}

static bool has_peer(void *context, const char *region)
{
	struct berthd *b = context;
	return peer_controllers_know(b->peers, region);
}

static bool has_variables(const struct state *state)
{
	uint64_t cursor = 0;
	state_read_begin();
	bool has = state_next(state, STATE_VARIABLES, &cursor) != NULL;
	state_read_end();
	return has;
}

// A keyring that was lost is not made anew: that could look as if all was well.
static bool open_keyring(struct berthd *b, char *message)
{
	char path[CONFIG_PATH_BYTES + 16], quoted[BERTHD_MESSAGE_BYTES];
	*message = '\0';
	if (b->cluster)
		shared_keyring_fetch(b);
	config_keyring_path(&b->config, path);
	b->keyring = keyring_open(path, !has_variables(b->state), message, BERTHD_MESSAGE_BYTES);
	if (b->keyring && *message)
		log_error("keyring-lost",
			"error=%s meaning=\"no variable can be read or written until the file is "
			"put "
			"back and berthd is restarted; all else goes on\"",
			log_quote(message, quoted, sizeof quoted));
	if (b->keyring && b->cluster)
		shared_keyring_open(b);
	return b->keyring != NULL;
}

static bool start_rekeyer(struct berthd *b, char *message)
{
	b->rekeyer = rekeyer_start(&(struct rekeyer_settings){
		.keyring = b->keyring, .state = b->state, .queue = b->queue});
	return b->rekeyer || refuse_start(message, "starting the rekeyer", -EAGAIN);
}

static bool start_api(struct berthd *b, char *message)
{
	const struct config *config = &b->config;
	bool is_open = http_address_is_open(config->http_address);
	if (is_open && config->http_insecure)
		log_warn("http-insecure",
			"address=%s meaning=\"whoever reaches the API may do everything\"",
			config->http_address);
	struct api_settings settings = {
		.address = config->http_address,
		.tls = {config->tls_certificate, config->tls_key, config->tls_client_ca},
		.socket = {config->socket_path, config->socket_mode, config->socket_group},
		.audit_path = config->audit_path,
		.token_ttl_min_ns = config->token_ttl_min_s * (int64_t)NS_PER_S,
		.token_ttl_max_ns = config->token_ttl_max_s * (int64_t)NS_PER_S,
		.acl_forced = is_open && !config->http_insecure,
		.page_is_off = !config->http_ui,
		.hosts = b->config.http_hosts,
		.origins = b->config.http_origins,
		.response_headers = b->config.http_response_headers,
		.port = (uint16_t)b->config.http_port,
		.connections_max = b->config.http_connections_max,
		.connections_per_ip_max = b->config.http_connections_per_ip_max,
		.memory_bytes_max = (uint64_t)b->config.http_memory_mb << 20,
		.state = b->state,
		.queue = b->queue,
		.keyring = b->keyring,
		.snapshot = berthd_snapshot,
		.body_file = berthd_body_file,
		.restore = berthd_restore_online,
		.begin_anew = berthd_restore_begin,
		.events = b->events,
		.time = &time_source_steady,
		.region = b->config.region,
		.datacenter = b->config.datacenter,
		.name = b->config.name,
		.vm_offline_after_ns = vm_offline_after_ns_of(&b->config),
		.schedulers = b->plan.scheduler_count,
		.metrics = berthd_metrics,
		.configuration = configuration,
		.healthy = berthd_healthy,
		.checks = berthd_checks,
		.liveness = berthd_liveness,
		.liveness_release = berthd_liveness_release,
		.senders = berthd_senders,
		.acl_reset_index = acl_reset_index,
		.has_peer = has_peer,
		.cluster = b->cluster ? membership_status : NULL,
		.forward_tls = {.ca_file = config->cluster_ca,
			.certificate_file = config->cluster_certificate,
			.key_file = config->cluster_key},
		.line_fd = b->agents_fd,
		.line_key = b->agents_fd >= 0 ? agents_key : NULL,
		.context = b,
	};
	b->agents_fd = -1;
	return api_start(&settings, &b->api, message, BERTHD_MESSAGE_BYTES) == 0;
}

void berthd_url(const struct berthd *b, char *url, uint32_t size)
{
	const struct config *c = &b->config;
	bool is_six = strchr(c->http_address, ':') != NULL;
	if (*c->http_address)
		snprintf(url, size, is_six ? "%s://[%s]:%u" : "%s://%s:%u",
			*c->tls_certificate ? "https" : "http", c->http_address, api_port(b->api));
	else
		snprintf(url, size, "unix://%s", c->socket_path);
}

// What is there before anything decides, or follows.
static bool create_parts(struct berthd *b, char *message)
{
	b->pipeline = create_pipeline(b);
	b->watchers = create_watchers(b, NULL);
	b->peers = peer_controllers_create(
		&b->config, &time_source_steady, message, BERTHD_MESSAGE_BYTES);
	if (!b->peers)
		return false;
	b->region_watchers = create_watchers(b, peer_controllers_peers(b->peers));
	b->events = event_log_create();
	if (!b->events)
		return refuse_start(message, "mapping the log of events", -ENOMEM);
	state_observe(b->state, event_log_observer(b->events));
	return open_keyring(b, message);
}

// Begins a term: from here on this process decides.
static bool start_deciding(struct berthd *b, char *message)
{
	int error = applier_open(b->applier);
	if (error == 0)
		error = applier_start(b->applier, b->plan.applier_cpu);
	if (error != 0)
		return refuse_start(message, "starting the applier", error);
	b->applier_runs = true;
	error = pipeline_start(b->pipeline);
	if (error != 0)
		return refuse_start(message, "starting the schedulers", error);
	error = watchers_start(b->watchers);
	if (error == 0)
		error = watchers_start(b->region_watchers);
	if (error != 0)
		return refuse_start(message, "starting the watchers", error);
	return start_rekeyer(b, message);
}

// On a thread of the cluster's, once this member has won the leadership and has the whole log.
static bool start_leading(struct berthd *b, char *message)
{
	if (!shared_keyring_take(b, true, message, BERTHD_MESSAGE_BYTES) ||
		!start_deciding(b, message))
		return false;
	CHECK(dataplane_lead(b->dataplane) == 0); // it followed until here
	log_info("leads", "term=%lu index=%lu", state_node_table(b->state)->term,
		state_index(b->state));
	return true;
}

bool berthd_start(struct berthd *b, char *message)
{
	if (!berthd_plan(&b->config, &b->plan, message))
		return false;
	topology_print(&b->plan, log_plan_line, NULL);
	if (!plan_is_possible(&b->plan, message))
		return false;
	b->patience_ns = BERTHD_PATIENCE_S * NS_PER_S;
	if (!create_parts(b, message) || (!b->cluster && !start_deciding(b, message)) ||
		!agents_listen(b, message, BERTHD_MESSAGE_BYTES) || !start_dataplane(b, message) ||
		!start_api(b, message))
		return false;
	int error = store_start_snapshots(b->store, b->state);
	if (error != 0)
		return refuse_start(message, "starting the snapshot thread", error);
	b->snapshots_run = true;
	b->started_ns = time_monotonic_ns(&time_source_real);
	return !b->cluster || membership_start(b, start_leading, message, BERTHD_MESSAGE_BYTES);
}

// What still runs waits for an applier that has ended.
static void leave_if_restored(const struct berthd *b)
{
	if (!atomic_load(&b->is_restored))
		return;
	log_info("stopped", "clean=true meaning=\"the next start takes the restored state\"");
	_exit(EXIT_SUCCESS);
}

void berthd_close(struct berthd *b)
{
	leave_if_restored(b);
	// Nobody begins to lead any more; who leads does so until the applier has stopped.
	if (b->cluster)
		cluster_end(b->cluster, STOP_DRAIN_MS);
	if (b->api)
		api_stop(b->api); // waits for a restore that is under way
	leave_if_restored(b);
	if (b->snapshots_run)
		store_stop_snapshots(b->store);
	rekeyer_stop(b->rekeyer);
	// Watchers and schedulers begin nothing new; the applier still answers the commands they wait for.
	if (b->peers)
		peer_controllers_stop(b->peers);
	if (b->region_watchers)
		watchers_stop(b->region_watchers);
	if (b->watchers)
		watchers_stop(b->watchers);
	if (b->pipeline)
		pipeline_stop(b->pipeline);
	if (b->dataplane_runs)
		dataplane_refuse(b->dataplane);
	// The applier stops before the workers are destroyed, so that it answers their commands.
	if (b->applier_runs)
		applier_stop(b->applier, STOP_DRAIN_MS);
	if (b->cluster)
		cluster_stop(b->cluster);
	if (b->region_watchers)
		watchers_destroy(b->region_watchers);
	peer_controllers_destroy(b->peers);
	if (b->watchers)
		watchers_destroy(b->watchers);
	if (b->pipeline)
		pipeline_destroy(b->pipeline);
	if (b->dataplane_runs)
		dataplane_stop(b->dataplane);
	if (b->dataplane)
		dataplane_destroy(b->dataplane);
	if (b->applier)
		applier_destroy(b->applier);
	if (b->placement)
		placement_destroy(b->placement);
	cluster_close(b->cluster);
	if (b->store)
		store_close(b->store);
	if (b->queue)
		command_queue_destroy(b->queue);
	if (b->state)
		state_destroy(b->state);
	event_log_destroy(b->events);
	keyring_destroy(b->keyring);
	if (b->agents_fd >= 0)
		close(b->agents_fd);
}
