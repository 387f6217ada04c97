// Virtual machines that wait, from the first look at them until the last assignment is durable: health pass,
// scheduling pass, applier, log on disk, publication; one more machine where all the others have a worker; and a look
// at machines that are too large for every worker, no two of them alike.
// Machines differ in what they ask for, and some go only to one of eight zones or to fast disks. The reference sorts
// the workers again for each machine, in memory alone (bench/naive/naive_vms.h); it answers the same, which is checked
// in every round.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "bench/harness/directory.h"
#include "bench/naive/naive_vms.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZONES 8u
#define COMMANDS_MOST 1000u
#define SINGLES 20u // in one measurement

struct vms_bench {
	struct bench bench;
	struct controller controller;
	struct vm **vms; // count and one more, then those that fit nowhere
	struct vm_worker **workers;
	uint32_t count, worker_count, placed; // placed: machines that find a worker
	struct naive_vms naive;
	const char *profile;
};

static void let_others(void *context)
{
	sched_yield();
}

static void set_count(struct array *counts, const char *name, int64_t count)
{
	((struct named_count *)map_item(counts, sizeof(struct named_count), name))->count = count;
}

static void set_label(struct array *labels, const char *name, const char *value)
{
	((struct string_pair *)map_item(labels, sizeof(struct string_pair), name))->value =
		text_copy(text_of(value));
}

static void set_zone(struct array *labels, uint32_t zone)
{
	char text[16];
	snprintf(text, sizeof text, "zone-%u", zone % ZONES);
	set_label(labels, "zone", text);
}

static struct vm_worker *describe_worker(uint32_t number)
{
	struct vm_worker *worker = vm_worker_create();
	int64_t cores = 32 * (1 + number % 4);
	char name[32];

	snprintf(name, sizeof name, "worker-%06u", number);
	worker->name = text_copy(text_of(name));
	worker->machine_id = text_copy(text_of(name));
	set_count(&worker->resources, VM_RESOURCE_CORES, cores);
	set_count(&worker->resources, VM_RESOURCE_MEMORY, cores * 4096);
	set_zone(&worker->labels, number);
	set_label(&worker->labels, "disk", number / ZONES % 2 ? "fast" : "slow");
	return worker;
}

static struct vm *describe_vm(uint32_t number, uint32_t kind)
{
	struct vm *vm = vm_create();
	int64_t cores = 1ll << kind % 4;
	char name[32];

	snprintf(name, sizeof name, "vm-%07u", number);
	vm->name = text_copy(text_of(name));
	vm->image = text_copy(TEXT("registry.example.com/debian:12"));
	set_count(&vm->resources, VM_RESOURCE_CORES, cores);
	set_count(&vm->resources, VM_RESOURCE_MEMORY, (kind / 4 % 3 + 1) * cores * 1024);
	if (kind % 3 == 0)
		set_zone(&vm->labels, kind / 3);
	if (kind % 5 == 0)
		set_label(&vm->labels, "disk", "fast");
	return vm;
}

static uint32_t all_vms(const struct vms_bench *b)
{
	return 2 * b->count + 1;
}

// Each giant has a size of its own, more than any worker has.
static struct vm *describe_giant(uint32_t number)
{
	struct vm *vm = describe_vm(number, 1);
	set_count(&vm->resources, VM_RESOURCE_CORES, 1000 + number);
	return vm;
}

static void describe(struct vms_bench *b)
{
	b->vms = memory_take_array(all_vms(b), sizeof *b->vms);
	b->workers = memory_take_array(b->worker_count, sizeof *b->workers);
	for (uint32_t i = 0; i < b->count; i++)
		b->vms[i] = describe_vm(i, i);
	b->vms[b->count] = describe_vm(b->count, 1);
	for (uint32_t i = b->count + 1; i < all_vms(b); i++)
		b->vms[i] = describe_giant(i);
	for (uint32_t i = 0; i < b->worker_count; i++)
		b->workers[i] = describe_worker(i);
	b->naive = (struct naive_vms){.workers = (const struct vm_worker *const *)b->workers,
		.worker_count = b->worker_count,
		.on = memory_take_array(all_vms(b), sizeof *b->naive.on)};
}

static void forget(struct vms_bench *b)
{
	for (uint32_t i = 0; i < all_vms(b); i++)
		vm_free(b->vms[i]);
	for (uint32_t i = 0; i < b->worker_count; i++)
		vm_worker_free(b->workers[i]);
	free(b->vms);
	free(b->workers);
	free(b->naive.on);
}

