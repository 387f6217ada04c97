// Connections of one caller: requests over HTTP, several on their way at a time, each at one endpoint.
#pragma once
#include "state/base/bytes.h"
#include "state/etcd/etcd_core.h"
#include <curl/curl.h>

#define ETCD_NO_TOKEN UINT64_MAX
#define ETCD_TOGETHER_MAX 16u
// A longer answer is none of etcd's: values of one page of a range, or events that came at once.
#define ETCD_ANSWER_BYTES_MAX (512u * 1024 * 1024)

struct etcd_exchange {
	CURL *easy; // NULL: was never used
	struct curl_slist *headers;
	uint64_t token_number; // of the token in them; ETCD_NO_TOKEN: there is none
	bool is_anonymous;     // asks for a token, and so shows none, not even one that ended
	struct bytes_writer request, answer;
	size_t given; // bytes of the request that libcurl took
	uint32_t endpoint;
	uint64_t begun_ns;
	bool is_done; // with what follows
	CURLcode code;
	long status;
	char text[CURL_ERROR_SIZE];
};

struct etcd_line {
	CURLM *multi;
	struct etcd_exchange exchanges[ETCD_TOGETHER_MAX];
	struct etcd_line *next; // of the idle ones
};

// One with connections from before, or a new one; for the calling thread.
struct etcd_line *etcd_line_take(struct etcd *);
void etcd_line_give_back(struct etcd *, struct etcd_line *);
void etcd_line_free(struct etcd_line *);

struct etcd_limits {
	uint64_t connect_ms, whole_ms; // whole 0: none
};
// An exchange with an empty request, for its writer.
struct etcd_exchange *etcd_exchange_ready(struct etcd *, struct etcd_line *, uint32_t slot);
// Sends what was written. The exchange is the line's until it is done, or cancelled.
void etcd_exchange_begin(struct etcd *, struct etcd_line *, struct etcd_exchange *,
	const char *path, uint32_t endpoint, struct etcd_limits);
// Lets all work, waits at most so long for more; sets is_done.
void etcd_line_work(struct etcd_line *, uint32_t wait_ms);
void etcd_exchange_cancel(struct etcd_line *, struct etcd_exchange *);
