#include "tools/agent/service/file_facts.h"
#include "state/base/time_units.h"
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const char bytes_type[] = "application/octet-stream";
static const char text_type[] = "text/plain; charset=utf-8";

void file_mode_text(mode_t mode, char text[static FILE_MODE_BYTES])
{
	const struct {
		bool is_set;
		char letter;
	} bits[] = {{S_ISDIR(mode), 'd'}, {S_ISLNK(mode), 'L'},
		{S_ISBLK(mode) || S_ISCHR(mode), 'D'}, {S_ISFIFO(mode), 'p'}, {S_ISSOCK(mode), 'S'},
		{(mode & S_ISUID) != 0, 'u'}, {(mode & S_ISGID) != 0, 'g'}, {S_ISCHR(mode), 'c'},
		{(mode & S_ISVTX) != 0, 't'}};
	char *at = text;
	for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
		if (bits[i].is_set)
			*at++ = bits[i].letter;
	if (at == text)
		*at++ = '-';
	for (int bit = 8; bit >= 0; bit--)
		*at++ = mode & 1u << bit ? "xwr"[bit % 3] : '-';
	*at = '\0';
}

const char *file_content_type(const void *beginning, size_t size)
{
	const unsigned char *byte = beginning;
	for (size_t i = 0; i < size; i++)
		if (byte[i] <= 0x08 || byte[i] == 0x0b || (byte[i] >= 0x0e && byte[i] <= 0x1a) ||
			(byte[i] >= 0x1c && byte[i] <= 0x1f))
			return bytes_type;
	return text_type;
}

const char *file_type_of(const char *name, int fd)
{
	static const struct {
		const char *ending, *type;
	} known[] = {{".css", "text/css; charset=utf-8"}, {".gif", "image/gif"},
		{".htm", "text/html; charset=utf-8"}, {".html", "text/html; charset=utf-8"},
		{".jpeg", "image/jpeg"}, {".jpg", "image/jpeg"},
		{".js", "text/javascript; charset=utf-8"}, {".json", "application/json"},
		{".mjs", "text/javascript; charset=utf-8"}, {".pdf", "application/pdf"},
		{".png", "image/png"}, {".svg", "image/svg+xml"}, {".wasm", "application/wasm"},
		{".webp", "image/webp"}, {".xml", "text/xml; charset=utf-8"}};
	char beginning[FILE_BEGINNING_BYTES];
	const char *ending = strrchr(name, '.');
	for (size_t i = 0; ending && i < sizeof known / sizeof known[0]; i++)
		if (strcmp(ending, known[i].ending) == 0)
			return known[i].type;
	ssize_t size = fd < 0 ? -1 : pread(fd, beginning, sizeof beginning, 0);
	return size < 0 ? bytes_type : file_content_type(beginning, (size_t)size);
}

void file_facts_json(
	struct json_writer *json, const char *name, const struct stat *st, const char *content_type)
{
	char mode[FILE_MODE_BYTES];
	file_mode_text(st->st_mode, mode);
	json_begin_object(json);
	if (content_type)
		json_put_string(json, "ContentType", content_type);
	json_put_string(json, "FileMode", mode);
	json_put_bool(json, "IsDir", S_ISDIR(st->st_mode));
	json_put_time(json, "ModTime",
		(int64_t)st->st_mtim.tv_sec * NS_PER_S + (int64_t)st->st_mtim.tv_nsec);
	json_put_string(json, "Name", name);
	json_put_i64(json, "Size", (int64_t)st->st_size);
	json_end_object(json);
}
