// Random lives of virtual machines and workers: after each event a health pass and a scheduling pass, once through the
// engine and once as plain loops written from rows D5 to D26. Both must agree after every step.
#include "placement/vms/pass.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STEPS (1000000u / BUILD_SLOWNESS)
#define VMS 7
#define WORKERS 4
#define KINDS 3
#define SHARED 2 // cores and memory, of which each machine has a share
#define OFFLINE_AFTER (180 * NS_PER_S)
#define NOBODY (-1)

enum said { UNSAID, NO, YES };

static const char *const kinds[KINDS] = {"cores", "gpus", VM_RESOURCE_TART};
static const char *const shared[SHARED] = {VM_RESOURCE_CORES, VM_RESOURCE_MEMORY};
static const char *const vm_names[VMS] = {"a", "b", "c", "d", "e", "f", "g"};
static const char *const worker_names[WORKERS] = {"k", "l", "m", "n"};
static const char *const arches[] = {"", "amd64", "arm64"};
static const char *const zones[] = {"", "east", "west"};
static const char *const runtimes[] = {"", "tart", "qemu"};
static const char *const profiles[] = {
	"", VM_PROFILE_OPTIMIZE, VM_PROFILE_DISTRIBUTE, VM_PROFILE_DISTRIBUTE, "unheard-of"};

struct plain_vm {
	bool exists;
	int64_t created, restarted, scheduled_at, started;
	uint64_t cpu, memory, assigned_cpu, assigned_memory, restarts;
	int64_t asks[KINDS], asks_shared[SHARED];
	int arch, zone, runtime, policy, status, power;
	int worker; // its number, also of a gone worker, or NOBODY
	enum said scheduled, running, cloning;
	const char *message;
};
struct plain_worker {
	bool exists, paused, beats;
	int64_t seen, has[KINDS], has_shared[SHARED];
	bool names[SHARED];
	int arch, zone, runtime;
	uint64_t cpu, memory;
};

static struct plain_vm vms[VMS];
static struct plain_worker workers[WORKERS];
static struct vm *real_vms[VMS];
static struct vm_worker *real_workers[WORKERS];
static int64_t now;
static const char *profile;
static bool counts_assigned;
static int refusing_worker, vanishing_vm;
static struct prng prng;
static uint64_t assignments, refusals, restarts, losses;

static char *copy(const char *string)
{
	return string[0] ? text_copy(text_of(string)) : NULL;
}

static bool is_scheduled(const struct plain_vm *v)
{
	return v->scheduled != UNSAID ? v->scheduled == YES : v->worker != NOBODY;
}

static bool is_offline(const struct plain_worker *w)
{
	return !w->beats && now - w->seen > OFFLINE_AFTER;
}

static void check_health(struct plain_vm *v)
{
	bool failed = v->status == VM_FAILED;
	if (failed && v->policy == VM_RESTART_ON_FAILURE &&
		(v->restarted == 0 || now - v->restarted > 15 * NS_PER_S)) {
		v->status = VM_PENDING;
		v->message = "";
		v->worker = NOBODY;
		v->assigned_cpu = v->assigned_memory = 0;
		v->restarted = now;
		v->restarts++;
		v->scheduled_at = v->started = 0;
		v->power = VM_POWER_RUNNING;
		v->scheduled = NO;
		v->running = v->cloning = UNSAID;
		restarts++;
		return;
	}
	if (!is_scheduled(v))
		return;
	bool exists = v->worker != NOBODY && workers[v->worker].exists;
	if (!failed && !exists) {
		v->status = VM_FAILED;
		v->message = VM_TEXT_WORKER_GONE;
		losses++;
	} else if (!failed && is_offline(&workers[v->worker])) {
		v->status = VM_FAILED;
		v->message = VM_TEXT_WORKER_LOST;
		losses++;
	} else if (v->power != VM_POWER_RUNNING && v->running == NO) {
		v->scheduled = NO;
	} else if (failed) {
		v->scheduled = v->running = NO;
	}
}

static int machines_on(int worker)
{
	int count = 0;
	for (int i = 0; i < VMS; i++)
		count += vms[i].exists && is_scheduled(&vms[i]) && vms[i].worker == worker;
	return count;
}

static int64_t share_on(const struct plain_vm *v, const struct plain_worker *w, int kind)
{
	uint64_t said = kind ? v->memory : v->cpu, otherwise = kind ? w->memory : w->cpu;
	return (int64_t)(said ? said : otherwise ? otherwise : kind ? 8192 : 4);
}

