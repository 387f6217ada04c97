#include "state/etcd/etcd_answer.h"
#include "state/base/memory.h"
#include "state/etcd/etcd_json.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// An error of etcd is shorter; a page of something else is not looked at.
#define ERROR_BYTES_MAX 4096u

// Parts of etcd's sentences. The gateway's codes say less: 14 is "no leader" as well as "timed out".
static const struct {
	const char *part;
	enum etcd_verdict verdict;
	int error;
} sentences[] = {
	{"database space exceeded", VERDICT_REFUSED, -ENOSPC},
	{"request is too large", VERDICT_REFUSED, -EMSGSIZE},
	{"larger than max", VERDICT_REFUSED, -EMSGSIZE},
	{"too many operations", VERDICT_REFUSED, -EMSGSIZE},
	{"requested lease not found", VERDICT_REFUSED, -ENOENT},
	{"has been compacted", VERDICT_REFUSED, -ERANGE},
	{"permission denied", VERDICT_REFUSED, -EACCES},
	{"authentication failed", VERDICT_REFUSED, -EACCES},
	{"user name is empty", VERDICT_TOKEN, -EACCES},
	{"invalid auth token", VERDICT_TOKEN, -EACCES},
	{"revision in header is old", VERDICT_TOKEN, -EACCES},
	{"auth store is old", VERDICT_TOKEN, -EACCES},
	{"no leader", VERDICT_NOT_DONE, -ETIMEDOUT},
	{"too many requests", VERDICT_NOT_DONE, -ETIMEDOUT},
	{"proposal dropped", VERDICT_NOT_DONE, -ETIMEDOUT},
	{"not supported for learner", VERDICT_NOT_DONE, -ETIMEDOUT},
	// Another endpoint knows it already.
	{"future revision", VERDICT_NOT_DONE, -ETIMEDOUT},
	{"leader changed", VERDICT_UNKNOWN, -ETIMEDOUT},
	{"timed out", VERDICT_UNKNOWN, -ETIMEDOUT},
	{"server stopped", VERDICT_UNKNOWN, -ETIMEDOUT},
};

// Numbers of gRPC, which say only whether it is etcd's trouble or the request's.
enum {
	GRPC_CANCELED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_DEADLINE = 4,
	GRPC_ABORTED = 10,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14
};

static void sentence_judge(struct etcd_outcome *o, uint64_t code)
{
	for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++)
		if (strstr(o->text, sentences[i].part)) {
			o->verdict = sentences[i].verdict;
			o->error = sentences[i].error;
			return;
		}
	bool is_trouble = code == GRPC_CANCELED || code == GRPC_UNKNOWN || code == GRPC_DEADLINE ||
			  code == GRPC_ABORTED || code == GRPC_INTERNAL || code == GRPC_UNAVAILABLE;
	o->verdict = is_trouble ? VERDICT_UNKNOWN : VERDICT_REFUSED;
	o->error = is_trouble ? -ETIMEDOUT : -EPROTO;
}

static void text_keep(struct etcd_outcome *o, struct text text)
{
	snprintf(o->text, sizeof o->text, "%.*s", (int)text.size, text.data);
}

// {"error":"…","code":14,"message":"…"}, or in a stream {"error":{"grpc_code":14,"message":"…",…}}.
static void error_read(struct etcd_json *j, struct etcd_outcome *o, uint64_t *code)
{
	struct text name;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		bool is_object = j->at < j->end && *j->at == '{';
		if (etcd_json_is(name, "error") && is_object)
			error_read(j, o, code);
		else if (etcd_json_is(name, "error") || etcd_json_is(name, "message"))
			text_keep(o, etcd_json_text(j));
		else if (etcd_json_is(name, "code") || etcd_json_is(name, "grpc_code"))
			*code = etcd_json_u64(j);
		else
			etcd_json_skip(j);
	}
}

// Whether the object begins with an error, as all of etcd's errors do.
static bool is_error(const char *answer, size_t size)
{
	static const char begin[] = "{\"error\":";
	return size >= sizeof begin - 1 && memcmp(answer, begin, sizeof begin - 1) == 0;
}

struct etcd_outcome etcd_answer_outcome(long status, const char *answer, size_t size)
{
	struct etcd_outcome o = {.verdict = VERDICT_ANSWERED};
	char copy[ERROR_BYTES_MAX];
	uint64_t code = 0;
	if (status == 200 && !is_error(answer, size))
		return o;
	size_t copied = size < sizeof copy ? size : sizeof copy;
	memcpy(copy, answer, copied);
	struct etcd_json j = etcd_json_over(copy, copied);
	error_read(&j, &o, &code);
	if (!j.failed && o.text[0]) {
		sentence_judge(&o, code);
		return o;
	}
	// Whatever stands before etcd may have passed the request on.
	snprintf(o.text, sizeof o.text, "HTTP status %ld, and no answer of etcd", status);
	o.verdict = VERDICT_UNKNOWN;
	o.error = status == 401 || status == 403 ? -EACCES : -EPROTO;
	return o;
}

struct etcd_outcome etcd_reason_outcome(struct text reason)
{
	struct etcd_outcome o = {0};
	text_keep(&o, reason);
	sentence_judge(&o, GRPC_UNKNOWN);
	return o;
}

static bool is_about_tls(const struct etcd_exchange *x)
{
	return x->code == CURLE_PEER_FAILED_VERIFICATION || x->code == CURLE_SSL_CERTPROBLEM ||
	       x->code == CURLE_SSL_CACERT_BADFILE || x->code == CURLE_SSL_ISSUER_ERROR ||
	       x->code == CURLE_SSL_CONNECT_ERROR || strstr(x->text, "certificate");
}

struct etcd_outcome etcd_exchange_outcome(const struct etcd_exchange *x)
{
	if (x->code == CURLE_OK)
		return etcd_answer_outcome(x->status, (const char *)x->answer.data, x->answer.size);
	struct etcd_outcome o = {.verdict = VERDICT_UNKNOWN, .error = -ETIMEDOUT};
	snprintf(o.text, sizeof o.text, "%s", x->text);
	// Without its last byte a request is none.
	if (x->given < x->request.size)
		o.verdict = VERDICT_NOT_DONE;
	if (is_about_tls(x))
		o.error = -EACCES;
	if (x->code == CURLE_WEIRD_SERVER_REPLY || x->code == CURLE_UNSUPPORTED_PROTOCOL ||
		x->code == CURLE_WRITE_ERROR || x->code == CURLE_BAD_CONTENT_ENCODING)
		o.error = -EPROTO;
	return o;
}
