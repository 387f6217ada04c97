#include "tools/agent/service/follow.h"
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/service/service_request.h"
#include "tools/json/json_writer.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_DATA_BYTES 65536u
// Of a frame, besides data and the file's name.
#define FRAME_REST_BYTES 100u
#define LOOK_AGAIN_MS 200
#define HEARTBEAT_NS NS_PER_S

struct follow {
	const struct service_request *request;
	struct follow_wish wish; // path and place: of the file under way
	int fd;                  // -1: it is not open
	bool has_next; // of a log: a newer file is there, so this one only has to be read to its end
	bool is_over;  // the next turn ends the answer
	int error;     // -errno: what comes next cannot be read, and the answer is cut off
	uint64_t heartbeat_ns; // monotonic; when the next one is due
	char *shown;           // the path as JSON
	uint8_t data[FRAME_DATA_BYTES];
};

static uint64_t monotonic_ns(void)
{
	return time_monotonic_ns(&time_source_real);
}

static void close_file(struct follow *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static void follow_free(void *context)
{
	struct follow *f = context;
	close_file(f);
	alloc_files_close(&f->wish.files);
	free(f->shown);
	free(f);
}

// 0 or -errno; -ENOENT: the file is gone.
static int open_file(struct follow *f)
{
	struct json_writer json = {0};
	int found = alloc_files_find(&f->wish.files, f->wish.path);
	int fd = found < 0 ? found : alloc_files_read(found);
	if (fd < 0)
		return fd;
	f->fd = fd;
	json_write_string(&json, f->wish.path);
	free(f->shown);
	f->shown = json_writer_take(&json);
	return 0;
}

static bool is_log(const struct follow *f)
{
	return f->wish.output[0] != '\0';
}

// Opens the file of a log that comes next. False: there is none yet.
static bool open_next(struct follow *f)
{
	int64_t index;
	f->error = log_files_after(&f->wish.files, f->wish.output, f->wish.place.index, &index);
	close_file(f);
	f->has_next = false;
	if (index < 0)
		return false;
	f->wish.place = (struct log_place){index, 0};
	log_file_path(f->wish.output, index, f->wish.path);
	int error = open_file(f);
	f->error = error == -ENOENT ? 0 : error; // it was removed just now
	return error == 0;
}

static ssize_t write_event(
	struct follow *f, const char *event, bool has_offset, char *to, size_t most)
{
	char offset[40] = "";
	if (f->wish.is_plain)
		return 0;
	if (has_offset)
		snprintf(
			offset, sizeof offset, ",\"Offset\":%lld", (long long)f->wish.place.offset);
	int size =
		snprintf(to, most, "{\"File\":%s,\"FileEvent\":\"%s\"%s}", f->shown, event, offset);
	return (size_t)size < most ? size : MHD_CONTENT_READER_END_WITH_ERROR;
}

// Data of the file, in a frame or plain. 0: its end is reached.
static ssize_t write_data(struct follow *f, char *to, size_t most)
{
	size_t rest = FRAME_REST_BYTES + strlen(f->shown);
	size_t share = f->wish.is_plain ? most : most > rest ? (most - rest) / 4 * 3 : 0;
	if (share == 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	share = share < FRAME_DATA_BYTES ? share : FRAME_DATA_BYTES;
	void *data = f->wish.is_plain ? (void *)to : f->data;
	ssize_t n = pread(f->fd, data, share, f->wish.place.offset);
	if (n < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	f->wish.place.offset += n;
	if (n == 0 || f->wish.is_plain)
		return n;
	static const char begin[] = "{\"Data\":\"";
	size_t size = sizeof begin - 1;
	memcpy(to, begin, size);
	base64_write(to + size, f->data, (size_t)n);
	size += BASE64_ENCODED(n);
	return (ssize_t)size + snprintf(to + size, most - size, "\",\"File\":%s,\"Offset\":%lld}",
				       f->shown, (long long)f->wish.place.offset);
}

// Whether the path no longer means the open file.
static bool is_gone(const struct follow *f)
{
	struct stat own, other;
	int found = alloc_files_find(&f->wish.files, f->wish.path);
	if (found < 0)
		return found == -ENOENT || found == -ENOTDIR;
	bool differs = fstat(f->fd, &own) == 0 && fstat(found, &other) == 0 &&
		       (own.st_ino != other.st_ino || own.st_dev != other.st_dev);
	close(found);
	return differs;
}

// At the end of the file: bytes that say what became of it; 0: nothing did.
static ssize_t write_change(struct follow *f, char *to, size_t most)
{
	struct stat st;
	if (fstat(f->fd, &st) == 0 && st.st_size < f->wish.place.offset) {
		f->wish.place.offset = 0;
		return write_event(f, "file truncated", false, to, most);
	}
	if (!f->wish.follows || !is_gone(f))
		return 0;
	ssize_t n = write_event(f, "file deleted", true, to, most);
	close_file(f);
	f->is_over = !is_log(f);
	return n;
}

static bool folder_is_gone(const struct follow *f)
{
	struct stat st;
	return f->wish.files.folder < 0 ||
	       (fstat(f->wish.files.folder, &st) == 0 && st.st_nlink == 0);
}

// Whether a log goes on in a newer file: then this one grows no more, and what was appended to it last is read first.
static bool goes_on(struct follow *f)
{
	if (!is_log(f))
		return false;
	if (f->has_next)
		return open_next(f);
	int64_t next;
	f->error = log_files_after(&f->wish.files, f->wish.output, f->wish.place.index, &next);
	f->has_next = next >= 0;
	return f->has_next;
}

// Bytes of a file, or what became of it; 0: there is nothing now.
static ssize_t take_from_files(struct follow *f, char *to, size_t most)
{
	while (!f->is_over && !f->error) {
		if (f->fd < 0 && !(is_log(f) && open_next(f)))
			break;
		ssize_t n = write_data(f, to, most);
		if (n != 0)
			return n;
		if (goes_on(f) || f->error)
			continue;
		n = f->fd < 0 ? 0 : write_change(f, to, most);
		if (n != 0 || f->fd >= 0)
			return n;
	}
	if (f->error)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return f->is_over ? MHD_CONTENT_READER_END_OF_STREAM : 0;
}

// A client that was slow gets no beats for the time that is over.
static bool heartbeat_is_due(struct follow *f)
{
	uint64_t now_ns = monotonic_ns();
	if (f->wish.is_plain || now_ns < f->heartbeat_ns)
		return false;
	while (f->heartbeat_ns <= now_ns)
		f->heartbeat_ns += HEARTBEAT_NS;
	return true;
}

static int wait_ms(const struct follow *f)
{
	uint64_t now_ns = monotonic_ns();
	uint64_t until_ms = f->heartbeat_ns > now_ns ? (f->heartbeat_ns - now_ns) / NS_PER_MS : 0;
	return f->wish.is_plain || until_ms >= LOOK_AGAIN_MS ? LOOK_AGAIN_MS : (int)until_ms + 1;
}

static ssize_t follow_read(void *context, uint64_t position, char *to, size_t most)
{
	struct follow *f = context;
	for (;;) {
		ssize_t n = take_from_files(f, to, most);
		if (n != 0)
			return n;
		if (!f->wish.follows || (f->wish.ends_with_folder && folder_is_gone(f)))
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (heartbeat_is_due(f)) {
			memcpy(to, "{}", 2);
			return 2;
		}
		if (service_wait(f->request, -1, wait_ms(f)) == SERVICE_OVER)
			return MHD_CONTENT_READER_END_WITH_ERROR;
	}
}

struct MHD_Response *follow_refuse(const struct follow_wish *wish, int error, unsigned *status)
{
	char text[100];
	return service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR, "open %s/%s: %s",
		wish->files.path, *wish->output ? wish->output : wish->path,
		alloc_files_error(error, text, sizeof text));
}

struct MHD_Response *follow_begin(
	const struct service_request *request, const struct follow_wish *wish, unsigned *status)
{
	struct follow *f = memory_take(sizeof *f);
	f->request = request;
	f->wish = *wish;
	f->fd = -1;
	f->heartbeat_ns = monotonic_ns() + HEARTBEAT_NS;
	bool has_file = !is_log(f) || wish->place.index >= 0;
	if (has_file && is_log(f))
		log_file_path(wish->output, wish->place.index, f->wish.path);
	int error = has_file ? open_file(f) : 0;
	f->is_over = error && !is_log(f);
	if (error && error != -ENOENT) { // one that was removed just now is no error
		struct MHD_Response *refusal = follow_refuse(wish, error, status);
		follow_free(f);
		return refusal;
	}
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, FRAME_DATA_BYTES, follow_read, f, follow_free);
	if (!response) {
		follow_free(f);
		return NULL;
	}
	*status = MHD_HTTP_OK;
	service_put_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, wish->content_type);
	return response;
}
