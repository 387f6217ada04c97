#include "bench/harness/controller.h"
#include "bench/harness/bench.h"
#include "bench/harness/fleet.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "tests/support/core/builders.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define REGISTRATIONS_UNDER_WAY 256u
#define LOG_BYTES_MAX (64ll << 30)
#define NODE_TTL_NS 10000000000ll
#define SNAPSHOT_LOG_BYTES (1ll << 30)

static const char job_name[] = "bench";

static _Noreturn void give_up(const char *what, const char *why)
{
	fprintf(stderr, "bench: %s: %s\n", what, why);
	exit(1);
}

static void log_failed(void *context, int error)
{
	give_up("the log failed", error_text(error));
}

static struct command_log open_log(struct controller *c, const struct controller_settings *settings)
{
	if (!settings->directory)
		return (struct command_log){0};
	char message[512];
	const struct store_settings store = {.directory = settings->directory,
		.map_bytes = LOG_BYTES_MAX,
		.sync = settings->sync,
		.snapshot_log_bytes = SNAPSHOT_LOG_BYTES};
	if (store_open(&store, &c->store, message, sizeof message) != 0)
		give_up("cannot open the store", message);
	return store_log(c->store);
}

static void recover(struct controller *c)
{
	char message[512];
	int error = c->store ? store_recover(c->store, c->state, c->applier, &c->recovered, message,
				       sizeof message)
			     : 0;
	if (error)
		give_up("cannot recover", message);
	error = core_open(&c->core);
	if (error)
		give_up("cannot open the applier", error_text(error));
}

static void create_core(struct controller *c, const struct controller_settings *settings)
{
	core_create(&c->core,
		(struct state_limits){.nodes = settings->nodes_max,
			.jobs = settings->jobs_max ? settings->jobs_max : 16,
			.allocations = settings->allocations_max,
			.place_requests = settings->allocations_max,
			.clients = 16},
		1);
	c->state = c->core.state;
	c->queue = c->core.queue;
	c->placement = placement_create(c->state, PLACEMENT_BINPACK);
	core_appoint(&c->core, (struct applier_settings){.log = open_log(c, settings),
				       .placer = placement_placer(c->placement),
				       .time = settings->time,
				       .seed = 1,
				       .collect_after_ms = INT64_MAX / 2,
				       .next_plan = crew_next_plan,
				       .plan_context = &c->crew,
				       .log_failed = log_failed});
	c->applier = c->core.applier;
}

static void create_crew(struct controller *c, const struct controller_settings *settings)
{
	for (uint32_t i = 0; i < PIPELINE_THREADS_MAX; i++)
		c->scheduler_cpus[i] = settings->cpu - 1;
	crew_create(&c->crew, &c->core,
		&(struct crew_settings){.seed = 2,
			.schedules = settings->schedulers > 0,
			.schedulers = pipeline_threads_for(settings->schedulers),
			.deciding = settings->schedulers,
			.cpus = c->scheduler_cpus,
			.watches = settings->watch,
			.node_ttl_ns = NODE_TTL_NS,
			.watch_step = settings->watch_step});
	c->pipeline = c->crew.pipeline;
	c->watchers = c->crew.watchers;
}

void controller_open(struct controller *c, const struct controller_settings *settings)
{
	uint64_t begin = bench_ns();
	*c = (struct controller){0};
	create_core(c, settings);
	recover(c);
	c->open_seconds = (double)(bench_ns() - begin) / 1e9;
	if (settings->observer)
		state_observe(c->state, settings->observer);
	create_crew(c, settings);
	core_start(&c->core, settings->cpu - 1);
	crew_start(&c->crew);
}

void controller_close(struct controller *c)
{
	crew_stop(&c->crew);
	core_stop(&c->core, 60000);
	crew_destroy(&c->crew);
	core_dismiss(&c->core);
	placement_destroy(c->placement);
	if (c->store)
		store_close(c->store);
	core_destroy(&c->core);
}

// A command on its way. The applier sets free when it is done.
struct sending {
	struct command command;
	_Atomic bool free;
};

// A request that is used again and again.
struct request {
	struct sending sending;
	union {
		struct {
			struct node_registration description;
			char text[FLEET_TEXT_BYTES];
		} node;
		struct command_place place;
	};
};

static void finish(struct command *command)
{
	struct sending *sending = (struct sending *)command;
	atomic_store_explicit(&sending->free, true, memory_order_release);
}

static struct request *create_requests(uint32_t count)
{
	struct request *requests = memory_take_array(count, sizeof *requests);
	for (uint32_t i = 0; i < count; i++)
		requests[i] = (struct request){.sending = {.command.done = finish, .free = true}};
	return requests;
}

static bool take_free(struct sending *sending)
{
	return atomic_load_explicit(&sending->free, memory_order_acquire);
}