// Row D16: what machines ask for by name, and their shares where the worker names the kind.
static bool shares_fit(const struct plain_vm *v, int worker)
{
	const struct plain_worker *w = &workers[worker];
	for (int k = 0; k < SHARED; k++) {
		int64_t left = w->names[k] ? w->has_shared[k] : 0, asked = 0, shares = 0;
		for (int i = 0; i < VMS; i++) {
			if (!vms[i].exists || !is_scheduled(&vms[i]) || vms[i].worker != worker)
				continue;
			asked += vms[i].asks_shared[k];
			shares += (int64_t)(k ? vms[i].assigned_memory : vms[i].assigned_cpu);
		}
		left = left > asked ? left - asked : 0;
		if (v->asks_shared[k] > left)
			return false;
		if (counts_assigned && w->names[k] &&
			shares + share_on(v, w, k) + v->asks_shared[k] > left)
			return false;
	}
	return true;
}

static bool has_room(const struct plain_vm *v, int worker)
{
	for (int k = 0; k < KINDS; k++) {
		int64_t left = workers[worker].has[k];
		for (int i = 0; i < VMS; i++)
			if (vms[i].exists && is_scheduled(&vms[i]) && vms[i].worker == worker)
				left -= vms[i].asks[k];
		if (v->asks[k] > (left > 0 ? left : 0))
			return false;
	}
	return shares_fit(v, worker);
}

static bool may_run(const struct plain_vm *v, int worker)
{
	const struct plain_worker *w = &workers[worker];
	return w->exists && !w->paused && !is_offline(w) && worker != refusing_worker &&
	       (v->arch == 0 || v->arch == w->arch) && (v->zone == 0 || v->zone == w->zone) &&
	       (v->runtime == 0 || v->runtime == w->runtime) && has_room(v, worker);
}

static int best_worker(const struct plain_vm *v)
{
	bool spread = strcmp(profile, VM_PROFILE_DISTRIBUTE) == 0;
	int best = NOBODY;
	for (int w = 0; w < WORKERS; w++) {
		if (!may_run(v, w))
			continue;
		if (best == NOBODY || (spread ? machines_on(w) < machines_on(best)
					      : machines_on(w) > machines_on(best)))
			best = w;
	}
	return best;
}

static bool waits(const struct plain_vm *v)
{
	return v->exists && v->status != VM_FAILED && v->power == VM_POWER_RUNNING &&
	       !is_scheduled(v);
}

// The oldest waiting machine that was not seen yet.
static int next_vm(const bool *seen)
{
	int next = NOBODY;
	for (int i = 0; i < VMS; i++)
		if (!seen[i] && waits(&vms[i]) &&
			(next == NOBODY || vms[i].created < vms[next].created))
			next = i;
	return next;
}

static void place_by_loops(void)
{
	bool seen[VMS] = {false};
	int i;
	while ((i = next_vm(seen)) != NOBODY) {
		struct plain_vm *v = &vms[i];
		seen[i] = true;
		int w = i == vanishing_vm ? NOBODY : best_worker(v);
		if (w == NOBODY)
			continue;
		v->worker = w;
		v->scheduled_at = now;
		v->scheduled = YES;
		v->assigned_cpu = v->cpu ? v->cpu : workers[w].cpu ? workers[w].cpu : 4;
		v->assigned_memory = v->memory           ? v->memory
				     : workers[w].memory ? workers[w].memory
							 : 8192;
		assignments++;
	}
}

static void turn_of_the_model(void)
{
	for (int i = 0; i < VMS; i++)
		if (vms[i].exists)
			check_health(&vms[i]);
	place_by_loops();
}

static void work_off(struct vm_pass *pass)
{
	struct vm_proposal proposals[VMS];
	// All machines of a batch are chosen before any is refused.
	bool alone = refusing_worker != NOBODY || vanishing_vm != NOBODY;
	uint32_t most = alone ? 1 : 1 + (uint32_t)prng_below(&prng, VMS), count;

	while ((count = vm_pass_propose(pass, proposals, most)) > 0)
		for (uint32_t i = 0; i < count; i++) {
			const struct vm_proposal *p = &proposals[i];
			bool vanished = vanishing_vm != NOBODY && p->vm == real_vms[vanishing_vm];
			bool refused = refusing_worker != NOBODY &&
				       p->worker == real_workers[refusing_worker];
			if (vanished || refused) {
				vm_pass_withdraw(pass, p, !vanished);
				refusals++;
			} else {
				vm_assign((struct vm *)p->vm, p->worker, now);
			}
		}
}