// Sees the workers anew in every round, so that none of them is offline.
static void see_workers(struct vms_bench *b)
{
	struct command *commands = memory_take_array(b->worker_count, sizeof *commands);

	for (uint32_t i = 0; i < b->worker_count; i++)
		commands[i] = (struct command){.type = COMMAND_VM_WORKER,
			.vm_worker = {.worker = vm_worker_copy(b->workers[i])}};
	controller_run(&b->controller, commands, b->worker_count);
	for (uint32_t i = 0; i < b->worker_count; i++)
		vm_worker_free(commands[i].vm_worker.worker);
	free(commands);
}

static void choose_profile(struct vms_bench *b)
{
	struct cluster_settings *settings = record_create(&cluster_settings_description);
	settings->scheduler_profile = text_copy(text_of(b->profile));
	settings->count_assigned =
		false; // machines say all that they take, as the naive side has it
	struct command command = {
		.type = COMMAND_CLUSTER_SETTINGS, .cluster_settings = {.settings = settings}};

	controller_run(&b->controller, &command, 1);
	b->naive.fewest_first = strcmp(b->profile, VM_PROFILE_DISTRIBUTE) == 0;
}

static void create_vms(struct vms_bench *b, uint32_t from, uint32_t count)
{
	struct command *commands = memory_take_array(count, sizeof *commands);
	struct command_vm_create *asks = memory_take_array(count, sizeof *asks);

	for (uint32_t i = 0; i < count; i++) {
		asks[i].vm = vm_copy(b->vms[from + i]);
		commands[i] = (struct command){.type = COMMAND_VM_CREATE, .vm_create = &asks[i]};
	}
	controller_run(&b->controller, commands, count);
	free(asks);
	free(commands);
}

static void delete_vms(struct vms_bench *b, uint32_t from, uint32_t count)
{
	struct command *commands = memory_take_array(count, sizeof *commands);

	for (uint32_t i = 0; i < count; i++)
		commands[i] = (struct command){.type = COMMAND_VM_DELETE,
			.vm_named = {.name = text_of(b->vms[from + i]->name)}};
	controller_run(&b->controller, commands, count);
	free(commands);
}

// Runs the commands of the benchmark's machines, some at a time.
static void for_those_from(struct vms_bench *b, uint32_t first,
	void (*run)(struct vms_bench *, uint32_t from, uint32_t count))
{
	for (uint32_t done = 0; done < b->count; done += COMMANDS_MOST) {
		uint32_t left = b->count - done;
		run(b, first + done, left < COMMANDS_MOST ? left : COMMANDS_MOST);
	}
}

static void for_all(
	struct vms_bench *b, void (*run)(struct vms_bench *, uint32_t from, uint32_t count))
{
	for_those_from(b, 0, run);
}

static void check_answer(const struct vms_bench *b, uint32_t number)
{
	uint32_t on = b->naive.on[number];
	const struct vm *vm = state_vm(b->controller.state, text_of(b->vms[number]->name));

	CHECK(vm && vm_is_scheduled(vm) == (on != NAIVE_VM_WAITS));
	if (on != NAIVE_VM_WAITS)
		CHECK(strcmp(vm->worker, b->workers[on]->name) == 0);
}

static void check_answers(const struct vms_bench *b)
{
	state_read_begin();
	for (uint32_t i = 0; i < b->count; i++)
		check_answer(b, i);
	state_read_end();
}

// Returns how long one turn takes that places the waiting machines.
static uint64_t place_waiting(struct vms_bench *b, uint32_t waiting)
{
	struct watchers_stats before, after;

	watchers_stats(b->controller.watchers, &before);
	uint64_t began_ns = bench_ns();
	(void)watchers_turn(b->controller.watchers);
	uint64_t ns = bench_ns() - began_ns;
	watchers_stats(b->controller.watchers, &after);
	CHECK(after.vms_assigned - before.vms_assigned == waiting);
	CHECK(after.commands_refused == before.commands_refused);
	return ns;
}

static double place_all(void *context)
{
	struct vms_bench *b = context;

	see_workers(b);
	for_all(b, create_vms);
	uint64_t ns = place_waiting(b, b->placed);
	check_answers(b);
	for_all(b, delete_vms);
	(void)place_waiting(b, 0);
	return b->placed * 1e9 / (double)ns;
}

static void let_wait(struct vms_bench *b, uint32_t from, uint32_t count)
{
	b->naive.vms = (const struct vm *const *)b->vms + from;
	b->naive.vm_count = count;
	for (uint32_t i = 0; i < count; i++)
		b->naive.on[i] = NAIVE_VM_WAITS;
}

