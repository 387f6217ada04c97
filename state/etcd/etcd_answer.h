// What became of a request, from how its exchange ended and what etcd says.
#pragma once
#include "state/etcd/etcd_line.h"

enum etcd_verdict {
	VERDICT_ANSWERED, // to be read
	VERDICT_REFUSED,  // by etcd, for good
	VERDICT_TOKEN,    // refused for its token
	VERDICT_NOT_DONE, // it may be asked elsewhere, or later
	VERDICT_UNKNOWN,  // it may have been done, or may be done yet
};

struct etcd_outcome {
	enum etcd_verdict verdict;
	int error; // 0: answered
	char text[ETCD_MESSAGE_BYTES];
};

struct etcd_outcome etcd_exchange_outcome(const struct etcd_exchange *);
// Of an answer, or of one line of a stream of answers.
struct etcd_outcome etcd_answer_outcome(long status, const char *answer, size_t size);
// Of a sentence that etcd gives as the reason why it ended something.
struct etcd_outcome etcd_reason_outcome(struct text reason);
