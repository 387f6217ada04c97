// The answer to a request: a status, headers, and a body in memory or a body that is written while it is sent.
#pragma once
#include "tools/json/json_writer.h"
#include <microhttpd.h>
#include <sys/types.h>

#define API_TEXT_JSON "application/json"
#define API_TEXT_PLAIN "text/plain; charset=utf-8"

// A body that is written while it is sent. A source's own struct begins with this one.
struct reply_source {
	size_t block_bytes;
	// Like a content reader of libmicrohttpd.
	ssize_t (*read)(void *source, uint64_t position, char *to, size_t most);
	void (*free)(void *source);
	// Compresses all bytes from now on. False when it cannot; NULL: the source never does.
	bool (*compress)(void *source);
	bool has_size; // else it ends when it ends
	uint64_t bytes;
};

struct answer_head; // tools/api/forward/answer_head.h

struct reply_header {
	const char *name, *value;
};

struct reply {
	unsigned status; // 0: not decided yet
	const char *content_type;
	struct json_writer body;
	bool has_index;
	uint64_t index;         // X-Nomad-Index
	bool is_packed;         // sent compressed
	bool is_read;           // sends a read's headers although its route takes a body
	char *next_token;       // X-Nomad-NextToken; owned
	char *digest;           // Digest, of the body; owned
	unsigned retry_after_s; // 0: no such header
	char etag[32];          // ETag; "": none
	const struct reply_header *headers; // more of them, which outlive the reply; NULL: none
	uint32_t header_count;
	struct reply_source *source; // used instead of body; owned
	const struct answer_head *
		handed_on; // another server's: sent with its headers alone, as it is; lives as long as the source
};

// A plain-text answer: a sentence that says what is wrong, where, and what to do. Returns false, which is what a check
// says of a request that it refuses.
bool reply_error(struct reply *, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// When somebody may ask again for whom there was no memory.
#define RETRY_AFTER_S 1u
// What is being sent to where the client asks from takes all the memory that it may: 429, in the place of what the
// reply was.
void reply_no_memory(struct reply *);
// As reply_error, with 400.
bool reply_mistake(struct reply *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Turns a refusal's sentence into {"message": "…"}, as Orchard does.
void reply_error_as_json(struct reply *);
void reply_index(struct reply *, uint64_t index);
// Frees the content of a reply that was never sent.
void reply_free(struct reply *);
