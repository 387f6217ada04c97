// Requests that only a node can answer go to it over the line (tools/api/line/line_hub.h), and its answer is handed on
// as it comes. Nodes ask over the line, too: their requests come to this server as connections of theirs.
#pragma once
#include "tools/api/server/request.h"

// Begins with the connections that nodes dial. 0 or -errno. Nothing when there is no line.
int node_line_start(struct api *);
// Hands the request to the node, with its body; the node is asked for this path and query. The stage is
// REQUEST_FORWARDED then; or the reply says why not.
void ask_node(struct request *, struct reply *, const struct uuid *node, const char *target);