static void turn_of_the_engine(void)
{
	const struct vm *listed[VMS];
	const struct vm_worker *at_work[WORKERS];
	struct vm_finding findings[VMS];
	struct vm_roster r = {.vms = listed,
		.workers = at_work,
		.now_ns = now,
		.offline_after_ns = OFFLINE_AFTER};
	for (int i = 0; i < VMS; i++)
		if (vms[i].exists)
			listed[r.vm_count++] = real_vms[i];
	for (int w = WORKERS; w-- > 0;)
		if (workers[w].exists)
			at_work[r.worker_count++] = real_workers[w];
	vm_roster_order(&r);
	uint32_t count = vm_roster_health(&r, findings);
	for (uint32_t i = 0; i < count; i++)
		vm_apply_verdict((struct vm *)listed[findings[i].vm], findings[i].verdict, now);
	char *name = copy(profile);
	struct cluster_settings settings = {
		.scheduler_profile = name, .count_assigned = counts_assigned};
	struct vm_pass *pass = vm_pass_begin(&r, &settings);
	free(name);
	work_off(pass);
	vm_pass_end(pass);
	vm_roster_free(&r);
}

static enum said condition(const struct vm *vm, int type)
{
	const struct vm_condition *c = vm_condition(vm, type);
	return !c ? UNSAID : c->state ? YES : NO;
}

static bool is_text(const char *string, const char *expected)
{
	return strcmp(string ? string : "", expected) == 0;
}

static bool is_alike(const struct plain_vm *v, const struct vm *vm)
{
	const char *worker = v->worker == NOBODY ? "" : worker_names[v->worker];
	return v->status == vm->status && is_text(vm->status_message, v->message) &&
	       is_text(vm->worker, worker) && v->assigned_cpu == vm->assigned_cpu &&
	       v->assigned_memory == vm->assigned_memory_mib && v->power == vm->power_state &&
	       v->restarted == vm->restarted_at_ns && v->restarts == vm->restart_count &&
	       v->scheduled_at == vm->scheduled_at_ns && v->started == vm->started_at_ns &&
	       v->scheduled == condition(vm, VM_CONDITION_SCHEDULED) &&
	       v->running == condition(vm, VM_CONDITION_RUNNING) &&
	       v->cloning == condition(vm, VM_CONDITION_CLONING);
}

static void compare(uint32_t step)
{
	for (int i = 0; i < VMS; i++)
		if (vms[i].exists && !is_alike(&vms[i], real_vms[i]))
			fail_msg("step %u, machine %s: the model has status %d, worker %d, "
				 "scheduled %d; the engine %d, \"%s\", %d",
				step, vm_names[i], vms[i].status, vms[i].worker, vms[i].scheduled,
				real_vms[i]->status, real_vms[i]->worker ? real_vms[i]->worker : "",
				(int)condition(real_vms[i], VM_CONDITION_SCHEDULED));
}

static int any(int count)
{
	return (int)prng_below(&prng, (uint64_t)count);
}

static void say_counts(struct array *map, int64_t *plain, int most)
{
	for (int k = 0; k < KINDS; k++) {
		plain[k] = any(most + 1);
		if (plain[k] || any(2)) // 0 may be said, too
			((struct named_count *)map_item(map, sizeof(struct named_count), kinds[k]))
				->count = plain[k];
	}
}

static void say_shared(struct array *map, int kind, int64_t count)
{
	((struct named_count *)map_item(map, sizeof(struct named_count), shared[kind]))->count =
		count;
}

static void say_zone(struct array *labels, int zone)
{
	if (zone)
		((struct string_pair *)map_item(labels, sizeof(struct string_pair), "zone"))
			->value = copy(zones[zone]);
}

static void say(int i, int type, enum said *plain, bool state)
{
	vm_set_condition(real_vms[i], type, state);
	*plain = state ? YES : NO;
}

static void create(int i)
{
	struct plain_vm *v = &vms[i];
	struct vm *vm = real_vms[i] = vm_create();
	*v = (struct plain_vm){.exists = true,
		.created = now - any(3) * NS_PER_S,
		.worker = NOBODY,
		.message = "",
		.cpu = (uint64_t)any(3),
		.memory = (uint64_t)any(2) * 512,
		.arch = any(4) == 0 ? 1 + any(2) : 0,
		.zone = any(4) == 0 ? 1 + any(2) : 0,
		.runtime = any(6) == 0 ? 1 + any(2) : 0,
		.policy = any(3) ? VM_RESTART_ON_FAILURE : VM_RESTART_NEVER};
	vm->name = copy(vm_names[i]);
	vm->created_at_ns = v->created;
	vm->cpu = v->cpu;
	vm->memory_mib = v->memory;
	vm->arch = copy(arches[v->arch]);
	vm->runtime = copy(runtimes[v->runtime]);
	vm->restart_policy = v->policy;
	say_counts(&vm->resources, v->asks, any(2) ? 1 : 2);
	for (int k = 0; k < SHARED; k++)
		if (any(6) == 0)
			say_shared(&vm->resources, k, v->asks_shared[k] = any(3) * (k ? 512 : 1));
	say_zone(&vm->labels, v->zone);
	if (any(2))
		say(i, VM_CONDITION_SCHEDULED, &v->scheduled, false);
}

