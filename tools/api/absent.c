// What Nomad has and Berth has not (yet): the answers that Nomad's clients cope with.
#include "tools/api/handlers.h"

void deployments_list(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	json_begin_array(w);
	json_end_array(w);
	reply_index(reply, state_index(request->api->settings.state));
}

void deployment_read(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_FOUND, "deployment not found");
	reply_index(reply, state_index(request->api->settings.state));
}

void job_deployment(struct request *request, struct reply *reply)
{
	json_write_null(reply_json(request, reply));
	reply_index(reply, state_index(request->api->settings.state));
}

// Nodes are not reached from here: what only they know cannot be asked.
void client_stats(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_FOUND, "No path to node");
}

void jobs_parse(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"HCL is not read here; submit JSON, or use a client that parses HCL itself");
}
