#include "bench/naive/naive_vms.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct seat {
	const struct vm_worker *worker;
	uint32_t number, machines;
	struct array used; // named_count
};

static struct named_count *find_count(const struct array *counts, const char *name)
{
	for (uint32_t i = 0; i < counts->count; i++) {
		struct named_count *count = ARRAY_AT(counts, struct named_count, i);
		if (strcmp(count->name, name) == 0)
			return count;
	}
	return NULL;
}

static void take_seat(struct seat *seat, const struct vm *vm)
{
	seat->machines++;
	for (uint32_t i = 0; i < vm->resources.count; i++) {
		const struct named_count *asked = ARRAY_AT(&vm->resources, struct named_count, i);
		struct named_count *used = find_count(&seat->used, asked->name);
		if (!used) {
			used = array_append(&seat->used, sizeof *used);
			used->name = asked->name;
		}
		used->count += asked->count;
	}
}

static bool has_labels(const struct vm_worker *worker, const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->labels.count; i++) {
		const struct string_pair *wanted = ARRAY_AT(&vm->labels, struct string_pair, i);
		bool found = false;
		for (uint32_t k = 0; k < worker->labels.count && !found; k++) {
			const struct string_pair *label =
				ARRAY_AT(&worker->labels, struct string_pair, k);
			found = strcmp(label->name, wanted->name) == 0 &&
				strcmp(label->value, wanted->value) == 0;
		}
		if (!found)
			return false;
	}
	return true;
}

static bool has_room(const struct seat *seat, const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->resources.count; i++) {
		const struct named_count *asked = ARRAY_AT(&vm->resources, struct named_count, i);
		const struct named_count *all = find_count(&seat->worker->resources, asked->name);
		const struct named_count *used = find_count(&seat->used, asked->name);
		if (asked->count > (all ? all->count : 0) - (used ? used->count : 0))
			return false;
	}
	return true;
}

static int in_order(const void *a, const void *b, void *context)
{
	const struct seat *x = *(struct seat *const *)a, *y = *(struct seat *const *)b;
	const struct naive_vms *n = context;

	if (x->machines != y->machines)
		return (x->machines < y->machines) == n->fewest_first ? -1 : 1;
	return strcmp(x->worker->name, y->worker->name);
}

static uint32_t place(struct naive_vms *n, struct seat **seats, const struct vm *vm)
{
	qsort_r(seats, n->worker_count, sizeof *seats, in_order, n);
	for (uint32_t i = 0; i < n->worker_count; i++) {
		if (seats[i]->worker->scheduling_paused || !has_labels(seats[i]->worker, vm) ||
			!has_room(seats[i], vm))
			continue;
		take_seat(seats[i], vm);
		return seats[i]->number;
	}
	return NAIVE_VM_WAITS;
}

uint32_t naive_vms_place(struct naive_vms *n)
{
	struct seat *seats = memory_take_array(n->worker_count, sizeof *seats);
	struct seat **order = memory_take_array(n->worker_count, sizeof *order);
	uint32_t placed = 0;

	for (uint32_t i = 0; i < n->worker_count; i++) {
		seats[i] = (struct seat){.worker = n->workers[i], .number = i};
		order[i] = &seats[i];
	}
	for (uint32_t i = 0; i < n->vm_count; i++)
		if (n->on[i] != NAIVE_VM_WAITS)
			take_seat(&seats[n->on[i]], n->vms[i]);
	for (uint32_t i = 0; i < n->vm_count; i++) {
		if (n->on[i] != NAIVE_VM_WAITS)
			continue;
		n->on[i] = place(n, order, n->vms[i]);
		placed += n->on[i] != NAIVE_VM_WAITS;
	}
	for (uint32_t i = 0; i < n->worker_count; i++)
		free(seats[i].used.items);
	free(order);
	free(seats);
	return placed;
}
