#include "tests/tools/agent/fetch/web.h"
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES_MAX 32u

static struct {
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	const char *scheme;
	uint32_t asked, count;
	struct {
		char path[64];
		void *bytes;
		size_t size;
	} pages[PAGES_MAX];
} web = {.lock = PTHREAD_MUTEX_INITIALIZER};

static ssize_t write_forever(void *context, uint64_t at, char *buffer, size_t most)
{
	memset(buffer, 'x', most);
	return (ssize_t)most;
}

// Silence without a thread that waits for it: the connection is looked at again and again.
static ssize_t write_nothing(void *context, uint64_t at, char *buffer, size_t most)
{
	usleep(20000);
	return 0;
}

static struct MHD_Response *page_at(const char *path)
{
	struct MHD_Response *response = NULL;

	pthread_mutex_lock(&web.lock);
	web.asked++;
	for (uint32_t i = 0; i < web.count && !response; i++)
		if (strcmp(web.pages[i].path, path) == 0)
			response = MHD_create_response_from_buffer(
				web.pages[i].size, web.pages[i].bytes, MHD_RESPMEM_MUST_COPY);
	pthread_mutex_unlock(&web.lock);
	return response;
}

static enum MHD_Result put_argument(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	char *text = context;
	size_t size = strlen(text);
	snprintf(text + size, 500 - size, "%s=%s;", name, value ? value : "");
	return MHD_YES;
}

static struct MHD_Response *echo_of(struct MHD_Connection *connection)
{
	char text[600] = "";
	const char *token = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "X-Token");

	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, put_argument, text);
	size_t size = strlen(text);
	snprintf(text + size, sizeof text - size, "%s", token ? token : "-");
	return MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *body, size_t *body_size, void **state)
{
	struct MHD_Response *response = page_at(path);
	unsigned status = 200;

	if (strcmp(path, "/endless") == 0)
		response = MHD_create_response_from_callback(
			MHD_SIZE_UNKNOWN, 16384, write_forever, NULL, NULL);
	else if (strcmp(path, "/silent") == 0)
		response = MHD_create_response_from_callback(
			MHD_SIZE_UNKNOWN, 1024, write_nothing, NULL, NULL);
	else if (strcmp(path, "/echo") == 0)
		response = echo_of(connection);
	if (!response) {
		bool says = strncmp(path, "/status/", 8) == 0;
		status = says ? (unsigned)strtoul(path + 8, NULL, 10) : 404;
		response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	}
	if (strncmp(path, "/redirect/", 10) == 0) {
		MHD_add_response_header(response, "Location", path + 9);
		status = 302;
	}
	enum MHD_Result queued = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return queued;
}

void web_begin(const char *certificate, const char *key)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION;

	web.asked = 0;
	web.scheme = certificate ? "https" : "http";
	web.daemon = certificate
			     ? MHD_start_daemon(flags | MHD_USE_TLS, 0, NULL, NULL, answer, NULL,
				       MHD_OPTION_SOCK_ADDR, &here, MHD_OPTION_HTTPS_MEM_CERT,
				       certificate, MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_END)
			     : MHD_start_daemon(flags, 0, NULL, NULL, answer, NULL,
				       MHD_OPTION_SOCK_ADDR, &here, MHD_OPTION_END);
	assert_non_null(web.daemon);
}

void web_end(void)
{
	MHD_stop_daemon(web.daemon);
	for (uint32_t i = 0; i < web.count; i++)
		free(web.pages[i].bytes);
	web.count = 0;
}

const char *web_url(const char *path)
{
	static char urls[8][200];
	static unsigned next;
	char *url = urls[next++ % 8];
	snprintf(url, sizeof urls[0], "%s://127.0.0.1:%u/%s", web.scheme,
		MHD_get_daemon_info(web.daemon, MHD_DAEMON_INFO_BIND_PORT)->port, path);
	return url;
}

void web_put(const char *path, const void *bytes, size_t size)
{
	char whole[64];
	uint32_t at = 0;

	snprintf(whole, sizeof whole, "/%s", path);
	pthread_mutex_lock(&web.lock);
	while (at < web.count && strcmp(web.pages[at].path, whole) != 0)
		at++;
	assert_in_range(at, 0, PAGES_MAX - 1);
	if (at == web.count)
		web.count++;
	else
		free(web.pages[at].bytes);
	memcpy(web.pages[at].path, whole, sizeof whole);
	web.pages[at].bytes = malloc(size + 1);
	assert_non_null(web.pages[at].bytes);
	memcpy(web.pages[at].bytes, bytes, size);
	web.pages[at].size = size;
	pthread_mutex_unlock(&web.lock);
}

uint32_t web_asked(void)
{
	pthread_mutex_lock(&web.lock);
	uint32_t asked = web.asked;
	pthread_mutex_unlock(&web.lock);
	return asked;
}
