// Archives as pages of the web server (web.h).
#pragma once
#include <stddef.h>
#include <sys/types.h>

struct web_entry {
	const char *path, *contents; // contents NULL: it is none
	mode_t type, mode;           // 0: a file, 0644
	const char *link;            // its target
};

// Puts an archive at this path of the server, in the format that it says.
void web_put_archive(const char *path, const struct web_entry *entries, size_t count);
#define WEB_PUT_ARCHIVE(path, ...)                                     \
	web_put_archive(path, (const struct web_entry[]){__VA_ARGS__}, \
		sizeof((const struct web_entry[]){__VA_ARGS__}) / sizeof(struct web_entry))
