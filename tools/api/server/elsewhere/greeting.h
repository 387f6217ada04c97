// A token that comes with the first message of a WebSocket, because a browser puts no headers into such a request:
// {"version":1,"auth_token":"…"}. Until it has come nothing that the client says goes to the node, and the token, which
// is no business of a node's, never does.
#pragma once
#include "tools/api/forward/exchange.h"
#include "tools/api/server/request.h"

// Whether the request says that it begins with such a message (ws_handshake=true).
bool greeting_is_announced(const struct request *);
// exchange.judge of such a request. When the token allows what is asked, the request has its access from then on.
// A header's token is the one that holds, if there is one.
enum joint_verdict greeting_judge(void *request, int fd, void *data, size_t *size);
