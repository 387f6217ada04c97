// What a container's process tells the agent: lines of a file beside that of its exit status, each with a type and a
// text. The agent counts those that it has taken, so that the next one goes on where it left off.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum container_news {
	NEWS_NOTE,    // an event of the task
	NEWS_STARTED, // the container runs; its id
	NEWS_FAILED,  // it cannot be run; trying again may help
	NEWS_REFUSED, // it cannot be run
	NEWS_LOST,    // the engine does not answer; trying again may help
	NEWS_OOM,     // it was killed for want of memory
	NEWS_KINDS,
};

#define NEWS_TEXT_BYTES 300u

// False: it cannot be written.
bool container_news_tell(const char *exit_path, enum container_news, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// The line of that number, from 0. False: there is none yet.
bool container_news_read(const char *exit_path, uint32_t number, enum container_news *,
	char text[static NEWS_TEXT_BYTES]);
void container_news_forget(const char *exit_path);
