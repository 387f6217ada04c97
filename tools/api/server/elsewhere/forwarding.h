// What a member of a cluster answers itself, and what the leader answers for it.
//
// The leader answers everything. Other members answer what is about themselves, and reads with ?stale; they hand on
// everything else, and the answer as it comes. Without a cluster nothing of this happens.
#pragma once
#include "tools/api/forward/forwarder.h"
#include "tools/api/server/request.h"

// Keeps path and query as they were sent (request->target).
void forwarding_note_target(struct request *, const char *url);
// Says whether the leader is to answer a request whose route and parameters are known (request->is_forwarded), or that
// nobody can. A status of 0: it is answered.
struct refusal forwarding_judge(struct request *, const char *url);
// The same for a request that is answered here and had to wait: whether it still is. A change is answered as it was
// decided.
struct refusal forwarding_check(struct request *);

// Sends the request, with its body, to the leader, and parks it until the answer begins. False with a reply: it cannot
// be forwarded.
bool forwarding_begin(struct request *, struct reply *);
// Parks the request until the answer to its exchange begins, or there will be none.
void forwarding_park(struct request *);
// When the request goes on, which the leader or a node is to answer. False without a reply: its client left; or this
// member leads now, and is to answer itself, when it has no exchange any more.
bool forwarding_answer(struct request *, struct reply *);
void forwarding_drop(struct request *); // lets go of what nobody answers any more

// What this member knows; without a cluster: false.
bool request_cluster(const struct request *, struct cluster_status *);
// The server that ?server_id= names, by its name, with or without the region, its id, or "leader". False: there is
// none, or nobody leads.
bool server_find(const struct request *, const char *name, struct cluster_member *found);
// Since it last heard of a leader; since it started, if it never did.
uint64_t forwarding_contact_ms(const struct api *, const struct cluster_status *);
