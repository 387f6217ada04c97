#include "tools/http_client/http_environment.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *http_environment(const char *name)
{
	static const char *const words[] = {"BERTH", "NOMAD"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		char variable[64];
		snprintf(variable, sizeof variable, "%s_%s", words[i], name);
		const char *value = getenv(variable);
		if (value && *value)
			return value;
	}
	return NULL;
}

bool http_word_is_yes(const char *word)
{
	static const char *const words[] = {"1", "t", "T", "true", "TRUE", "True"};
	for (size_t i = 0; word && i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

struct http_tls http_environment_tls(void)
{
	return (struct http_tls){
		.ca_file = http_environment("CACERT"),
		.certificate_file = http_environment("CLIENT_CERT"),
		.key_file = http_environment("CLIENT_KEY"),
		.server_name = http_environment("TLS_SERVER_NAME"),
		.is_unverified = http_word_is_yes(http_environment("SKIP_VERIFY")),
	};
}
