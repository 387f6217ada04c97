// Answers for features of Nomad that Berth lacks, in a form that Nomad's clients cope with. Each serves reads and
// writes.
#include "tools/api/nomad/routes.h"
#include "tools/api/server/request.h"

void client_stats(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_FOUND, "No path to node");
}

void client_not_reached(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"nodes are not reached from here: look at files, logs and processes on the node "
		"itself");
}

void agent_not_shown(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"this server does not show its machine or its log; read the journal");
}

void snapshot_not_sent(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"snapshots are not sent over HTTP; back up data_dir while the server is stopped");
}

void jobs_parse(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"HCL is not read here; submit JSON, or use a client that parses HCL itself");
}
