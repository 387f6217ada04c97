// Connections over which another protocol is spoken (after a 101): the client's is handed to whoever carries its
// exchange, the line to nodes or the forwarder to the leader, until they give it back.
#pragma once
#include "tools/api/server/request.h"

// Whether the request asks for another protocol, where there is one.
bool switched_is_asked(const struct request *);
// Adds the headers that ask for it to what is sent on.
void switched_ask(const struct request *, struct exchange *);
// The response to it once its exchange is switched; NULL: memory is short.
struct MHD_Response *switched_response(struct request *);
// Answers with that, and hands the client's connection over. MHD_NO: the connection is to be closed.
enum MHD_Result switched_begin(struct request *, struct MHD_Response *);
