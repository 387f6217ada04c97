#include "tools/api/access/account_roles.h"
#include <string.h>

// Records have texts that may be freed; these never are.
#define ROLE(name_, rules_)                                        \
	{                                                          \
		.name = (char *)(name_), .rules = (char *)(rules_) \
	}

static const struct acl_policy roles[] = {
	ROLE("compute:read", "vm { policy = \"read\" }"),
	ROLE("compute:write", "vm { policy = \"write\" }"),
	ROLE("compute:connect", "vm_connect { policy = \"write\" }"),
	ROLE("admin:read", "vm_admin { policy = \"read\" }"),
	ROLE("admin:write", "vm_admin { policy = \"write\" }"),
};

const struct acl_policy *account_role(const char *name)
{
	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
		if (strcmp(roles[i].name, name) == 0)
			return &roles[i];
	return NULL;
}
