#include "placement/vms/roster.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct vm_worker *worker)
{
	return worker->name ? worker->name : "";
}

static int by_name(const void *a, const void *b)
{
	const struct vm_worker *const *x = a, *const *y = b;
	return strcmp(name_of(*x), name_of(*y));
}

// Workers by the hash of their names; at least half of the places are empty.
struct directory {
	uint32_t *places; // worker numbers
	uint32_t mask;
};

static uint32_t first_place(const struct directory *d, const char *name)
{
	return (uint32_t)hash_keyed(0, name, (uint32_t)strlen(name)) & d->mask;
}

static struct directory list_workers(const struct vm_roster *r)
{
	struct directory d = {.mask = 1};

	while (d.mask < 2 * r->worker_count)
		d.mask = 2 * d.mask + 1;
	d.places = memory_take_array(d.mask + 1u, sizeof *d.places);
	memset(d.places, 0xff, (d.mask + 1u) * sizeof *d.places);
	for (uint32_t i = 0; i < r->worker_count; i++) {
		uint32_t at = first_place(&d, name_of(r->workers[i]));
		while (d.places[at] != VM_ROSTER_NONE)
			at = (at + 1) & d.mask;
		d.places[at] = i;
	}
	return d;
}

static uint32_t find_worker(const struct vm_roster *r, const struct directory *d, const char *name)
{
	if (!name || !*name)
		return VM_ROSTER_NONE;
	for (uint32_t at = first_place(d, name);; at = (at + 1) & d->mask) {
		uint32_t number = d->places[at];
		if (number == VM_ROSTER_NONE || strcmp(name_of(r->workers[number]), name) == 0)
			return number;
	}
}

void vm_roster_order(struct vm_roster *r)
{
	if (r->worker_count)
		qsort(r->workers, r->worker_count, sizeof *r->workers, by_name);
	struct directory d = list_workers(r);
	r->worker_of = memory_take_array(r->vm_count + 1u, sizeof *r->worker_of);
	for (uint32_t i = 0; i < r->vm_count; i++)
		r->worker_of[i] = find_worker(r, &d, r->vms[i]->worker);
	free(d.places);
}

void vm_roster_free(struct vm_roster *r)
{
	free(r->worker_of);
	r->worker_of = NULL;
}

uint32_t vm_roster_health(const struct vm_roster *r, struct vm_finding *findings)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->vm_count; i++) {
		uint32_t at = vm_roster_worker(r, i);
		const struct vm_worker *worker = at == VM_ROSTER_NONE ? NULL : r->workers[at];
		enum vm_verdict verdict =
			vm_health(r->vms[i], worker, r->now_ns, r->offline_after_ns);
		if (verdict != VM_HEALTHY)
			findings[count++] = (struct vm_finding){i, verdict};
	}
	return count;
}
