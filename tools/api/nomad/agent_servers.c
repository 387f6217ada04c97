// Answers about the server's place among servers, and about its schedulers.
#include "state/base/number_ranges.h"
#include "state/records/scheduler_config.h"
#include "tools/api/nomad/members.h"
#include "tools/api/nomad/routes.h"
#include "tools/api/server/body.h"
#include "tools/json/json_reader.h"
#include <string.h>

static const char *const types[] = {"service", "batch", "system", "sysbatch", "_core"};
#define TYPES (sizeof types / sizeof types[0])
#define CORE (TYPES - 1)

static void put_types(struct json_writer *w)
{
	json_open_array(w, "enabled_schedulers");
	for (size_t i = 0; i < TYPES; i++)
		json_write_string(w, types[i]);
	json_end_array(w);
}

static void put_server_id(struct json_writer *w, const struct api *api)
{
	char name[300];
	snprintf(name, sizeof name, "%s.%s", api->name, api->region);
	json_put_string(w, "server_id", name);
}

// All schedulers are alike: they began with the server, and work unless the broker is paused.
void agent_schedulers(struct request *request, struct reply *reply)
{
	struct api *api = request->api;
	uint32_t count = api->settings.schedulers;
	uint64_t age_ns = time_monotonic_ns(api->settings.time) - api->started_ns;
	int64_t started_ns = (int64_t)(time_wall_ns(api->settings.time) - age_ns);
	struct json_writer *w = reply_json(request, reply);
	state_read_begin();
	bool paused = state_scheduler_config(api->settings.state)->pause_eval_broker;
	state_read_end();
	json_begin_object(w);
	put_server_id(w, api);
	json_open_array(w, "schedulers");
	for (uint32_t i = 0; i < count; i++) {
		char id[16];
		snprintf(id, sizeof id, "%u", i);
		json_begin_object(w);
		json_put_string(w, "id", id);
		put_types(w);
		json_write_key(w, "started");
		json_write_time(w, started_ns);
		json_put_string(w, "status", "Started");
		json_put_string(w, "workload_status", paused ? "Paused" : "WaitingToDequeue");
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

void agent_schedulers_config(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	put_server_id(w, request->api);
	json_put_u64(w, "num_schedulers", request->api->settings.schedulers);
	put_types(w);
	json_end_object(w);
}

// The types that the list names, a bit for each; 0: it names something else.
static unsigned read_types(json_t *list)
{
	unsigned found = 0;
	json_t *item;
	size_t i;
	json_array_foreach(list, i, item)
	{
		const char *name = json_string_value(item);
		size_t type = 0;
		while (type < TYPES && !(name && strcmp(name, types[type]) == 0))
			type++;
		if (type == TYPES)
			return 0;
		found |= 1u << type;
	}
	return found;
}

// What is so already may be asked for; the rest is a setting.
void agent_schedulers_set(struct request *request, struct reply *reply)
{
	struct reply refusal = {0};
	json_t *body = body_read_some(request, &refusal);
	json_t *count = json_object_get(body, "num_schedulers");
	unsigned asked = read_types(json_object_get(body, "enabled_schedulers"));
	bool is_valid = json_integer_value(count) >= 0 && (asked & 1u << CORE);
	uint32_t running = request->api->settings.schedulers;
	if (!body)
		reply_mistake(
			reply, "Invalid request: %.*s", (int)refusal.body.size, refusal.body.data);
	else if (!is_valid)
		reply_mistake(reply, "Invalid request");
	else if (asked == (1u << TYPES) - 1 && json_integer_value(count) == running)
		agent_schedulers_config(request, reply);
	else
		reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
			"the number of schedulers is the setting scheduler.workers, read when the "
			"server starts; each serves all types");
	reply_free(&refusal);
	json_decref(body);
}

// False with a reply when the query does not name what the route is about.
static bool names(const struct request *request, const char *parameter, const char *missing,
	struct reply *reply)
{
	const char *value = request_parameter(request, parameter);
	if (value && *value)
		return true;
	return reply_mistake(reply, "%s", missing);
}

// A member is found; of another server it answers as one that cannot reach it: 200, and why.
void agent_join(struct request *request, struct reply *reply)
{
	struct membership m;
	if (!names(request, "address", "missing address to join", reply))
		return;
	membership_read(request->api, &m);
	bool is_member = member_find(&m, NULL, request_parameter(request, "address")) != NULL;
	const char *why =
		m.is_cluster ? "1 error occurred:\n\t* a server of Berth joins by its own "
			       "setting cluster and berth operator cluster join\n\n"
			     : "1 error occurred:\n\t* a server of Berth stands alone: regions "
			       "know each other by the setting peers.regions\n\n";
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_u64(w, "num_joined", is_member);
	json_put_string(w, "error", is_member ? "" : why);
	json_end_object(w);
}

// Nobody makes another server leave: a member that is gone is seen as failed, and leaves by its own word.
void agent_force_leave(struct request *request, struct reply *reply)
{
	if (names(request, "node", "missing node to force leave", reply))
		reply->status = MHD_HTTP_OK;
}

// Whether what follows the last colon, if there is one, is a port. Of addresses in brackets it is what follows those.
static bool has_good_port(const char *address, const char **port)
{
	const char *bracket = strrchr(address, ']');
	const char *colon = strrchr(bracket ? bracket : address, ':');
	bool has_many = !bracket && colon && strchr(address, ':') != colon;
	uint32_t number;
	*port = colon && !has_many ? colon + 1 : NULL;
	return !*port || number_read(text_of(*port), UINT16_MAX, &number);
}

// Nodes know their controller by its own address: what is named here changes nothing, but must be an address.
void agent_servers_set(struct request *request, struct reply *reply)
{
	const char *port;
	if (!names(request, "address", "missing server address", reply))
		return;
	const char *address = request_parameter(request, "address");
	if (has_good_port(address, &port))
		reply->status = MHD_HTTP_OK;
	else
		reply_mistake(
			reply, "1 error occurred:\n\t* lookup tcp/%.64s: unknown port\n\n", port);
}
