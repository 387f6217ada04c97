// Answers for features of Nomad that Berth lacks, in a form that Nomad's clients cope with. Each serves reads and
// writes. Lists of what there is none of are empty, as those of a server of Nomad that has none.
#include "tools/api/nomad/routes.h"
#include "tools/api/server/request.h"

void agent_not_shown(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED, "this server does not show its machine");
}

// Clients that gather profiles of everything leave off at these words.
void agent_no_profiles(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_FORBIDDEN,
		"Permission denied: this server is no Go program and has no such profiles");
}

void autopilot_not_set(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"a single server has no autopilot: there is nothing to set");
}

void nothing_listed(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	json_begin_array(w);
	json_end_array(w);
	reply_index(reply, 0);
}

static void reply_absent(struct reply *reply, const char *noun)
{
	reply_error(reply, MHD_HTTP_NOT_FOUND, "%s not found", noun);
	reply_index(reply, 0);
}

// The sources of jobs, which clients send along, are not kept.
void submission_absent(struct request *request, struct reply *reply)
{
	const char *version = request_parameter(request, "version");
	if (version && *version && version[strspn(version, "0123456789")] == '\0')
		reply_absent(reply, "job source");
	else
		reply_mistake(reply, "Unable to parse job submission version parameter");
}

void volume_absent(struct request *request, struct reply *reply)
{
	reply_absent(reply, "volume");
}

void plugin_absent(struct request *request, struct reply *reply)
{
	reply_absent(reply, "plugin");
}

void no_such_plugin(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "no such plugin");
}

void enterprise_only(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED, "Nomad Enterprise only endpoint");
}

void license_absent(struct request *request, struct reply *reply)
{
	reply->status = MHD_HTTP_NO_CONTENT;
}

void acl_absent(struct request *request, struct reply *reply)
{
	const struct api_settings *settings = &request->api->settings;
	state_read_begin();
	bool is_on = settings->acl_forced || state_acl_is_bootstrapped(settings->state);
	state_read_end();
	if (is_on)
		reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
			"nobody logs in here: there are no auth methods, binding rules or one-time "
			"tokens; make tokens with PUT /v1/acl/token");
	else
		reply_mistake(reply, "ACL support disabled");
}

void not_kept(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"services and volumes of plugins are not kept here; keep them where they are used");
}
