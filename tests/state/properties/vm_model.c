#include "tests/state/properties/vm_model.h"
#include "state/records/allocation.h"

#define RESTART_DELAY_NS 15000000000ll
#define OFFLINE_AFTER_NS 180000000000ll

const struct resources model_node_total = {4000, 8192, 100000};
const struct resources model_ask = {500, 700, 10};

struct resources model_use(const struct vm_model *m, int node)
{
	struct resources use = {0};

	for (int i = 0; i < MODEL_VMS; i++)
		if (m->vms[i].is_there && m->vms[i].holds_node == node) {
			use.cpu_mhz += m->vms[i].holds_cpu_mhz;
			use.memory_mb += m->vms[i].holds_memory_mb;
		}
	for (uint32_t i = 0; i < m->placed_count; i++)
		if (m->placed[i].node == node)
			use = resources_plus(use, model_ask);
	return use;
}

bool model_has_room(const struct vm_model *m, int node, struct resources ask)
{
	struct resources use = model_use(m, node);

	return use.cpu_mhz + ask.cpu_mhz <= model_node_total.cpu_mhz &&
	       use.memory_mb + ask.memory_mb <= model_node_total.memory_mb &&
	       use.disk_mb + ask.disk_mb <= model_node_total.disk_mb;
}

static void let_go(struct model_vm *vm)
{
	vm->holds_node = NO_ONE;
	vm->holds_cpu_mhz = vm->holds_memory_mb = 0;
}

static void unschedule(struct model_vm *vm)
{
	vm->is_scheduled = false;
	let_go(vm);
}

static int64_t asked_for(const struct vm *asked, const char *name)
{
	for (uint32_t i = 0; i < asked->resources.count; i++) {
		const struct named_count *c = ARRAY_AT(&asked->resources, struct named_count, i);
		if (strcmp(c->name, name) == 0)
			return c->count;
	}
	return 0;
}

enum command_outcome model_create(struct vm_model *m, int vm, const struct vm *asked)
{
	if (m->vms[vm].is_there)
		return OUTCOME_CONFLICT;
	m->vms[vm] = (struct model_vm){.is_there = true,
		.restarts = asked->restart_policy == VM_RESTART_ON_FAILURE,
		.suspendable = asked->suspendable,
		.status = VM_PENDING,
		.power = VM_POWER_RUNNING,
		.worker = NO_ONE,
		.running = NO_ONE,
		.cores = asked_for(asked, VM_RESOURCE_CORES),
		.memory_mib = asked_for(asked, VM_RESOURCE_MEMORY),
		.holds_node = NO_ONE};
	return OUTCOME_DONE;
}

enum command_outcome model_delete(struct vm_model *m, int vm)
{
	if (!m->vms[vm].is_there)
		return OUTCOME_UNKNOWN_VM;
	m->vms[vm].is_there = false;
	return OUTCOME_DONE;
}

enum command_outcome model_power(struct vm_model *m, int vm, int power)
{
	struct model_vm *v = &m->vms[vm];

	if (!v->is_there)
		return OUTCOME_UNKNOWN_VM;
	if (v->status == VM_FAILED || v->power != VM_POWER_RUNNING ||
		(power == VM_POWER_SUSPENDED && !v->suspendable))
		return OUTCOME_NOT_NOW;
	v->generation += power != VM_POWER_RUNNING;
	v->power = power;
	return OUTCOME_DONE;
}

static bool is_offline(const struct vm_model *m, const struct model_worker *w)
{
	return !w->beats && m->now_ns - w->last_seen_ns > OFFLINE_AFTER_NS;
}

static bool fits(const struct vm_model *m, const struct model_vm *v, int worker)
{
	int64_t cores = m->workers[worker].cores, memory_mib = m->workers[worker].memory_mib;

	for (int i = 0; i < MODEL_VMS; i++) {
		const struct model_vm *other = &m->vms[i];
		if (!other->is_there || !other->is_scheduled || other->worker != worker)
			continue;
		cores -= other->cores;
		memory_mib -= other->memory_mib;
	}
	return v->cores <= (cores > 0 ? cores : 0) &&
	       v->memory_mib <= (memory_mib > 0 ? memory_mib : 0);
}

