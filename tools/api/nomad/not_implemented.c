// What Nomad has and Berth has not: the answers that Nomad's clients cope with.
#include "tools/api/handlers.h"

// Nodes are not reached from here: what only they know cannot be asked.
void client_stats(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_FOUND, "No path to node");
}

static void reply_absent(struct reply *reply, const char *sentence)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED, "%s", sentence);
}

static const char no_node[] =
	"nodes are not reached from here: look at files, logs and processes on the node itself";

void client_absent(struct request *request, struct reply *reply)
{
	reply_absent(reply, no_node);
}

void client_absent_write(struct request *request, struct reply *reply)
{
	reply_absent(reply, no_node);
}

void agent_absent(struct request *request, struct reply *reply)
{
	reply_absent(reply, "this server does not show its machine or its log; read the journal");
}

static const char no_snapshot[] =
	"snapshots are not sent over HTTP; back up data_dir while the server is stopped";

void snapshot_absent(struct request *request, struct reply *reply)
{
	reply_absent(reply, no_snapshot);
}

void snapshot_absent_write(struct request *request, struct reply *reply)
{
	reply_absent(reply, no_snapshot);
}

void pools_absent_write(struct request *request, struct reply *reply)
{
	reply_absent(reply,
		"node pools are not made here: a pool is there as long as a node says that it is "
		"in it");
}

void jobs_parse(struct request *request, struct reply *reply)
{
	reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
		"HCL is not read here; submit JSON, or use a client that parses HCL itself");
}
