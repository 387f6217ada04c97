// The answer to a request: a status, headers, and a body in memory or one that is made while it is sent.
#pragma once
#include "tools/json/json_writer.h"
#include <microhttpd.h>
#include <sys/types.h>

#define API_TEXT_JSON "application/json"
#define API_TEXT_PLAIN "text/plain; charset=utf-8"

// A body that is made while it is sent. Whoever makes one puts this first into its own struct.
struct reply_source {
	size_t block_bytes;
	// As libmicrohttpd asks a content reader.
	ssize_t (*read)(void *source, uint64_t position, char *to, size_t most);
	void (*free)(void *source);
	// From now on the bytes are compressed. False when they cannot be; NULL: they never are.
	bool (*compress)(void *source);
};

struct reply {
	unsigned status; // 0: not decided yet
	const char *content_type;
	struct json_writer body;
	bool has_index;
	uint64_t index;              // X-Nomad-Index
	bool is_packed;              // sent compressed
	bool is_read;                // though its route takes a body: headers as of reads
	char *next_token;            // X-Nomad-NextToken; owned
	unsigned retry_after_s;      // 0: no such header
	struct reply_source *source; // instead of body; owned
};

// A plain-text answer: a sentence that says what is wrong, where, and what to do.
void reply_error(struct reply *, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// The sentence of a refusal as {"message": "…"}, which is how Orchard has it.
void reply_error_as_json(struct reply *);
void reply_index(struct reply *, uint64_t index);
// What a reply holds that was never sent.
void reply_free(struct reply *);
