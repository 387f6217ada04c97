#include "tools/agent/container/container_news.h"
#include "state/base/text.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void news_path(const char *exit_path, char path[static 700])
{
	snprintf(path, 700, "%.680s.news", exit_path);
}

bool container_news_tell(const char *exit_path, enum container_news kind, const char *format, ...)
{
	char path[700], text[NEWS_TEXT_BYTES - 8], line[NEWS_TEXT_BYTES];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	text_make_printable(text);
	int size = snprintf(line, sizeof line, "%c%s\n", 'a' + (int)kind, text);
	news_path(exit_path, path);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	ssize_t written = fd < 0 ? -1 : write(fd, line, (size_t)size);
	if (fd >= 0)
		close(fd);
	return written == size;
}

bool container_news_read(const char *exit_path, uint32_t number, enum container_news *kind,
	char text[static NEWS_TEXT_BYTES])
{
	char path[700], line[NEWS_TEXT_BYTES];
	news_path(exit_path, path);
	FILE *file = fopen(path, "re");
	bool is_there = file != NULL;
	for (uint32_t i = 0; i <= number && is_there; i++)
		is_there = fgets(line, sizeof line, file) && strchr(line, '\n');
	if (file)
		fclose(file);
	if (!is_there || line[0] < 'a' || line[0] >= 'a' + NEWS_KINDS)
		return false;
	*kind = (enum container_news)(line[0] - 'a');
	line[strcspn(line, "\n")] = '\0';
	snprintf(text, NEWS_TEXT_BYTES, "%s", line + 1);
	return true;
}

void container_news_forget(const char *exit_path)
{
	char path[700];
	news_path(exit_path, path);
	unlink(path);
}
