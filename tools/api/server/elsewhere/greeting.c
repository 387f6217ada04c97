#include "tools/api/server/elsewhere/greeting.h"
#include "state/base/check.h"
#include "tools/api/server/access.h"
#include "tools/api/server/web_socket.h"
#include "tools/json/json_reader.h"
#include "tools/tls/tunnel.h"
#include "tools/web_socket/frame.h"
#include <stdio.h>
#include <string.h>

#define GREETING_VERSION 1

bool greeting_is_announced(const struct request *request)
{
	return request->route->right == RIGHT_ALLOCATION_EXEC &&
	       MHD_lookup_connection_value(
		       request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_UPGRADE) &&
	       request_says_true(request, "ws_handshake");
}

static enum joint_verdict greeting_refuse(int fd, enum web_socket_close code, const char *reason)
{
	web_socket_farewell(fd, code, reason);
	return JOINT_ENDS;
}

static enum joint_verdict judge_greeting(struct request *request, int fd, const json_t *greeting)
{
	char reason[WEB_SOCKET_REASON_BYTES];
	json_int_t version = json_integer_value(json_object_get(greeting, "version"));
	const char *secret = json_string_value(json_object_get(greeting, "auth_token"));
	struct refusal refusal = {0};
	if (version != GREETING_VERSION) {
		snprintf(reason, sizeof reason, "unexpected handshake value: %lld",
			(long long)version);
		return greeting_refuse(fd, WEB_SOCKET_POLICY, reason);
	}
	if (request->lacks_token)
		refusal = access_check_secret(request, secret && *secret ? secret : NULL);
	if (refusal.status)
		return greeting_refuse(fd, WEB_SOCKET_FAULT, web_socket_refusal_text(&refusal));
	return JOINT_SPEAKS;
}

// The first message, whatever frames about the connection stand before it. False: it has not come whole.
static bool find_greeting(struct web_socket_reader *reader, const void *data, size_t size,
	struct web_socket_message *m)
{
	size_t room;
	uint8_t *to = web_socket_reader_room(reader, &room);
	CHECK(to && size <= room);
	if (size)
		memcpy(to, data, size);
	web_socket_reader_add(reader, size);
	while (web_socket_reader_next(reader, m))
		if (m->opcode != WEB_SOCKET_PING && m->opcode != WEB_SOCKET_PONG)
			return true;
	return false;
}

// A greeting without a token is what goes on, and what came behind it. It is never longer than what came.
static void forget_token(const struct web_socket_reader *reader, uint8_t *data, size_t *size)
{
	static const char greeting[] = "{\"version\":1}";
	static const uint8_t mask[4];
	size_t left = reader->end - reader->begin, length = sizeof greeting - 1;
	size_t head = web_socket_head(data, WEB_SOCKET_TEXT, length, mask);
	CHECK(head + length + left <= *size);
	memcpy(data + head, greeting, length);
	memcpy(data + head + length, reader->bytes + reader->begin, left);
	*size = head + length + left;
}

enum joint_verdict greeting_judge(void *context, int fd, void *data, size_t *size)
{
	struct web_socket_reader reader = web_socket_reader_make(true, TUNNEL_BYTES);
	struct web_socket_message m;
	enum joint_verdict verdict = JOINT_WAITS;
	if (find_greeting(&reader, data, *size, &m)) {
		char message[200];
		json_t *greeting =
			json_parse((const char *)m.data, m.size, message, sizeof message);
		verdict = judge_greeting(context, fd, greeting);
		json_decref(greeting);
		if (verdict == JOINT_SPEAKS)
			forget_token(&reader, data, size);
	} else if (reader.failure || *size == TUNNEL_BYTES) {
		verdict =
			greeting_refuse(fd, WEB_SOCKET_POLICY, "the first message is no handshake");
	}
	web_socket_reader_free(&reader);
	return verdict;
}