enum vm_assign_result model_assign(struct vm_model *m, int vm, int worker)
{
	struct model_vm *v = &m->vms[vm];
	const struct model_worker *w = &m->workers[worker];

	if (!v->is_there || v->is_scheduled || v->status == VM_FAILED ||
		v->power != VM_POWER_RUNNING)
		return VM_SKIPPED;
	bool takes_work =
		w->is_there && !w->paused && (w->node == NO_ONE || m->nodes[w->node].is_up);
	if (!takes_work || is_offline(m, w) || !fits(m, v, worker))
		return VM_WORKER_SKIPPED;
	struct resources holds = {(uint32_t)(v->cores * model_node_total.cpu_mhz / w->cores),
		(uint32_t)v->memory_mib, 0};
	if (w->node != NO_ONE && !model_has_room(m, w->node, holds))
		return VM_WORKER_SKIPPED;
	if (w->node != NO_ONE && (holds.cpu_mhz || holds.memory_mb)) {
		v->holds_node = w->node;
		v->holds_cpu_mhz = holds.cpu_mhz;
		v->holds_memory_mb = holds.memory_mb;
	}
	v->is_scheduled = true;
	v->worker = worker;
	return VM_ASSIGNED;
}

static void restart(struct vm_model *m, struct model_vm *v)
{
	v->status = VM_PENDING;
	v->worker = NO_ONE;
	v->power = VM_POWER_RUNNING;
	v->running = NO_ONE;
	v->restarted_ns = m->now_ns;
	v->restarts_done++;
	unschedule(v);
}

bool model_judge(struct vm_model *m, int vm)
{
	struct model_vm *v = &m->vms[vm];
	bool is_failed = v->status == VM_FAILED;

	if (!v->is_there)
		return false;
	if (is_failed && v->restarts &&
		(v->restarted_ns == 0 || m->now_ns - v->restarted_ns > RESTART_DELAY_NS)) {
		restart(m, v);
		return true;
	}
	if (!v->is_scheduled)
		return false;
	const struct model_worker *w = &m->workers[v->worker];
	if (!is_failed && (!w->is_there || is_offline(m, w))) {
		v->status = VM_FAILED;
		return true;
	}
	if (v->power != VM_POWER_RUNNING && v->running == 0) {
		unschedule(v);
		return true;
	}
	if (!is_failed)
		return false;
	unschedule(v);
	v->running = 0;
	return true;
}

enum command_outcome model_report(struct vm_model *m, int vm, int status, int running)
{
	struct model_vm *v = &m->vms[vm];

	if (!v->is_there)
		return OUTCOME_UNKNOWN_VM;
	if (status != NO_ONE && v->status != VM_FAILED)
		v->status = status;
	if (running != NO_ONE)
		v->running = running;
	return OUTCOME_DONE;
}

bool model_hear(struct vm_model *m, int node, int vm, int client_status)
{
	struct model_vm *v = &m->vms[vm];
	bool has_to_run = v->power == VM_POWER_RUNNING, runs = client_status == ALLOC_RUNNING;

	if (!v->is_there || !v->is_scheduled || !m->workers[v->worker].is_there ||
		m->workers[v->worker].node != node)
		return false;
	if (client_status == ALLOC_PENDING)
		return true;
	if (v->status != VM_FAILED && runs)
		v->status = VM_RUNNING;
	if (!runs && has_to_run)
		v->status = VM_FAILED;
	else
		v->running = runs;
	if (runs == has_to_run)
		v->observed = v->generation;
	return true;
}

// Machines of a worker hold what they hold of its node alone.
static void move_to_node(struct vm_model *m, int worker, int node)
{
	m->workers[worker].node = node;
	for (int i = 0; i < MODEL_VMS; i++)
		if (m->vms[i].is_scheduled && m->vms[i].worker == worker &&
			m->vms[i].holds_node != node)
			let_go(&m->vms[i]);
}

