#include "tools/api/forward/answer_head.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// What is about one connection, or said anew by whoever hands the answer on.
static const char *const not_handed_on[] = {"Connection", "Keep-Alive", "Transfer-Encoding",
	"Trailer", "TE", "Upgrade", "Proxy-Authenticate", "Proxy-Connection", "Date",
	"Content-Length"};

void answer_head_clear(struct answer_head *head)
{
	CHECK(head->count <= ANSWER_HEADERS_MAX);
	for (uint32_t i = 0; i < head->count; i++) {
		free(head->headers[i].name);
		free(head->headers[i].value);
	}
	*head = (struct answer_head){.body_bytes = ANSWER_SIZE_UNKNOWN};
}

// "HTTP/1.1 200 OK"
static bool begin_head(struct answer_head *head, const char *line, size_t size)
{
	const char *space = memchr(line, ' ', size);
	answer_head_clear(head);
	for (const char *at = space ? space + 1 : line + size;
		at < line + size && *at >= '0' && *at <= '9' && head->status < 1000; at++)
		head->status = head->status * 10 + (unsigned)(*at - '0');
	return head->status >= 100 && head->status < 1000;
}

static bool is_handed_on(const char *name)
{
	for (size_t i = 0; i < sizeof not_handed_on / sizeof not_handed_on[0]; i++)
		if (strcasecmp(name, not_handed_on[i]) == 0)
			return false;
	return true;
}

static bool add_header(struct answer_head *head, char *name, char *value)
{
	head->bytes += strlen(name) + strlen(value);
	if (head->count == ANSWER_HEADERS_MAX || head->bytes > ANSWER_HEAD_BYTES_MAX)
		return false;
	head->headers[head->count++] = (struct answer_header){name, value};
	return true;
}

// Keeps name and value, or frees them.
static bool take_header(struct answer_head *head, char *name, char *value)
{
	bool is_fit = true, is_kept = false;
	if (strcasecmp(name, "Content-Length") == 0)
		head->body_bytes = strtoull(value, NULL, 10);
	else if (strcasecmp(name, NOT_LEADER_HEADER) == 0)
		head->is_of_follower = true;
	else if (is_handed_on(name))
		is_fit = is_kept = add_header(head, name, value);
	if (!is_kept) {
		free(name);
		free(value);
	}
	return is_fit;
}

bool answer_head_take(struct answer_head *head, const char *line, size_t size)
{
	// Whoever reads a whole head does so without a lock; trailers are left out.
	if (head->is_whole)
		return true;
	while (size && (line[size - 1] == '\r' || line[size - 1] == '\n'))
		size--;
	if (size >= 5 && memcmp(line, "HTTP/", 5) == 0)
		return begin_head(head, line, size);
	// A head of 1xx is none yet.
	if (!size) {
		head->is_whole = head->status >= 200;
		return true;
	}
	const char *colon = memchr(line, ':', size);
	if (!colon || colon == line || memchr(line, '\0', size))
		return true;
	const char *value = colon + 1, *end = line + size;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	return take_header(head, text_copy((struct text){line, (uint32_t)(colon - line)}),
		text_copy((struct text){value, (uint32_t)(end - value)}));
}
