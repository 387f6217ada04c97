// The whole state is sent as an archive, and taken back.
#include "state/base/base64.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/api/nomad/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/parking.h"
#include "tools/api/server/reply.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_BYTES (64u * 1024)
#define MESSAGE_BYTES 512u

struct file_source {
	struct reply_source source;
	int file;
};

static ssize_t read_file(void *context, uint64_t position, char *to, size_t most)
{
	const struct file_source *s = context;
	ssize_t got = pread(s->file, to, most, (off_t)position);
	if (got < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return got > 0 ? got : MHD_CONTENT_READER_END_OF_STREAM;
}

static void free_file(void *context)
{
	struct file_source *s = context;
	close(s->file);
	free(s);
}

static void send_file(struct reply *reply, const struct api_snapshot *snapshot)
{
	struct file_source *s = memory_take(sizeof *s);
	*s = (struct file_source){{BLOCK_BYTES, read_file, free_file, NULL}, snapshot->file};
	char *digest = base64_encode(
		(struct text){(const char *)snapshot->digest, sizeof snapshot->digest});
	size_t size = sizeof "sha-256=" + strlen(digest);
	reply->digest = memory_take(size);
	snprintf(reply->digest, size, "sha-256=%s", digest);
	free(digest);
	reply->source = &s->source;
	reply->content_type = "application/x-gzip";
	reply->status = MHD_HTTP_OK;
}

static void work_out(struct request *request, struct reply *reply)
{
	const struct api_settings *settings = &request->api->settings;
	struct api_snapshot snapshot;
	char message[MESSAGE_BYTES];
	if (settings->snapshot(settings->context, &snapshot, message, sizeof message))
		send_file(reply, &snapshot);
	else
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", message);
}

void snapshot_sent(struct request *request, struct reply *reply)
{
	if (request->api->settings.snapshot)
		answer_in_background(request, reply, BACKGROUND_SNAPSHOTS, work_out);
	else
		reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED, "this server stores nothing");
}

// Nobody is told of a change any more: what the state was is over. A request that waits for one is refused, as are all
// that come.
static void restore_state(struct request *request, struct reply *reply)
{
	struct api *api = request->api;
	const struct api_settings *settings = &api->settings;
	char message[MESSAGE_BYTES] = "its file cannot be read";
	if (lseek(request->body_file, 0, SEEK_SET) != 0 ||
		!settings->restore(
			settings->context, request->body_file, message, sizeof message)) {
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"failed to restore from snapshot: %s", message);
		return;
	}
	parking_close(api->parking);
	request->begins_anew = true;
	reply->status = MHD_HTTP_OK;
}

void snapshot_restored(struct request *request, struct reply *reply)
{
	CHECK(request->has_body_file && request->api->settings.restore);
	answer_in_background(request, reply, BACKGROUND_SNAPSHOTS, restore_state);
}
