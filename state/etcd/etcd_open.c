#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/etcd/etcd_line.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define URL_BYTES_MAX 256u

static char *copy_unless_empty(const char *text)
{
	return text && text[0] ? text_copy(text_of(text)) : NULL;
}

static bool is_url(struct text url)
{
	return (url.size > 7 && memcmp(url.data, "http://", 7) == 0) ||
	       (url.size > 8 && memcmp(url.data, "https://", 8) == 0);
}

static int endpoint_add(struct etcd *e, struct text url, char *message, size_t size)
{
	while (url.size && url.data[url.size - 1] == '/')
		url.size--;
	if (!is_url(url) || url.size > URL_BYTES_MAX || !text_is_printable(url)) {
		snprintf(message, size,
			"etcd endpoint \"%.*s\": write it as http://HOST:PORT or https://HOST:PORT",
			(int)url.size, url.data);
		return -EINVAL;
	}
	if (e->endpoint_count == ETCD_ENDPOINTS_MAX) {
		snprintf(message, size, "more than %u etcd endpoints: name fewer",
			ETCD_ENDPOINTS_MAX);
		return -EINVAL;
	}
	e->endpoints[e->endpoint_count++].url = text_copy(url);
	return 0;
}

static int endpoints_read(struct etcd *e, const char *urls, char *message, size_t size)
{
	static const char between[] = ", \t\n";
	int error = 0;
	urls = urls ? urls : "";
	for (urls += strspn(urls, between); *urls && !error; urls += strspn(urls, between)) {
		size_t length = strcspn(urls, between);
		error = endpoint_add(e, (struct text){urls, (uint32_t)length}, message, size);
		urls += length;
	}
	if (error == 0 && e->endpoint_count == 0) {
		snprintf(message, size, "no etcd endpoint: name at least one, as http://HOST:PORT");
		error = -EINVAL;
	}
	return error;
}

// libcurl would say so at each request.
static int file_test(const char *what, const char *file, char *message, size_t size)
{
	if (!file || access(file, R_OK) == 0)
		return 0;
	int error = errno;
	snprintf(message, size, "etcd %s %s: %s; name a PEM file that can be read", what, file,
		strerror(error));
	return -error;
}

static int etcd_prepare(struct etcd *e, const struct etcd_settings *s, char *message, size_t size)
{
	e->user = copy_unless_empty(s->user);
	e->password = copy_unless_empty(s->password);
	e->ca_file = copy_unless_empty(s->ca_file);
	e->certificate_file = copy_unless_empty(s->certificate_file);
	e->key_file = copy_unless_empty(s->key_file);
	e->timeout_ms = s->timeout_ms ? s->timeout_ms : 1;
	int error = endpoints_read(e, s->endpoints, message, size);
	if (!error)
		error = file_test("CA", e->ca_file, message, size);
	if (!error)
		error = file_test("certificate", e->certificate_file, message, size);
	if (!error)
		error = file_test("key", e->key_file, message, size);
	return error;
}

int etcd_open(
	const struct etcd_settings *settings, struct etcd **out, char *message, size_t message_size)
{
	*out = NULL;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		snprintf(message, message_size, "libcurl does not start");
		return -ENOMEM;
	}
	struct etcd *e = memory_take(sizeof *e);
	pthread_mutex_init(&e->lock, NULL);
	int error = etcd_prepare(e, settings, message, message_size);
	if (error)
		etcd_close(e);
	else
		*out = e;
	return error;
}

void etcd_close(struct etcd *e)
{
	if (!e)
		return;
	while (e->idle_lines) {
		struct etcd_line *line = e->idle_lines;
		e->idle_lines = line->next;
		etcd_line_free(line);
	}
	for (uint32_t i = 0; i < e->endpoint_count; i++)
		free(e->endpoints[i].url);
	char *texts[] = {
		e->user, e->password, e->ca_file, e->certificate_file, e->key_file, e->token};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		free(texts[i]);
	pthread_mutex_destroy(&e->lock);
	free(e);
	curl_global_cleanup();
}

void etcd_trouble(struct etcd *e, char *text, size_t size)
{
	pthread_mutex_lock(&e->lock);
	snprintf(text, size, "%s", e->trouble);
	pthread_mutex_unlock(&e->lock);
}

const struct etcd_counters *etcd_counters(const struct etcd *e)
{
	return &e->counters;
}
