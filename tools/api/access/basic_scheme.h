// What a request shows by HTTP's basic scheme: "Basic " and base64 of an account's name, a colon and its token.
#pragma once
#include "state/base/limits.h"
#include "state/records/acl_token.h"

struct basic_credentials {
	char name[ACL_TOKEN_NAME_MAX + 1];
	char secret[UUID_TEXT_BYTES]; // "": what was shown is none
};

// False: the header is not of that scheme. Erase the credentials after use.
bool basic_credentials_read(const char *header, struct basic_credentials *);
void basic_credentials_erase(struct basic_credentials *);
