#include "tests/tools/api/life.h"
#include "state/records/alloc_details.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#define PAUSE_NS 5000000
#define REPORTS_MAX 64u

// The server is that of the beginning: a test may have another one for a while.
static struct {
	struct server *server;
	const struct node_slot *nodes;
	uint32_t count;
	pthread_t thread;
	_Atomic bool ends;
	_Atomic int64_t spoiled;
} life;

struct report {
	struct node_slot node;
	char allocation[UUID_TEXT_BYTES];
	int status, health;
};
struct reports {
	uint32_t count;
	struct report items[REPORTS_MAX];
};

static bool note(const struct allocation *a, struct report *report)
{
	const struct alloc_deployment_status *status = allocation_health(a);
	bool runs = a->desired == ALLOC_RUN, judged = status && status->healthy.set;
	bool spoiled = (int64_t)a->job->version == atomic_load(&life.spoiled);
	if (a->client_status != ALLOC_PENDING && a->client_status != ALLOC_RUNNING)
		return false;
	// What runs to its end comes to it at once.
	if (a->client_status == ALLOC_RUNNING &&
		(a->job->type == JOB_BATCH || a->job->type == JOB_SYSBATCH))
		runs = false;
	if (runs && a->client_status == ALLOC_RUNNING && judged)
		return false;
	uuid_format(&a->id, report->allocation);
	report->status = runs ? ALLOC_RUNNING : ALLOC_COMPLETE;
	report->health = !runs ? 0 : spoiled ? -1 : 1;
	for (uint32_t i = 0; i < life.count; i++)
		if (life.nodes[i].slot == a->node_slot)
			report->node = life.nodes[i];
	return true;
}

static void collect(struct reports *reports)
{
	const struct allocation *a;
	uint64_t cursor = 0;
	reports->count = 0;
	state_read_begin();
	while (reports->count < REPORTS_MAX &&
		(a = state_next(life.server->state, STATE_ALLOCATIONS, &cursor)))
		reports->count += note(a, &reports->items[reports->count]);
	state_read_end();
}

static void *live(void *unused)
{
	static struct reports reports;
	struct timespec pause = {.tv_nsec = PAUSE_NS};
	while (!atomic_load(&life.ends)) {
		collect(&reports);
		for (uint32_t i = 0; i < reports.count; i++) {
			const struct report *r = &reports.items[i];
			server_report(life.server, r->node, r->allocation, r->status, r->health);
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

void life_begin(const struct node_slot *nodes, uint32_t count)
{
	life.server = server;
	life.nodes = nodes;
	life.count = count;
	atomic_store(&life.ends, false);
	atomic_store(&life.spoiled, -1);
	assert_int_equal(pthread_create(&life.thread, NULL, live, NULL), 0);
}

void life_end(void)
{
	atomic_store(&life.ends, true);
	assert_int_equal(pthread_join(life.thread, NULL), 0);
}

void life_spoil(int64_t version)
{
	atomic_store(&life.spoiled, version);
}
