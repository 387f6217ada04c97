// Whether a request may: its token, the right of its route, and what the route itself has to ask.
#pragma once
#include "tools/api/server/request.h"

// Of requests of nodes: for which task, "ALLOCATION/TASK".
#define NODE_TASK_HEADER "X-Berth-Task"

// Looks at the token and the route's right. Sets the request's access, which is NULL while access control is off: then
// everybody may do everything. A status of 0: it may.
struct refusal access_check(struct request *);
// The same with a token that came otherwise than in a header; secret NULL: it shows none.
struct refusal access_check_secret(struct request *, const char *secret);
// The same later on: whether it still may, for requests that wait and for streams.
bool access_still_holds(struct request *);
// Whether the token is gone or over. Under read lock.
bool access_has_ended(const struct request *);
// When the token ends, by the monotonic clock; UINT64_MAX: never.
uint64_t access_end_ns(const struct request *);
// When a stream has to look again, by the monotonic clock; UINT64_MAX: never.
uint64_t access_look_ns(const struct request *);

// What the request may do; NULL: everything.
const struct acl *request_acl(const struct request *);
bool request_may(const struct request *, const char *namespace_name, enum acl_capability);
bool request_may_area(const struct request *, enum acl_area, enum acl_level);
// For routes whose right is about a namespace in the body.
bool request_may_in(const struct request *, const char *namespace_name);
// Answers with 403. Returns false.
bool reply_denied(struct reply *);
