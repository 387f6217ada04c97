#include "tests/support/controller.h"
#include "state/base/memory.h"
#include "state/snapshot/snapshot_view.h"
#include "state/tables/publication_check.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void log_failed(void *context, int error)
{
	__atomic_store_n(&((struct controller *)context)->log_error, error, __ATOMIC_RELEASE);
}

static struct command *ask_plan(void *context)
{
	struct controller *c = context;
	return c->next_plan ? c->next_plan(c->plan_context) : NULL;
}

static void appoint(struct controller *c)
{
	core_appoint(&c->core, (struct applier_settings){
				       .log = memory_log_of(&c->log),
				       .placer = c->placer,
				       .time = &c->source,
				       .seed = c->seed,
				       .collect_after_ms = c->collect_after_ms,
				       .beat_ns = c->beat_ns,
				       .plan_changes_max = c->plan_changes_max,
				       .rejections = c->rejections,
				       .standing = c->standing,
				       .vm_offline_after_ns = c->vm_offline_after_ns,
				       .admits_known = c->admits_known,
				       .next_plan = ask_plan,
				       .plan_context = c,
				       .log_failed = log_failed,
				       .context = c,
			       });
	c->applier = c->core.applier;
}

void controller_init(struct controller *c, struct state_limits limits)
{
	memset(c, 0, sizeof *c);
	c->time = (struct manual_time){1, CONTROLLER_WALL_MS * 1000000ull};
	c->source = time_source_manual(&c->time);
	memory_log_init(&c->log);
	c->seed = 7;
	core_create(&c->core, limits, 2);
	c->state = c->core.state;
	publication_check_keep(c->state);
	c->log.state = c->state;
	c->queue = c->core.queue;
	c->placer = first_fit_placer(c->state);
	c->collect_after_ms = CONTROLLER_COLLECT_AFTER_MS;
	appoint(c);
}

void controller_seed(struct controller *c, uint64_t seed)
{
	c->seed = seed;
	appoint(c);
}

int controller_replay(struct controller *c, const struct memory_log *log, uint32_t count)
{
	int error = 0;

	for (uint32_t i = 0; i < count && !error; i++) {
		const struct memory_batch *b = &log->batches[i];
		uint64_t check;
		if (b->has_check && publication_check_of(c->state, b->first_index - 1, &check))
			assert_int_equal(check, b->check);
		error = replay_stored(c->applier, b->first_index, b->data, b->size);
	}
	return error;
}

void controller_take_log(struct controller *c, struct controller *from)
{
	memory_log_free(&c->log);
	c->log = from->log;
	c->log.state = c->state;
	memory_log_init(&from->log);
}

void controller_open(struct controller *c)
{
	if (c->placer.best != first_fit_placer(c->state).best ||
		c->collect_after_ms != CONTROLLER_COLLECT_AFTER_MS || c->rejections.threshold ||
		c->plan_changes_max || c->beat_ns || c->standing.lost_after_ns ||
		c->vm_offline_after_ns || c->admits_known)
		appoint(c);
	assert_int_equal(core_open(&c->core), 0);
}

void controller_start(struct controller *c, int cpu)
{
	core_start(&c->core, cpu);
}

void controller_free(struct controller *c)
{
	core_stop(&c->core, 0);
	core_destroy(&c->core);
	memory_log_free(&c->log);
}

void controller_push(struct controller *c, struct command *command, uint32_t *done)
{
	core_push(&c->core, command, done);
}

void controller_await(uint32_t *done, uint32_t count)
{
	while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < count)
		sched_yield();
}

enum command_outcome controller_run(struct controller *c, struct command *command)
{
	return core_run(&c->core, command);
}

int64_t controller_now_ms(const struct controller *c)
{
	return (int64_t)(c->time.wall_ns / 1000000);
}

void build_node(struct node_registration *node, uint32_t number, uint64_t sequence)
{
	describe_plain_node(node, number, sequence);
	node->datacenter = (struct text){0};
	node->pool = (struct text){0};
	node->class_name = number % 2 ? TEXT("odd") : TEXT("even");
	node->pair_count = 2;
	node->pairs[0] =
		(struct node_pair){PAIR_ATTRIBUTE, TEXT("unique.hostname"), TEXT("a-node")};
	node->pairs[1] = (struct node_pair){PAIR_ATTRIBUTE, TEXT("cpu.arch"), TEXT("amd64")};
}

