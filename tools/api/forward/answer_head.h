// Status and headers of an answer that is handed on.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_HEADERS_MAX 32u
#define ANSWER_HEAD_BYTES_MAX (32u * 1024)
#define ANSWER_SIZE_UNKNOWN UINT64_MAX
// What a member of a cluster says of an answer that only the leader could have given.
#define NOT_LEADER_HEADER "X-Berth-Not-Leader"

struct answer_head {
	unsigned status;     // 0: not begun
	uint64_t body_bytes; // as announced
	bool is_whole, is_of_follower;
	size_t bytes; // of all headers that are kept
	uint32_t count;
	struct answer_header {
		char *name, *value;
	} headers[ANSWER_HEADERS_MAX];
};

// Takes the next line of an answer, which may have several heads: the last counts. False: the head is too long.
bool answer_head_take(struct answer_head *, const char *line, size_t size);
void answer_head_clear(struct answer_head *);
