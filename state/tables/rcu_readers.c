// A thread registers with RCU at its first read and is offline whenever it does not read.
#include "state/base/check.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <pthread.h>
#include <urcu-qsbr.h>

static _Thread_local bool is_registered;
// Read sections that this thread is in. They may nest: `done` runs inside a section of the applier.
static _Thread_local uint32_t depth;
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void leave(void *unused)
{
	rcu_unregister_thread();
	is_registered = false;
}

static void create_key(void)
{
	CHECK(pthread_key_create(&at_thread_end, leave) == 0);
}

static void online(void)
{
	if (is_registered) {
		rcu_thread_online();
		return;
	}
	CHECK(pthread_once(&once, create_key) == 0);
	CHECK(pthread_setspecific(at_thread_end, &is_registered) == 0);
	rcu_register_thread();
	is_registered = true;
}

void state_read_begin(void)
{
	if (depth++ == 0)
		online();
}

void state_read_end(void)
{
	CHECK(depth > 0);
	if (--depth == 0)
		rcu_thread_offline();
}

bool state_is_reading(void)
{
	return depth > 0;
}

void state_reader_online(void)
{
	CHECK(depth <= 1);
	if (depth == 0)
		state_read_begin();
}

void state_reader_quiescent(void)
{
	CHECK(depth == 1);
	rcu_quiescent_state();
}

void state_reader_offline(void)
{
	CHECK(depth <= 1);
	if (depth == 1)
		state_read_end();
}
