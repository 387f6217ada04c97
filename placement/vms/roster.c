#include "placement/vms/roster.h"
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

void vm_roster_order(struct vm_roster *r)
{
	if (r->worker_count)
		qsort(r->workers, r->worker_count, sizeof *r->workers, by_name);
}

uint32_t vm_roster_worker(const struct vm_roster *r, const char *name)
{
	uint32_t from = 0, to = r->worker_count;

	if (!name || !*name)
		return VM_ROSTER_NONE;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		int order = strcmp(name_of(r->workers[middle]), name);
		if (order == 0)
			return middle;
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return VM_ROSTER_NONE;
}

uint32_t vm_roster_health(const struct vm_roster *r, struct vm_finding *findings)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->vm_count; i++) {
		uint32_t at = vm_roster_worker(r, r->vms[i]->worker);
		const struct vm_worker *worker = at == VM_ROSTER_NONE ? NULL : r->workers[at];
		enum vm_verdict verdict =
			vm_health(r->vms[i], worker, r->now_ns, r->offline_after_ns);
		if (verdict != VM_HEALTHY)
			findings[count++] = (struct vm_finding){i, verdict};
	}
	return count;
}
