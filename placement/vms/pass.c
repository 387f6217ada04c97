#include "placement/vms/pass.h"
#include "placement/vms/ranking.h"
#include "placement/vms/shapes.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct candidate {
	const struct vm *vm;
	uint32_t shape;
	uint32_t worker;       // the proposed worker, or NONE
	struct vm_share share; // of that worker
	bool is_out;           // left out of this pass
};

struct vm_pass {
	const struct vm_worker **workers;
	uint32_t worker_count;
	struct array *used;     // named_count: per worker
	struct vm_share *held;  // the same of shares; NULL: they take no room (row D16)
	struct array most_free; // named_count: per resource, the most left on any worker
	struct vm_ranking ranking;
	struct vm_shapes shapes;
	struct candidate *candidates; // the oldest first
	uint32_t candidate_count, cursor;
};

static void count_usage(struct vm_pass *p, const struct vm_roster *r)
{
	for (uint32_t i = 0; i < r->vm_count; i++) {
		uint32_t worker = vm_roster_worker(r, i);
		if (worker == VM_ROSTER_NONE || !vm_is_scheduled(r->vms[i]))
			continue;
		p->ranking.machines[worker]++;
		vm_resources_add(&p->used[worker], &r->vms[i]->resources);
		if (p->held)
			p->held[worker] =
				vm_share_plus(p->held[worker], vm_share_assigned(r->vms[i]));
	}
}

static void rank_workers(struct vm_pass *p, const struct vm_roster *r, const char *profile)
{
	p->ranking.fewest_first = profile && strcmp(profile, VM_PROFILE_DISTRIBUTE) == 0;
	for (uint32_t i = 0; i < r->worker_count; i++)
		if (!r->workers[i]->scheduling_paused &&
			!vm_worker_is_offline(r->workers[i], r->now_ns, r->offline_after_ns))
			p->ranking.order[p->ranking.size++] = i;
	vm_ranking_sort(&p->ranking);
}

// A machine that asks for more than the most left anywhere is refused without a search of the workers. Only the pass
// takes from what is left, and only what the pass took is withdrawn.
static void note_free(struct vm_pass *p, uint32_t worker)
{
	const struct array *total = &p->workers[worker]->resources;

	for (uint32_t i = 0; i < total->count; i++) {
		const struct named_count *t = ARRAY_AT(total, struct named_count, i);
		struct named_count *most = map_item(&p->most_free, sizeof *most, t->name);
		int64_t left = vm_resource_left(total, &p->used[worker], t->name);
		if (left > most->count)
			most->count = left;
	}
}

static int oldest_first(const void *a, const void *b)
{
	const struct vm *x = *(const struct vm *const *)a, *y = *(const struct vm *const *)b;

	if (x->created_at_ns != y->created_at_ns)
		return x->created_at_ns < y->created_at_ns ? -1 : 1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static void take_candidates(struct vm_pass *p, const struct vm_roster *r)
{
	const struct vm **waiting = memory_take_array(r->vm_count + 1u, sizeof *waiting);
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->vm_count; i++)
		if (vm_wants_worker(r->vms[i]))
			waiting[count++] = r->vms[i];
	qsort(waiting, count, sizeof *waiting, oldest_first);
	uint32_t *shapes = memory_take_array(count + 1u, sizeof *shapes);
	vm_shapes_find(&p->shapes, waiting, count, r->worker_count, shapes);
	p->candidates = memory_take_array(count + 1u, sizeof *p->candidates);
	p->candidate_count = count;
	for (uint32_t i = 0; i < count; i++)
		p->candidates[i] = (struct candidate){
			.vm = waiting[i], .shape = shapes[i], .worker = VM_ROSTER_NONE};
	free(shapes);
	free(waiting);
}

struct vm_pass *vm_pass_begin(const struct vm_roster *r, const struct cluster_settings *settings)
{
	struct vm_pass *p = memory_take(sizeof *p);

