// What the files of the web page's routes share.
#pragma once
#include "tools/api/server/request.h"

// Whether the page is switched off; then the reply says so.
bool page_is_off(const struct request *, struct reply *);
// Leads from an address of Nomad's page to ours: name "jobs", id "web" or "". False: there is no such address there.
bool address_of_nomad(struct request *, struct reply *, const char *name, const char *id);
