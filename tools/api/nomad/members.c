#include "tools/api/nomad/members.h"
#include "state/base/check.h"
#include "state/base/number_ranges.h"
#include <stdio.h>
#include <string.h>

static void stand_alone(const struct api *api, struct cluster_status *s)
{
	bool six = strchr(api->address, ':') != NULL;
	struct cluster_member *self = &s->members[0];
	*s = (struct cluster_status){.role = CLUSTER_LEADER,
		.knows_leader = true,
		.term = state_node_table(api->settings.state)->term,
		.index = state_index(api->settings.state),
		.member_count = 1};
	s->leader_index = s->index;
	uuid_format(&api->id, self->id);
	snprintf(self->name, sizeof self->name, "%s", api->name);
	snprintf(self->http, sizeof self->http, six ? "http://[%s]:%u" : "http://%s:%u",
		api->address, api->port);
	self->stored_index = s->index;
	self->is_alive = self->is_leader = self->is_self = true;
	s->leader = *self;
}

void membership_read(const struct api *api, struct membership *m)
{
	const struct api_settings *settings = &api->settings;
	m->is_cluster = settings->cluster != NULL;
	if (m->is_cluster)
		settings->cluster(settings->context, &m->status);
	else
		stand_alone(api, &m->status);
	CHECK(m->status.member_count <= CLUSTER_MEMBERS_MAX);
}

struct member_address member_address_of(const char *url)
{
	struct member_address a = {.port = strncmp(url, "https://", 8) == 0 ? 443 : 80};
	const char *at = strstr(url, "://");
	at = at ? at + 3 : url;
	bool six = *at == '[';
	at += six;
	size_t size = strcspn(at, six ? "]" : ":/");
	snprintf(a.host, sizeof a.host, "%.*s", (int)size, at);
	at += size + (six && at[size]);
	uint32_t port;
	if (*at == ':' && number_read((struct text){at + 1, (uint32_t)strcspn(at + 1, "/")},
				  UINT16_MAX, &port))
		a.port = (uint16_t)port;
	if (*a.host)
		snprintf(a.text, sizeof a.text, six ? "[%s]:%u" : "%s:%u", a.host, a.port);
	return a;
}

void member_full_name(const struct api *api, const struct cluster_member *m,
	char name[static MEMBER_ADDRESS_BYTES])
{
	snprintf(name, MEMBER_ADDRESS_BYTES, "%s.%s", m->name, api->region);
}

void leader_address(const struct api *api, char text[static MEMBER_ADDRESS_BYTES])
{
	struct membership m;
	membership_read(api, &m);
	struct member_address a =
		member_address_of(m.status.knows_leader ? m.status.leader.http : "");
	snprintf(text, MEMBER_ADDRESS_BYTES, "%s", a.text);
}

const struct cluster_member *member_find(
	const struct membership *m, const char *id, const char *address)
{
	for (uint32_t i = 0; i < m->status.member_count; i++) {
		const struct cluster_member *member = &m->status.members[i];
		if (id && m->is_cluster && strcmp(member->id, id) == 0)
			return member;
		// A server that stands alone has its address for an id.
		const char *named = address ? address : m->is_cluster ? NULL : id;
		if (named && strcmp(member_address_of(member->http).text, named) == 0)
			return member;
	}
	return NULL;
}
