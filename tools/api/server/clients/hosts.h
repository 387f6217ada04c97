// Which requests come from where they may. A web page that a browser shows can send requests to any address that its
// browser reaches, and a name of its site can be made to mean this machine. Such a request says so in its headers.
#pragma once
#include "state/base/text.h"
#include <stdbool.h>

// Whether the Host header of a request means this server: an address (a browser that asks for one got it from its user,
// not from a name), "localhost", or one of the names. The port does not matter. names: of this machine and those of
// the setting http.hosts, separated by commas or blanks. Any thread.
bool host_is_known(struct text host, struct text names);
// Whether the site is one of the setting http.origins, separated by commas or blanks: "https://dash.example"; "*": any.
bool origin_is_known(struct text origin, struct text origins);
// Whether a page of this very server sent the request. Only browsers send an Origin; "null" is no site.
bool origin_is_host(struct text origin, struct text host);
