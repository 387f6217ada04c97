#include "dataplane/requests/rest.h"

void rest_ends(struct rest *r)
{
	r->idle_turns = r->naps = r->nap_us = 0;
}

bool rest_turn(struct rest *r)
{
	if (r->idle_turns < REST_TURNS_AWAKE)
		r->idle_turns++;
	return r->idle_turns == REST_TURNS_AWAKE;
}

static uint32_t longest_nap(struct rest *r)
{
	if (r->naps == REST_NAPS_QUIET)
		return r->longest_us * REST_QUIET_TIMES;
	r->naps++;
	return r->longest_us;
}

uint32_t rest_nap(struct rest *r)
{
	uint32_t longest_us = longest_nap(r);

	r->nap_us = r->nap_us == 0 ? REST_NAP_US_FIRST : r->nap_us * 2;
	if (r->nap_us > longest_us)
		r->nap_us = longest_us;
	return r->nap_us;
}