static void end_vm(int i)
{
	vm_free(real_vms[i]);
	real_vms[i] = NULL;
	vms[i].exists = false;
}

static void stop(int i)
{
	vms[i].power = real_vms[i]->power_state = any(2) ? VM_POWER_STOPPED : VM_POWER_SUSPENDED;
}

static void report(int i)
{
	struct plain_vm *v = &vms[i];
	switch (any(4)) {
	case 0:
		v->status = real_vms[i]->status = VM_FAILED;
		free(real_vms[i]->status_message);
		v->message = "it fell over";
		real_vms[i]->status_message = copy(v->message);
		break;
	case 1:
		say(i, VM_CONDITION_RUNNING, &v->running, true);
		v->started = real_vms[i]->started_at_ns = now;
		if (v->status == VM_PENDING)
			v->status = real_vms[i]->status = VM_RUNNING;
		break;
	case 2: say(i, VM_CONDITION_RUNNING, &v->running, false); break;
	default: say(i, VM_CONDITION_CLONING, &v->cloning, any(2)); break;
	}
}

static void happen_to_vm(int i)
{
	if (!vms[i].exists) {
		create(i);
		return;
	}
	switch (any(8)) {
	case 0: end_vm(i); break;
	case 1: stop(i); break;
	default: report(i); break;
	}
}

static void end_worker(int w)
{
	vm_worker_free(real_workers[w]);
	real_workers[w] = NULL;
	workers[w].exists = false;
}

// Registers a new or a known worker, with more or less than it had.
static void register_worker(int w)
{
	struct plain_worker *p = &workers[w];
	if (p->exists)
		end_worker(w);
	struct vm_worker *worker = real_workers[w] = vm_worker_create();
	*p = (struct plain_worker){.exists = true,
		.seen = now,
		.beats = any(3) == 0,
		.arch = any(3),
		.zone = any(3),
		.runtime = any(3),
		.cpu = any(2) ? 6 : 0,
		.memory = any(2) ? 1024 : 0};
	worker->name = copy(worker_names[w]);
	worker->last_seen_ns = now;
	worker->beats = p->beats;
	worker->arch = copy(arches[p->arch]);
	worker->runtime = copy(runtimes[p->runtime]);
	worker->default_cpu = p->cpu;
	worker->default_memory_mib = p->memory;
	say_counts(&worker->resources, p->has, 5);
	for (int k = 0; k < SHARED; k++)
		if ((p->names[k] = any(3) == 0))
			say_shared(
				&worker->resources, k, p->has_shared[k] = any(20) * (k ? 1024 : 1));
	say_zone(&worker->labels, p->zone);
}

static void happen_to_worker(int w)
{
	struct plain_worker *p = &workers[w];
	int what = any(10);
	if (!p->exists || what == 0)
		register_worker(w);
	else if (what == 1)
		end_worker(w);
	else if (what == 2)
		p->paused = real_workers[w]->scheduling_paused = !p->paused;
	else if (what == 3)
		p->beats = real_workers[w]->beats = !p->beats;
	else
		p->seen = real_workers[w]->last_seen_ns = now;
}

static void change_settings(void)
{
	profile = profiles[any(sizeof profiles / sizeof profiles[0])];
	counts_assigned = any(3) > 0;
}

static void happen(void)
{
	// The limits, and one nanosecond beyond them.
	static const int64_t spans[] = {NS_PER_S, 5 * NS_PER_S, 15 * NS_PER_S, 15 * NS_PER_S + 1,
		OFFLINE_AFTER, OFFLINE_AFTER + 1, 1};
	int what = any(16);
	if (what < 8)
		happen_to_vm(any(VMS));
	else if (what < 13)
		happen_to_worker(any(WORKERS));
	else if (what < 15)
		now += spans[any(sizeof spans / sizeof spans[0])];
	else
		change_settings();
	refusing_worker = any(8) ? NOBODY : any(WORKERS);
	vanishing_vm = any(16) ? NOBODY : any(VMS);
}

static void the_engine_does_what_loops_do(void **state)
{
	prng_seed(&prng, 5);
	now = 1767225600 * NS_PER_S;
	profile = "";
	for (uint32_t step = 0; step < STEPS; step++) {
		happen();
		turn_of_the_model();
		turn_of_the_engine();
		compare(step);
	}
	for (int i = 0; i < VMS; i++)
		vm_free(real_vms[i]);
	for (int w = 0; w < WORKERS; w++)
		vm_worker_free(real_workers[w]);
	print_message("%lu assignments, %lu refusals, %lu restarts, %lu lost or without worker\n",
		assignments, refusals, restarts, losses);
	assert_true(assignments > STEPS / 20 && refusals > STEPS / 500);
	assert_true(restarts > STEPS / 50 && losses > STEPS / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_engine_does_what_loops_do)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
