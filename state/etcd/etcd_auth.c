#include "state/etcd/etcd_auth.h"
#include "state/base/text.h"
#include "state/etcd/etcd_answer.h"
#include "state/etcd/etcd_json.h"
#include <errno.h>
#include <stdlib.h>

#define TOKEN_BYTES_MAX 512u

bool etcd_token_is_missing(struct etcd *e)
{
	pthread_mutex_lock(&e->lock);
	bool is_missing = e->user && e->token_number == 0;
	pthread_mutex_unlock(&e->lock);
	return is_missing;
}

static bool token_is_current(struct etcd *e, uint64_t number)
{
	pthread_mutex_lock(&e->lock);
	bool is_current = number == (e->token ? e->token_number : ETCD_NO_TOKEN);
	pthread_mutex_unlock(&e->lock);
	return is_current;
}

static void put_escaped(struct bytes_writer *w, const char *text)
{
	for (; *text; text++) {
		uint8_t c = (uint8_t)*text;
		if (c == '"' || c == '\\')
			bytes_put_u8(w, '\\');
		if (c >= ' ') {
			bytes_put_u8(w, c);
			continue;
		}
		static const char digits[] = "0123456789abcdef";
		char escape[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
		bytes_put(w, escape, sizeof escape);
	}
}

static void token_set(struct etcd *e, struct text token)
{
	char *copy = token.size ? text_copy(token) : NULL;
	pthread_mutex_lock(&e->lock);
	char *before = e->token;
	e->token = copy;
	e->token_number++;
	pthread_mutex_unlock(&e->lock);
	free(before);
}

static int token_read(struct etcd *e, struct etcd_exchange *x)
{
	struct etcd_json j = etcd_json_over(x->answer.data, x->answer.size);
	struct text name, token = TEXT("");
	etcd_json_enter(&j, '{');
	while (etcd_json_member(&j, &name)) {
		if (etcd_json_is(name, "token"))
			token = etcd_json_text(&j);
		else
			etcd_json_skip(&j);
	}
	if (j.failed || token.size == 0 || token.size > TOKEN_BYTES_MAX ||
		!text_is_printable(token))
		return -EPROTO;
	token_set(e, token);
	return 0;
}

int etcd_token_renew(struct etcd *e, uint32_t endpoint, uint64_t refused, struct etcd_limits limits)
{
	if (!e->user)
		return -EACCES;
	if (!token_is_current(e, refused))
		return 0;
	struct etcd_line *line = etcd_line_take(e);
	struct etcd_exchange *x = etcd_exchange_ready(e, line, 0);
	x->is_anonymous = true;
	ETCD_JSON_PUT(&x->request, "{\"name\":\"");
	put_escaped(&x->request, e->user);
	ETCD_JSON_PUT(&x->request, "\",\"password\":\"");
	put_escaped(&x->request, e->password ? e->password : "");
	ETCD_JSON_PUT(&x->request, "\"}");
	etcd_exchange_begin(e, line, x, "/v3/auth/authenticate", endpoint, limits);
	while (!x->is_done)
		etcd_line_work(line, 100);
	struct etcd_outcome o = etcd_exchange_outcome(x);
	int error = o.verdict == VERDICT_ANSWERED ? token_read(e, x) : o.error;
	if (strstr(o.text, "authentication is not enabled")) {
		token_set(e, TEXT(""));
		error = 0;
	} else if (o.verdict == VERDICT_ANSWERED && error) {
		etcd_note(e, endpoint, "a token that can not be read");
	} else if (error) {
		etcd_note(e, endpoint, o.text);
	}
	etcd_line_give_back(e, line);
	return error;
}