static void submit(struct controller *c, struct sending *sending)
{
	atomic_store_explicit(&sending->free, false, memory_order_relaxed);
	sending->command.submitted_ns = time_monotonic_ns(&time_source_real);
	while (!command_queue_push(c->queue, 0, &sending->command))
		sched_yield();
}

static void wait_for(struct sending *sending)
{
	while (!take_free(sending))
		sched_yield();
	if (sending->command.outcome != OUTCOME_DONE)
		give_up("a command was refused", command_outcomes[sending->command.outcome].name);
}

static void wait_for_all(struct request *requests, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		wait_for(&requests[i].sending);
}

static void add_driver(struct node_registration *d)
{
	d->pairs[d->pair_count++] = (struct node_pair){
		.kind = PAIR_DRIVER, .name = TEXT("raw_exec"), .value = TEXT("1")};
}

static void register_node(struct controller *c, struct request *request, uint32_t number)
{
	fleet_describe(number, &request->node.description, request->node.text);
	if (c->pipeline)
		add_driver(&request->node.description);
	request->sending.command.type = COMMAND_NODE_REGISTER;
	request->sending.command.node_register = &request->node.description;
	submit(c, &request->sending);
}

static void beat(struct controller *c, struct request *request)
{
	const struct node_registration *node = &request->node.description;

	request->sending.command.type = COMMAND_NODE_RETURNED;
	request->sending.command.node = (struct command_node){node->slot, node->generation};
	submit(c, &request->sending);
}

void controller_register(struct controller *c, uint32_t from, uint32_t count)
{
	struct request *requests = create_requests(REGISTRATIONS_UNDER_WAY);
	for (uint32_t first = 0; first < count; first += REGISTRATIONS_UNDER_WAY) {
		uint32_t left = count - first;
		uint32_t some = left < REGISTRATIONS_UNDER_WAY ? left : REGISTRATIONS_UNDER_WAY;
		for (uint32_t i = 0; i < some; i++)
			register_node(c, &requests[i], from + first + i);
		wait_for_all(requests, some);
		for (uint32_t i = 0; i < some; i++)
			beat(c, &requests[i]);
		wait_for_all(requests, some);
	}
	free(requests);
}

static struct job *describe_job(void)
{
	struct job *job = plain_job(job_name, JOB_DIRECT);
	struct resources asked = {.cpu_mhz = 50, .memory_mb = 64, .disk_mb = 10};
	add_plain_group(job, "g", asked)->driver = text_copy(TEXT("exec"));
	job->node_pool = job->node_pool ? job->node_pool : text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	CHECK(job_derive(job));
	return job;
}

void controller_register_job(struct controller *c)
{
	struct request *request = create_requests(1);
	request->sending.command.type = COMMAND_JOB_REGISTER;
	request->sending.command.job_register =
		(struct command_job_register){.job = describe_job()};
	submit(c, &request->sending);
	wait_for(&request->sending);
	free(request);
}

void controller_run(struct controller *c, struct command *commands, uint32_t count)
{
	struct sending *sent = memory_take_array(count, sizeof *sent);
	for (uint32_t i = 0; i < count; i++) {
		sent[i].command = commands[i];
		sent[i].command.done = finish;
		submit(c, &sent[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		wait_for(&sent[i]);
		commands[i] = sent[i].command;
	}
	free(sent);
}

static void ask(struct request *request, uint64_t number)
{
	request->place = (struct command_place){.client = TEXT("bench"),
		.issued_ms = (int64_t)(time_wall_ns(&time_source_real) / 1000000u),
		.request = number,
		.count = 1,
		.namespace_name = TEXT("default"),
		.job = text_of(job_name),
		.group = TEXT("g")};
	request->sending.command.type = COMMAND_PLACE;
	request->sending.command.place = &request->place;
}

uint64_t controller_place(
	struct controller *c, uint32_t under_way, controller_more *more, void *context)
{
	static uint64_t number; // of the request: an idempotency key
	struct request *requests = create_requests(under_way);
	uint64_t asked = 0;
	while (more(context, asked)) {
		struct request *request = &requests[asked % under_way];
		wait_for(&request->sending);
		ask(request, ++number);
		submit(c, &request->sending);
		asked++;
	}
	wait_for_all(requests, under_way);
	free(requests);
	return asked;
}

uint32_t fleet_description_bytes(uint32_t number)
{
	struct node_registration d;
	char text[FLEET_TEXT_BYTES];
	fleet_describe(number, &d, text);
	uint32_t bytes = sizeof d.node + d.name.size + d.datacenter.size + d.class_name.size +
			 d.pool.size + d.address.size + d.version.size;
	for (uint32_t i = 0; i < d.pair_count; i++)
		bytes += d.pairs[i].name.size + d.pairs[i].value.size;
	return bytes;
}
