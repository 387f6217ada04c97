#include "tools/agent/fetch/download.h"
#include "state/base/curl/curl_memory.h"
#include "state/base/writing/write_whole.h"
#include <curl/curl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define REDIRECTS_MAX 10L
#define CONNECT_TIMEOUT_S 30L
// A server that sends less than this for so long is as good as gone.
#define SLOW_BYTES_PER_S 1L
#define SLOW_S 60L
#define HEADER_BYTES_MAX 8192u

struct incoming {
	const struct fetch_request *request;
	int file;
	uint64_t bytes;
	GChecksum *checksum; // NULL: none
	bool is_too_large;
	int write_error;
};

static size_t take_bytes(char *data, size_t each, size_t count, void *context)
{
	struct incoming *in = context;
	size_t size = each * count;

	in->bytes += size;
	in->is_too_large = in->bytes > in->request->bytes_max;
	if (in->is_too_large)
		return 0;
	if (in->checksum)
		g_checksum_update(in->checksum, (const guchar *)data, (gssize)size);
	in->write_error = -write_whole(in->file, data, size);
	return in->write_error ? 0 : size;
}

static struct curl_slist *request_headers(const json_t *headers)
{
	struct curl_slist *list = NULL;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)headers, name, value)
	{
		char line[HEADER_BYTES_MAX];
		const char *text = json_string_value(value);
		// "Name;" sends a header without a value.
		snprintf(line, sizeof line, text && *text ? "%s: %s" : "%s;", name,
			text ? text : "");
		list = curl_line_add(list, line);
	}
	return list;
}

// TYPE:HEX. NULL: nothing is checked.
static GChecksum *begin_checksum(const char *wanted)
{
	static const struct {
		const char *name;
		GChecksumType type;
	} types[] = {{"md5:", G_CHECKSUM_MD5}, {"sha1:", G_CHECKSUM_SHA1},
		{"sha256:", G_CHECKSUM_SHA256}, {"sha512:", G_CHECKSUM_SHA512}};
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strncmp(wanted, types[i].name, strlen(types[i].name)) == 0)
			return g_checksum_new(types[i].type);
	return NULL;
}

static bool compare_checksum(struct incoming *in, struct fetch_result *result)
{
	const char *wanted = strchr(in->request->checksum, ':');
	const char *is = in->checksum ? g_checksum_get_string(in->checksum) : NULL;

	if (!is)
		return !*in->request->checksum ||
		       fetch_fail(result, false, "the checksum \"%.80s\" is of no known type",
			       in->request->checksum);
	if (strcasecmp(is, wanted + 1) == 0)
		return true;
	return fetch_fail(result, true, "the checksum is %s, not %.140s", is, wanted + 1);
}

static bool judge_download(CURL *curl, CURLcode code, const char *said, const struct incoming *in,
	struct fetch_result *result)
{
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_OK)
		return true;
	if (in->is_too_large || code == CURLE_FILESIZE_EXCEEDED)
		return fetch_fail(result, false,
			"it is larger than %llu bytes, which is what "
			"--artifact-max-mb allows",
			(unsigned long long)in->request->bytes_max);
	if (in->write_error)
		return fetch_fail(result, true, "cannot write it: %s", strerror(in->write_error));
	if (code == CURLE_HTTP_RETURNED_ERROR)
		return fetch_fail(result, true, "bad response code: %ld", status);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return fetch_fail(result, true, "the server took too long: %.200s",
			*said ? said : curl_easy_strerror(code));
	return fetch_fail(result, code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL,
		"%.300s", *said ? said : curl_easy_strerror(code));
}

static void set_transfer(CURL *curl, struct incoming *in, struct curl_slist *headers, char *said)
{
	// Where the system keeps its authorities may be said as to OpenSSL's own programs.
	const char *authorities = getenv("SSL_CERT_FILE");

	curl_set(curl, CURLOPT_URL, in->request->url);
	curl_set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_set(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_set(curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_set(curl, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	curl_set(curl, CURLOPT_NOSIGNAL, 1L);
	curl_set(curl, CURLOPT_FAILONERROR, 1L);
	curl_set(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	curl_set(curl, CURLOPT_TIMEOUT, (long)in->request->timeout_s);
	curl_set(curl, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES_PER_S);
	curl_set(curl, CURLOPT_LOW_SPEED_TIME, SLOW_S);
	curl_set(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)in->request->bytes_max);
	curl_set(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (authorities && *authorities)
		curl_set(curl, CURLOPT_CAINFO, authorities);
	curl_set(curl, CURLOPT_USERAGENT, "berth-agent/" BERTH_VERSION);
	curl_set(curl, CURLOPT_HTTPHEADER, headers);
	curl_set(curl, CURLOPT_WRITEFUNCTION, take_bytes);
	curl_set(curl, CURLOPT_WRITEDATA, in);
	curl_set(curl, CURLOPT_ERRORBUFFER, said);
}

bool download(const struct fetch_request *request, int file, struct fetch_result *result)
{
	struct incoming in = {
		.request = request, .file = file, .checksum = begin_checksum(request->checksum)};
	char said[CURL_ERROR_SIZE] = "";
	CURL *curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : NULL;
	struct curl_slist *headers = request_headers(request->headers);
	bool good = false;

	if (curl) {
		set_transfer(curl, &in, headers, said);
		CURLcode code = curl_easy_perform(curl);
		good = judge_download(curl, code, said, &in, result) &&
		       compare_checksum(&in, result);
	} else {
		fetch_fail(result, true, "libcurl cannot be set up");
	}
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	if (in.checksum)
		g_checksum_free(in.checksum);
	return good;
}
