#include "tools/berth/views/frames.h"
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A frame is 64 KiB in base64 and a path; more is no frame.
#define FRAME_BYTES_MAX (256u * 1024)
// What is kept for last lines is cut back to them when it has grown by so much.
#define KEPT_BYTES_STEP (1024u * 1024)

// Of a log, a line is taken to be no longer, on average.
#define LINE_BYTES 1024u
#define LINES_MAX 1000000u
#define BYTES_MAX (1ull << 40)

struct bytes {
	char *data;
	size_t size;
};

struct frames {
	struct bytes arrived; // not yet a whole frame
	bool keeps;           // last lines are wanted, and their end has not come
	uint64_t last_lines;
	struct bytes kept;
	size_t cut_at; // kept bytes at which they are cut back
	bool is_bad;
};

static void bytes_add(struct bytes *b, const char *data, size_t size)
{
	b->data = memory_resize(b->data, b->size + size + 1);
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static void bytes_drop(struct bytes *b, size_t size)
{
	b->size -= size;
	if (b->size > 0)
		memmove(b->data, b->data + size, b->size);
}

static size_t last_lines_begin(const struct bytes *b, uint64_t lines)
{
	size_t at = b->size;
	if (at > 0 && b->data[at - 1] == '\n')
		at--; // it ends the last line
	for (; at > 0; at--)
		if (b->data[at - 1] == '\n' && --lines == 0)
			return at;
	return 0;
}

// Leaves the last lines alone.
static void cut_back(struct frames *f)
{
	bytes_drop(&f->kept, last_lines_begin(&f->kept, f->last_lines));
	f->cut_at = f->kept.size + KEPT_BYTES_STEP;
}

static bool print_bytes(const char *data, size_t size)
{
	return fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0;
}

// What was there before has come.
static bool print_kept(struct frames *f)
{
	bool good = true;
	if (!f->keeps)
		return true;
	f->keeps = false;
	cut_back(f);
	if (f->kept.size > 0)
		good = print_bytes(f->kept.data, f->kept.size);
	free(f->kept.data);
	f->kept = (struct bytes){0};
	return good;
}

static bool take_data(struct frames *f, const char *text)
{
	size_t size = strlen(text), decoded = 0;
	uint8_t *bytes = memory_take(BASE64_DECODED_MAX(size) + 1);
	bool good = base64_decode(text, size, bytes, &decoded);
	f->is_bad |= !good;
	if (good && f->keeps) {
		bytes_add(&f->kept, (char *)bytes, decoded);
		if (f->kept.size >= f->cut_at)
			cut_back(f);
	} else if (good) {
		good = print_bytes((char *)bytes, decoded);
	}
	free(bytes);
	return good;
}

static bool take_frame(struct frames *f, json_t *frame)
{
	const char *data = field_text(frame, "Data"), *event = field_text(frame, "FileEvent");
	if (json_object_size(frame) == 0)
		return print_kept(f); // a heartbeat
	if (*event)
		fprintf(stderr, "berth: %s: %s\n", field_text(frame, "File"), event);
	return !*data || take_data(f, data);
}

// Frames follow each other without anything between.
static bool take_piece(void *context, const char *data, size_t size)
{
	struct frames *f = context;
	json_error_t error;
	bytes_add(&f->arrived, data, size);
	while (f->arrived.size > 0) {
		json_t *frame = json_loadb(
			f->arrived.data, f->arrived.size, JSON_DISABLE_EOF_CHECK, &error);
		if (!frame) {
			f->is_bad = json_error_code(&error) != json_error_premature_end_of_input ||
				    f->arrived.size > FRAME_BYTES_MAX;
			return !f->is_bad;
		}
		bool good = take_frame(f, frame);
		json_decref(frame);
		bytes_drop(&f->arrived, (size_t)error.position);
		if (!good)
			return false;
	}
	return true;
}

enum exit_status frames_read_place(
	const struct flags *flags, char place[static FRAMES_PLACE_BYTES], uint64_t *lines)
{
	char message[256];
	uint64_t bytes = 0, count = 10;
	bool by_lines = flag_given(flags, FLAG_TAIL) || flag_given(flags, FLAG_LINES);
	if (!flag_number(flags, FLAG_BYTES, 1, BYTES_MAX, &bytes, message, sizeof message) ||
		!flag_number(flags, FLAG_LINES, 1, LINES_MAX, &count, message, sizeof message))
		return complain(STATUS_USAGE, "%s", message);
	*lines = by_lines && !bytes ? count : 0;
	bytes = *lines ? *lines * LINE_BYTES : bytes;
	snprintf(place, FRAMES_PLACE_BYTES, "&follow=%s&origin=%s&offset=%llu",
		flag_given(flags, FLAG_FOLLOW) ? "true" : "false", bytes ? "end" : "start",
		(unsigned long long)bytes);
	return STATUS_OK;
}

enum exit_status frames_print(struct session *session, const char *path, uint64_t last_lines)
{
	struct frames f = {.keeps = last_lines > 0, .last_lines = last_lines};
	f.cut_at = KEPT_BYTES_STEP;
	http_without_end(session);
	enum exit_status result = http_get_pieces(session, path, take_piece, &f);
	if (result == STATUS_OK && (f.is_bad || f.arrived.size > 0))
		result = complain(STATUS_FAILURE,
			"the answer to %s is broken: it has something else than frames", path);
	(void)print_kept(&f); // that standard output is full is told at the end
	free(f.arrived.data);
	return result;
}
