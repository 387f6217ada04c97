#include "tools/api/server/clients/hosts.h"
#include <string.h>
#include <strings.h>

static bool text_is(struct text a, struct text b)
{
	return a.size == b.size && strncasecmp(a.data, b.data, a.size) == 0;
}

// The name of "name:4646", without the dot that may end it; the address of "[::1]:4646".
static struct text name_of(struct text host)
{
	const char *end;

	if (host.size > 0 && host.data[0] == '[') {
		end = memchr(host.data, ']', host.size);
		return (struct text){host.data + 1, end ? (uint32_t)(end - host.data - 1) : 0};
	}
	end = memchr(host.data, ':', host.size);
	if (end)
		host.size = (uint32_t)(end - host.data);
	if (host.size > 0 && host.data[host.size - 1] == '.')
		host.size--;
	return host;
}

static bool is_among(struct text name, struct text names)
{
	for (uint32_t at = 0, end; at < names.size; at = end + 1) {
		for (end = at; end < names.size && !strchr(", ", names.data[end]); end++)
			;
		if (text_is(name, (struct text){names.data + at, end - at}))
			return true;
	}
	return false;
}

bool host_is_known(struct text host, struct text names)
{
	struct text name = name_of(host);

	return name.size > 0 && (text_is_ip_address(name) || text_is(name, TEXT("localhost")) ||
					is_among(name, names));
}

bool origin_is_known(struct text origin, struct text origins)
{
	return origin.size > 0 && (is_among(origin, origins) || is_among(TEXT("*"), origins));
}

bool origin_is_host(struct text origin, struct text host)
{
	const char *mark = memmem(origin.data, origin.size, "://", 3);

	if (!mark)
		return false;
	uint32_t before = (uint32_t)(mark + 3 - origin.data);
	return text_is((struct text){mark + 3, origin.size - before}, host);
}