struct job *build_device_job(
	const char *id, const struct resources *asks, const uint32_t *gpus, uint32_t groups)
{
	struct job *job = plain_job(id, JOB_DIRECT);

	for (uint32_t i = 0; i < groups; i++) {
		char name[16];
		snprintf(name, sizeof name, "g%u", i);
		struct task *task = add_plain_group(job, name, asks[i]);
		if (!gpus[i])
			continue;
		struct device_ask *ask =
			array_append(&task->resources.devices, sizeof(struct device_ask));
		ask->name = text_copy(TEXT("gpu"));
		ask->count = gpus[i];
	}
	assert_true(job_derive(job));
	return job;
}

struct job *build_job(const char *id, const struct resources *asks, uint32_t groups)
{
	uint32_t gpus[JOB_GROUPS_MAX] = {0};

	return build_device_job(id, asks, gpus, groups);
}

enum command_outcome controller_register(
	struct controller *c, uint32_t number, struct node_registration *result)
{
	struct node_registration *node = memory_take(sizeof *node);

	c->time.wall_ns += 1000000;
	build_node(node, number, (uint64_t)controller_now_ms(c));
	enum command_outcome outcome = core_join(&c->core, node);
	if (result)
		*result = *node;
	free(node);
	return outcome;
}

enum command_outcome controller_job(struct controller *c, struct job *job)
{
	struct command command = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	enum command_outcome outcome = controller_run(c, &command);

	job_free(command.job_register.job);
	return outcome;
}

enum command_outcome controller_place(struct controller *c, const char *client, const char *job,
	uint64_t request, uint8_t count, struct command_place *result)
{
	struct command_place place = {
		.client = text_of(client),
		.issued_ms = controller_now_ms(c),
		.request = request,
		.count = count,
		.job = text_of(job),
		.group = TEXT("g0"),
	};
	struct command command = {.type = COMMAND_PLACE, .place = result ? result : &place};

	*command.place = place;
	return controller_run(c, &command);
}

enum command_outcome controller_release(
	struct controller *c, const struct uuid *ids, uint8_t count, struct command_release *result)
{
	struct command_release release;
	struct command command = {.type = COMMAND_RELEASE, .release = result ? result : &release};

	*command.release = (struct command_release){.any_client = true, .count = count};
	memcpy(command.release->ids, ids, count * sizeof *ids);
	return controller_run(c, &command);
}

enum command_outcome controller_node(
	struct controller *c, enum command_type type, uint32_t slot, uint32_t generation)
{
	struct command command = {.type = type, .node = {slot, generation}};

	return controller_run(c, &command);
}

enum command_outcome controller_stop_job(struct controller *c, const char *job, bool purge)
{
	struct command command = {
		.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.id = text_of(job), .purge = purge},
	};
	return controller_run(c, &command);
}

enum command_outcome controller_collect(struct controller *c)
{
	struct command command = {.type = COMMAND_COLLECT};

	return controller_run(c, &command);
}

struct bytes_writer controller_image(const struct controller *c)
{
	return core_image(c->state);
}

int controller_load(struct controller *c, const struct bytes_writer *image)
{
	struct bytes_reader r = bytes_reader_over(image->data, image->size);
	struct snapshot_load *load = snapshot_load_begin(c->state);
	int error = 0;

	while (!error && bytes_left(&r) > 0) {
		uint32_t size = bytes_take_u32(&r);
		const uint8_t *item = bytes_take(&r, size);
		assert_non_null(item);
		error = snapshot_load_item(load, item, size);
	}
	int end = snapshot_load_end(load);
	return error ? error : end;
}

static void report(const char *text, void *context)
{
	print_error("%s\n", text);
}

void controller_verify(const struct controller *c)
{
	assert_int_equal(state_verify(c->state, report, NULL), 0);
}
