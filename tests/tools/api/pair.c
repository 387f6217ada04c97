#include "tests/tools/api/pair.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct server *leader, *follower;

static const char *const ids[] = {
	"11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"};

const char *pair_url(const struct server *s, char text[static 64])
{
	snprintf(text, 64, "http://127.0.0.1:%u", api_port(s->api));
	return text;
}

static struct cluster_member member(uint32_t n, const char *url, bool leads, bool is_self)
{
	struct cluster_member m = {
		.stored_index = 40 + n, .is_alive = true, .is_leader = leads, .is_self = is_self};
	snprintf(m.id, sizeof m.id, "%s", ids[n]);
	snprintf(m.name, sizeof m.name, "member-%u", n);
	snprintf(m.http, sizeof m.http, "%s", url);
	snprintf(m.wire, sizeof m.wire, "10.0.0.%u:4647", n + 1);
	return m;
}

struct cluster_status pair_status(enum cluster_role role, const char *url, uint64_t term)
{
	char self[64] = "http://127.0.0.1:1";
	bool leads = role == CLUSTER_LEADER;
	if (follower && !leads)
		pair_url(follower, self);
	struct cluster_status s = {.name = "prod",
		.role = role,
		.knows_leader = url != NULL,
		.term = term,
		.index = 50,
		.leader_index = 53,
		.last_contact_ms = leads ? 0 : 17,
		.member_count = 2,
		.takeovers = leads};
	s.members[0] = member(0, url ? url : "http://127.0.0.1:2", url != NULL, leads);
	s.members[1] = member(1, self, false, !leads);
	// As its key tells: not who reads it.
	s.leader = s.members[0];
	s.leader.is_self = false;
	return s;
}

void pair_is_well(void)
{
	char url[64];
	pair_url(leader, url);
	struct cluster_status leads = pair_status(CLUSTER_LEADER, url, 7);
	struct cluster_status follows = pair_status(CLUSTER_FOLLOWER, url, 7);
	server_knows(leader, &leads);
	server_knows(follower, &follows);
}

int pair_begin(void **unused)
{
	leader = server_start(&(struct server_options){.is_of_cluster = true});
	follower = server_start(
		&(struct server_options){.is_of_cluster = true, .forward_hold_ms = PAIR_HOLD_MS});
	pair_is_well();
	return 0;
}

int pair_end(void **unused)
{
	server_stop(follower);
	server_stop(leader);
	return 0;
}

uint64_t pair_metric(struct server *s, const char *name)
{
	char line[160];
	struct response r = http(s, "GET", "/v1/metrics?format=prometheus", NULL);
	snprintf(line, sizeof line, "\n%s ", name);
	const char *at = strstr(r.body, line);
	if (!at)
		fail_msg("no metric %s", name);
	uint64_t value = strtoull(at + strlen(line), NULL, 10);
	response_free(&r);
	return value;
}
