// The library takes the calling thread out of RCU before it enlarges a table, and for a few thousand new buckets that
// thread walks the chains itself, where it would meet items that are freed meanwhile. So the tables have a flavor of
// RCU of their own, whose read sections bring such a thread back for as long as it walks.
#include "state/tables/buckets.h"
#include "state/base/check.h"
#include <pthread.h>

static struct rcu_flavor_struct flavor;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local bool is_brought_back;

static void walk_begin(void)
{
	CHECK(!is_brought_back);
	if (rcu_read_ongoing())
		return;
	rcu_thread_online();
	is_brought_back = true;
}

static void walk_end(void)
{
	if (!is_brought_back)
		return;
	is_brought_back = false;
	rcu_thread_offline();
}

static void flavor_create(void)
{
	flavor = rcu_flavor;
	flavor.read_lock = walk_begin;
	flavor.read_unlock = walk_end;
}

struct cds_lfht *buckets_create(uint64_t count)
{
	CHECK(pthread_once(&once, flavor_create) == 0);
	return cds_lfht_new_flavor(count, count, 0, 0, &flavor, NULL);
}

void buckets_widen(struct cds_lfht *table, uint64_t count)
{
	CHECK((count & (count - 1)) == 0);
	CHECK(!rcu_read_ongoing());
	cds_lfht_resize(table, count);
	CHECK(!is_brought_back);
}
