#include "tools/api/access/basic_scheme.h"
#include "state/base/base64.h"
#include <sodium.h>
#include <stdio.h>
#include <strings.h>

static const char scheme[] = "Basic ";

// A colon ends the name: what follows may have more of them.
static void divide(const char *plain, size_t size, struct basic_credentials *credentials)
{
	const char *colon = memchr(plain, ':', size);
	size_t name = colon ? (size_t)(colon - plain) : size;
	size_t secret = colon ? size - name - 1 : 0;

	if (name >= sizeof credentials->name || secret >= sizeof credentials->secret ||
		memchr(plain, '\0', size))
		return;
	memcpy(credentials->name, plain, name);
	if (secret > 0)
		memcpy(credentials->secret, colon + 1, secret);
}

bool basic_credentials_read(const char *header, struct basic_credentials *credentials)
{
	char plain[sizeof credentials->name + sizeof credentials->secret + 2];
	size_t size = 0;

	memset(credentials, 0, sizeof *credentials);
	if (!header || strncasecmp(header, scheme, sizeof scheme - 1) != 0)
		return false;
	const char *text = header + sizeof scheme - 1;
	if (BASE64_DECODED_MAX(strlen(text)) <= sizeof plain &&
		base64_decode(text, strlen(text), (uint8_t *)plain, &size))
		divide(plain, size, credentials);
	sodium_memzero(plain, sizeof plain);
	return true;
}

void basic_credentials_erase(struct basic_credentials *credentials)
{
	sodium_memzero(credentials, sizeof *credentials);
}