static double place_all_naively(void *context)
{
	struct vms_bench *b = context;

	let_wait(b, 0, b->count);
	uint64_t began_ns = bench_ns();
	b->placed = naive_vms_place(&b->naive);
	return b->placed * 1e9 / (double)(bench_ns() - began_ns);
}

static double look_at_giants(void *context)
{
	struct vms_bench *b = context;

	see_workers(b);
	for_those_from(b, b->count + 1, create_vms);
	uint64_t ns = place_waiting(b, 0);
	for_those_from(b, b->count + 1, delete_vms);
	(void)place_waiting(b, 0);
	return b->count * 1e9 / (double)ns;
}

static double look_at_giants_naively(void *context)
{
	struct vms_bench *b = context;

	let_wait(b, b->count + 1, b->count);
	uint64_t began_ns = bench_ns();
	CHECK(naive_vms_place(&b->naive) == 0);
	return b->count * 1e9 / (double)(bench_ns() - began_ns);
}

static double place_singles(void *context)
{
	struct vms_bench *b = context;
	uint64_t ns = 0;

	see_workers(b);
	for (uint32_t i = 0; i < SINGLES; i++) {
		create_vms(b, b->count, 1);
		ns += place_waiting(b, 1);
		state_read_begin();
		check_answer(b, b->count);
		state_read_end();
		delete_vms(b, b->count, 1);
		(void)place_waiting(b, 0);
	}
	return SINGLES * 1e9 / (double)ns;
}

static double place_singles_naively(void *context)
{
	struct vms_bench *b = context;
	uint64_t began_ns = bench_ns();

	b->naive.vm_count = b->count + 1;
	for (uint32_t i = 0; i < SINGLES; i++) {
		b->naive.on[b->count] = NAIVE_VM_WAITS;
		CHECK(naive_vms_place(&b->naive) == 1);
	}
	return SINGLES * 1e9 / (double)(bench_ns() - began_ns);
}

static void report(struct vms_bench *b, const char *what, const char *unit, bench_side *subject,
	bench_side *naive)
{
	char name[96];

	snprintf(name, sizeof name, "%s, %s", what, b->profile);
	struct bench_result result = {.name = text_copy(text_of(name)),
		.nodes = b->worker_count,
		.unit = unit,
		.against = "workers sorted for each machine"};
	bench_interleave(&b->bench, subject, naive, b, &result);
	bench_report(&b->bench, &result);
}

static void measure(struct vms_bench *b, const char *profile)
{
	char what[48];

	b->profile = profile;
	choose_profile(b);
	snprintf(what, sizeof what, "%u that wait", b->count);
	report(b, what, "assigned/s", place_all, place_all_naively);
	for_all(b, create_vms);
	(void)place_waiting(b, b->placed);
	snprintf(what, sizeof what, "one more than %u", b->count);
	report(b, what, "assigned/s", place_singles, place_singles_naively);
	for_all(b, delete_vms);
	(void)place_waiting(b, 0);
	snprintf(what, sizeof what, "%u that fit nowhere", b->count);
	report(b, what, "looked at/s", look_at_giants, look_at_giants_naively);
}

// --count N (machines) and --workers N.
int main(int count, char **arguments)
{
	static struct vms_bench b;
	static char directory[BENCH_PATH_BYTES], store[BENCH_PATH_BYTES + 16];

	bench_begin(&b.bench, "vms", count, arguments);
	b.count = (uint32_t)bench_option(&b.bench, "count", b.bench.smoke ? 100 : 10000);
	b.worker_count = (uint32_t)bench_option(&b.bench, "workers", b.bench.smoke ? 64 : 1000);
	CHECK(b.count > 0 && b.worker_count > 0);
	describe(&b);
	bench_directory_begin(&b.bench, directory);
	snprintf(store, sizeof store, "%s/store", directory);
	controller_open(&b.controller, &(struct controller_settings){.directory = store,
					       .nodes_max = NODE_BLOCK_SLOTS,
					       .allocations_max = 1024,
					       .sync = true,
					       .watch = true,
					       .watch_step = let_others});
	(void)watchers_turn(b.controller.watchers);
	measure(&b, VM_PROFILE_DISTRIBUTE);
	measure(&b, VM_PROFILE_OPTIMIZE);
	controller_close(&b.controller);
	bench_directory_end();
	forget(&b);
	return bench_end(&b.bench);
}