	p->worker_count = r->worker_count;
	p->workers = memory_take_array(r->worker_count + 1u, sizeof *p->workers);
	for (uint32_t i = 0; i < r->worker_count; i++)
		p->workers[i] = r->workers[i];
	p->used = memory_take_array(r->worker_count + 1u, sizeof *p->used);
	p->ranking.machines = memory_take_array(r->worker_count + 1u, sizeof(uint32_t));
	p->ranking.order = memory_take_array(r->worker_count + 1u, sizeof(uint32_t));
	if (settings->count_assigned)
		p->held = memory_take_array(r->worker_count + 1u, sizeof *p->held);
	count_usage(p, r);
	rank_workers(p, r, settings->scheduler_profile);
	for (uint32_t i = 0; i < p->ranking.size; i++)
		note_free(p, p->ranking.order[i]);
	take_candidates(p, r);
	return p;
}

void vm_pass_end(struct vm_pass *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->worker_count; i++)
		map_free(&p->used[i], sizeof(struct named_count));
	map_free(&p->most_free, sizeof(struct named_count));
	vm_shapes_free(&p->shapes);
	free(p->ranking.order);
	free(p->ranking.machines);
	free(p->used);
	free(p->held);
	free(p->candidates);
	free(p->workers);
	free(p);
}

static bool takes(const struct vm_pass *p, uint32_t worker, const struct vm *vm)
{
	return vm_suits_worker(vm, p->workers[worker]) &&
	       vm_has_room(
		       vm, p->workers[worker], &p->used[worker], p->held ? &p->held[worker] : NULL);
}

static uint32_t find_worker(struct vm_pass *p, const struct candidate *c)
{
	static const struct array nothing;
	struct vm_shape *shape = &p->shapes.shapes[c->shape];

	if (shape->is_exhausted || !vm_fits(&c->vm->resources, &p->most_free, &nothing))
		return VM_ROSTER_NONE;
	for (uint32_t i = 0; i < p->ranking.size; i++) {
		uint32_t worker = p->ranking.order[i];
		if (vm_shape_is_out(shape, worker))
			continue;
		if (takes(p, worker, c->vm))
			return worker;
		vm_shape_lacks(&p->shapes, shape, worker);
	}
	shape->is_exhausted = true;
	return VM_ROSTER_NONE;
}

static void take_share(struct vm_pass *p, struct candidate *c)
{
	c->share = vm_share_on(c->vm, p->workers[c->worker]);
	if (p->held)
		p->held[c->worker] = vm_share_plus(p->held[c->worker], c->share);
}

uint32_t vm_pass_propose(struct vm_pass *p, struct vm_proposal *proposals, uint32_t most)
{
	uint32_t count = 0;

	for (; p->cursor < p->candidate_count && count < most; p->cursor++) {
		struct candidate *c = &p->candidates[p->cursor];
		if (c->is_out || c->worker != VM_ROSTER_NONE)
			continue;
		c->worker = find_worker(p, c);
		if (c->worker == VM_ROSTER_NONE)
			continue;
		vm_resources_add(&p->used[c->worker], &c->vm->resources);
		take_share(p, c);
		vm_ranking_move(&p->ranking, c->worker, 1);
		proposals[count++] =
			(struct vm_proposal){c->vm, p->workers[c->worker], c->worker, p->cursor};
	}
	return count;
}

void vm_pass_withdraw(struct vm_pass *p, const struct vm_proposal *proposal, bool again)
{
	struct candidate *c = &p->candidates[proposal->candidate];
	uint32_t worker = c->worker;

	CHECK(proposal->candidate < p->candidate_count && worker != VM_ROSTER_NONE);
	vm_resources_remove(&p->used[worker], &c->vm->resources);
	if (p->held)
		p->held[worker] = vm_share_minus(p->held[worker], c->share);
	vm_ranking_move(&p->ranking, worker, -1);
	vm_shapes_room(&p->shapes, worker);
	if (again)
		vm_shape_refused(&p->shapes, &p->shapes.shapes[c->shape], worker);
	c->is_out = !again;
	c->worker = VM_ROSTER_NONE;
	p->cursor = 0;
}