static int worker_of(const struct vm_model *m, int node)
{
	for (int i = 0; i < MODEL_WORKERS; i++)
		if (m->workers[i].is_there && m->workers[i].node == node)
			return i;
	return NO_ONE;
}

static void lose(struct vm_model *m, int node)
{
	for (uint32_t i = 0; i < m->placed_count; i++)
		if (m->placed[i].node == node)
			m->placed[i].node = NO_ONE;
}

enum command_outcome model_register(
	struct vm_model *m, int node, int worker, int machine, int64_t cores)
{
	int former = worker_of(m, node);
	struct model_worker *w = worker == NO_ONE ? NULL : &m->workers[worker];

	if (w && w->is_there && (w->machine != machine || w->owner != node))
		return OUTCOME_CONFLICT;
	m->nodes[node].is_there = m->nodes[node].is_up = true;
	if (former != NO_ONE && former != worker) {
		m->workers[former].beats = false;
		m->workers[former].last_seen_ns = m->now_ns;
		move_to_node(m, former, NO_ONE);
	}
	if (!w)
		return OUTCOME_DONE;
	bool is_seen_already = w->is_there && w->beats;
	*w = (struct model_worker){.is_there = true,
		.beats = true,
		.paused = w->is_there && w->paused,
		.machine = machine,
		.owner = node,
		.cores = cores,
		.memory_mib = model_node_total.memory_mb,
		.last_seen_ns = is_seen_already ? w->last_seen_ns : m->now_ns};
	move_to_node(m, worker, node);
	return OUTCOME_DONE;
}

void model_silent(struct vm_model *m, int node, int64_t silent_ns)
{
	int worker = worker_of(m, node);

	if (!m->nodes[node].is_up)
		return;
	m->nodes[node].is_up = false;
	lose(m, node);
	if (worker == NO_ONE)
		return;
	m->workers[worker].beats = false;
	m->workers[worker].last_seen_ns = m->now_ns - silent_ns;
}

void model_returned(struct vm_model *m, int node)
{
	int worker = worker_of(m, node);

	if (m->nodes[node].is_up)
		return;
	m->nodes[node].is_up = true;
	if (worker == NO_ONE)
		return;
	m->workers[worker].beats = true;
	m->workers[worker].last_seen_ns = m->now_ns;
}

void model_purge(struct vm_model *m, int node)
{
	int worker = worker_of(m, node);

	lose(m, node);
	if (worker != NO_ONE)
		(void)model_forget_worker(m, worker);
	m->nodes[node].is_there = m->nodes[node].is_up = false;
}

enum command_outcome model_put_worker(struct vm_model *m, int worker, int machine, int64_t cores)
{
	struct model_worker *w = &m->workers[worker];

	if (w->is_there && w->machine != machine)
		return OUTCOME_CONFLICT;
	if (!w->is_there)
		*w = (struct model_worker){
			.is_there = true, .machine = machine, .node = NO_ONE, .owner = NO_ONE};
	if (!w->beats)
		w->last_seen_ns = m->now_ns;
	w->cores = cores;
	w->memory_mib = model_node_total.memory_mb;
	return OUTCOME_DONE;
}

enum command_outcome model_see(struct vm_model *m, int worker)
{
	struct model_worker *w = &m->workers[worker];

	if (!w->is_there)
		return OUTCOME_UNKNOWN_WORKER;
	if (w->node == NO_ONE)
		w->last_seen_ns = m->now_ns;
	return OUTCOME_DONE;
}

enum command_outcome model_pause(struct vm_model *m, int worker, bool paused)
{
	if (!m->workers[worker].is_there)
		return OUTCOME_UNKNOWN_WORKER;
	m->workers[worker].paused = paused;
	return OUTCOME_DONE;
}

enum command_outcome model_forget_worker(struct vm_model *m, int worker)
{
	if (!m->workers[worker].is_there)
		return OUTCOME_UNKNOWN_WORKER;
	m->workers[worker].is_there = false;
	move_to_node(m, worker, NO_ONE);
	return OUTCOME_DONE;
}
