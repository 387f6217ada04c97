#include "tools/api/server/blocking_query.h"
#include "state/base/time_units.h"
#include "tools/api/server/access.h"
#include "tools/json/duration.h"

// Nomad's default and maximum wait, and its jitter: up to a sixteenth more.
#define API_WAIT_MS_MAX 300000ull
#define API_WAIT_JITTER 16u

static uint64_t jitter_ns(struct api *api, uint64_t wait_ns)
{
	pthread_mutex_lock(&api->prng_lock);
	uint64_t jitter = prng_below(&api->prng, wait_ns / API_WAIT_JITTER + 1);
	pthread_mutex_unlock(&api->prng_lock);
	return jitter;
}

bool blocking_query_wanted(struct request *r, uint64_t *deadline_ns, struct reply *reply)
{
	const char *index = request_parameter(r, "index"), *wait = request_parameter(r, "wait");
	int64_t wait_ns = 0;
	if (!r->route->watched)
		return false;
	if (wait && (!duration_parse(wait, &wait_ns) || wait_ns < 0))
		return reply_mistake(reply,
			"Invalid wait time: \"%.64s\" is no duration; write it like 30s or 5m",
			wait);
	if (index && !number_parse(index, UINT64_MAX, &r->wait_index))
		return reply_mistake(reply,
			"Invalid index: \"%.64s\" is no number; pass the X-Nomad-Index of an "
			"earlier answer",
			index);
	if (!r->wait_index)
		return false;
	uint64_t most_ns = API_WAIT_MS_MAX * NS_PER_MS;
	uint64_t wanted_ns =
		wait_ns > 0 && (uint64_t)wait_ns < most_ns ? (uint64_t)wait_ns : most_ns;
	uint64_t over_ns =
		time_monotonic_ns(r->api->settings.time) + wanted_ns + jitter_ns(r->api, wanted_ns);
	uint64_t end_ns = access_end_ns(r);
	*deadline_ns = end_ns < over_ns ? end_ns : over_ns;
	return true;
}

static bool table_is_empty(const struct state *state, enum state_table table)
{
	struct state_counts counts;
	state_counts(state, &counts);
	switch (table) {
	case STATE_JOBS: return counts.jobs == 0;
	case STATE_ALLOCATIONS: return counts.allocations == 0;
	case STATE_EVALUATIONS: return counts.evaluations == 0;
	case STATE_DEPLOYMENTS: return counts.deployments == 0;
	default: return false;
	}
}

// Changes from before the server started are no newer than its first index.
uint64_t table_index(const struct request *r, enum state_table table)
{
	uint64_t index = state_table_index(r->api->settings.state, table);
	if (!index && table_is_empty(r->api->settings.state, table))
		return 0;
	return index > r->api->first_index ? index : r->api->first_index;
}

uint64_t table_watched(const struct request *r)
{
	return table_index(r, r->route->table);
}

uint64_t list_index(const struct request *r)
{
	state_read_begin();
	uint64_t index = r->route->watched(r);
	state_read_end();
	return index;
}

// Under read lock. A record that existed and is gone has changed, too.
static bool watched_moved(const void *context)
{
	const struct request *r = context;
	uint64_t index = r->route->watched(r);
	return index > r->wait_index || (index == 0 && r->wait_existed);
}

// Under read lock. Whoever waits with a token that ends is told so at once.
static bool waits_no_more(const void *context)
{
	return watched_moved(context) || access_has_ended(context);
}

const struct parked_kind blocking_query_kind = {.is_ready = waits_no_more};

bool blocking_query_is_over(struct request *r)
{
	state_read_begin();
	bool first = !r->deadline_ns;
	if (first)
		r->wait_existed = r->route->watched(r) != 0;
	bool over = watched_moved(r);
	state_read_end();
	return over;
}
