// Who asks about access control itself: management tokens see and change everything, others see what is theirs.
#pragma once
#include "state/records/acl_token.h"
#include "tools/api/lists/name_set.h"

struct asker {
	bool is_management;
	struct uuid accessor; // zero: nobody showed a token
};

// False with a reply: access control is off.
bool acl_is_on(const struct request *, struct reply *);
// Who asks, when access control is on.
struct asker asker_of(const struct request *);
// The same. False with a reply: access control is off.
bool asker_find(const struct request *, struct asker *, struct reply *);
// The same, and refuses whoever has no management token.
bool asker_manages(const struct request *, struct reply *);

// What an asker without a management token may see. Under read lock.
bool asker_has_role(const struct state *, const struct asker *, const struct uuid *role);
// The policies of the asker's token and of its roles, or the policy of nobody.
void asker_policies(const struct state *, const struct asker *, struct name_set *);
