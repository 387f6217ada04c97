#include "tools/client/servers.h"
#include "state/base/check.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

// Where the entry of that number begins, and how long it is.
static const char *entry_of(const char *list, uint32_t number, uint32_t *size)
{
	for (; number > 0; number--)
		list += strcspn(list, ",") + 1;
	*size = (uint32_t)strcspn(list, ",");
	return list;
}

static bool speak_to(struct servers *s, const char *text, uint32_t size)
{
	bool is_other = strlen(s->current) != size || memcmp(s->current, text, size) != 0;
	CHECK(size < sizeof s->current);
	memcpy(s->current, text, size);
	s->current[size] = '\0';
	return is_other;
}

int servers_open(struct servers *s, const char *list, char *message, uint32_t message_size)
{
	*s = (struct servers){.list = list, .count = 1};
	for (const char *at = list; *at != '\0'; at++)
		s->count += *at == ',';
	for (uint32_t i = 0; i < s->count && s->count <= SERVERS_MAX; i++) {
		uint32_t size;
		entry_of(list, i, &size);
		if (size == 0 || size >= SERVER_TEXT_BYTES)
			s->count = SERVERS_MAX + 1;
	}
	if (s->count > SERVERS_MAX) {
		snprintf(message, message_size,
			"\"%.64s\" is no list of controllers: write up to %u addresses with commas "
			"between them",
			list, SERVERS_MAX);
		return -EINVAL;
	}
	uint32_t size;
	const char *first = entry_of(list, 0, &size);
	speak_to(s, first, size);
	return 0;
}

bool servers_next(struct servers *s)
{
	uint32_t size;
	s->at = (s->at + 1) % s->count;
	const char *entry = entry_of(s->list, s->at, &size);
	return speak_to(s, entry, size);
}

bool servers_follow(struct servers *s, const struct wire_endpoint *leader)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	char address[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 10];
	bool is_ipv4 = memcmp(leader->address, mapped, sizeof mapped) == 0;
	if (leader->port == 0)
		return servers_next(s);
	inet_ntop(is_ipv4 ? AF_INET : AF_INET6, leader->address + (is_ipv4 ? sizeof mapped : 0),
		address, sizeof address);
	int size =
		snprintf(text, sizeof text, is_ipv4 ? "%s:%u" : "[%s]:%u", address, leader->port);
	CHECK(size > 0 && (size_t)size < sizeof text);
	return speak_to(s, text, (uint32_t)size);
}
