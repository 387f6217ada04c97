// What Nomad has and Berth has not (yet): the answers that Nomad's clients cope with.
#include "tools/api/handlers.h"

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
