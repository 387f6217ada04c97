#include "tools/berthd/membership/fetch.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/cluster/epoch.h"
#include "state/store/store.h"
#include "tools/berthd/membership/exchange.h"
#include "tools/http_client/http_client.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FETCH_TIMEOUT_MS 600000u
#define TOKEN_BYTES 256u

struct fetching {
	int file;
	int error;
	char said[256]; // by the member, when it refuses
	struct http_beginning refusal;
};

static bool take_piece(void *context, long status, const char *data, size_t size)
{
	struct fetching *f = context;

	if (status != 200) {
		http_beginning_take(&f->refusal, data, size);
		return true;
	}
	while (size > 0) {
		ssize_t written = write(f->file, data, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			f->error = -errno;
		if (written <= 0)
			return false;
		data += written;
		size -= (size_t)written;
	}
	return true;
}

static bool read_token_file(
	const char *path, char token[static TOKEN_BYTES], char *message, uint32_t size)
{
	*token = '\0';
	if (!*path)
		return true;
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(token, TOKEN_BYTES, file);
	if (file)
		(void)fclose(file);
	token[strcspn(token, " \t\r\n")] = '\0';
	if (!is_read || !*token)
		snprintf(message, size,
			"cluster.token_file: %.300s cannot be read, or does not begin with a token",
			path);
	return is_read && *token;
}

static bool ask_member(const struct config *config, const char *http, const char *token,
	struct fetching *f, char *message, uint32_t message_size)
{
	struct http_client *client = http_client_create();
	struct http_tls tls = {.ca_file = config->cluster_ca,
		.certificate_file = config->cluster_certificate,
		.key_file = config->cluster_key};
	struct http_request request = {.url = http,
		.path = "/v1/operator/snapshot?stale",
		.tls = &tls,
		.token = token,
		.agent = "berthd/" BERTH_VERSION,
		.timeout_ms = FETCH_TIMEOUT_MS,
		.take_body = take_piece,
		.context = f};
	struct http_result result = {0};
	bool answered = client && http_client_ask(client, &request, &result);

	http_client_destroy(client);
	if (f->error != 0)
		snprintf(message, message_size, "the snapshot cannot be written into data_dir: %s",
			error_text(f->error));
	else if (!answered)
		snprintf(message, message_size, "%s gives no snapshot: %s", http, result.error);
	else if (result.status != 200)
		snprintf(message, message_size, "%s gives no snapshot: %ld %s", http, result.status,
			f->said);
	return answered && result.status == 200 && f->error == 0;
}

// The epoch lies beside the state, so that both take their place together.
static bool exchange(const struct config *config, int archive, uint64_t epoch, char *message,
	uint32_t message_size)
{
	uint64_t index;
	if (!berthd_exchange_prepare(config, archive, &index, message, message_size))
		return false;
	char *incoming = store_incoming_path(config->data_dir);
	int error = epoch > 0 ? epoch_note(incoming, epoch) : 0;
	free(incoming);
	if (error < 0)
		snprintf(message, message_size, "the epoch cannot be written into data_dir: %s",
			error_text(error));
	return error == 0 && berthd_exchange_commit(config, index, message, message_size);
}

bool berthd_fetch(const struct config *config, const char *http, uint64_t epoch, char *message,
	uint32_t message_size)
{
	char token[TOKEN_BYTES], path[CONFIG_PATH_BYTES + 32];
	struct fetching f = {0};

	f.refusal = (struct http_beginning){.text = f.said, .room = sizeof f.said};
	if (!read_token_file(config->cluster_token_file, token, message, message_size))
		return false;
	snprintf(path, sizeof path, "%s/fetched.XXXXXX", config->data_dir);
	f.file = mkostemp(path, O_CLOEXEC);
	if (f.file < 0) {
		snprintf(message, message_size, "%s: %s", path, error_text(-errno));
		return false;
	}
	unlink(path);
	bool is_there = ask_member(config, http, token, &f, message, message_size);
	explicit_bzero(token, sizeof token);
	CHECK(lseek(f.file, 0, SEEK_SET) == 0);
	is_there = is_there && exchange(config, f.file, epoch, message, message_size);
	close(f.file);
	return is_there;
}
