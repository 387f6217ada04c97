// The frame that closes: 0x88, its size, the code (big endian), the reason. A server does not mask.
#include "tools/api/server/web_socket.h"
#include "state/base/base64.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define KEY_BYTES_MAX 64u
#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define SHA1_BLOCK 64u
#define SHA1_WORDS 5u

static uint32_t rotate_left(uint32_t value, unsigned bits)
{
	return value << bits | value >> (32 - bits);
}

static uint32_t sha1_mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	if (round < 20)
		return ((b & c) | (~b & d)) + 0x5a827999u;
	if (round < 40)
		return (b ^ c ^ d) + 0x6ed9eba1u;
	if (round < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
	return (b ^ c ^ d) + 0xca62c1d6u;
}

static void sha1_block(uint32_t h[static SHA1_WORDS], const unsigned char *block)
{
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t next = rotate_left(a, 5) + sha1_mix(i, b, c, d) + e + w[i];
		e = d;
		d = c;
		c = rotate_left(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

// The handshake of WebSockets asks for SHA-1; it protects nothing. size is below two blocks with their end.
static void sha1_short(const char *text, size_t size, unsigned char digest[static 4 * SHA1_WORDS])
{
	uint32_t h[SHA1_WORDS] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	unsigned char padded[2 * SHA1_BLOCK] = {0};
	size_t blocks = size + 9 > SHA1_BLOCK ? 2 : 1;
	memcpy(padded, text, size);
	padded[size] = 0x80;
	padded[blocks * SHA1_BLOCK - 2] = (unsigned char)(size * 8 >> 8);
	padded[blocks * SHA1_BLOCK - 1] = (unsigned char)(size * 8);
	for (size_t i = 0; i < blocks; i++)
		sha1_block(h, padded + i * SHA1_BLOCK);
	for (unsigned i = 0; i < 4 * SHA1_WORDS; i++)
		digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

bool web_socket_accept(const char *key, char accept[static WEB_SOCKET_ACCEPT_BYTES])
{
	char text[KEY_BYTES_MAX + sizeof GUID];
	unsigned char digest[4 * SHA1_WORDS];
	if (strlen(key) > KEY_BYTES_MAX)
		return false;
	int size = snprintf(text, sizeof text, "%s" GUID, key);
	sha1_short(text, (size_t)size, digest);
	char *encoded = base64_encode((struct text){(const char *)digest, sizeof digest});
	snprintf(accept, WEB_SOCKET_ACCEPT_BYTES, "%s", encoded);
	free(encoded);
	return true;
}

static const char *web_socket_header(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void web_socket_refuse(struct request *request, struct reply *reply, enum web_socket_close code,
	const char *format, ...)
{
	const char *upgrade = web_socket_header(request, MHD_HTTP_HEADER_UPGRADE);
	const char *key = web_socket_header(request, "Sec-WebSocket-Key");
	char accept[WEB_SOCKET_ACCEPT_BYTES];
	va_list arguments;
	if (!upgrade || strcasecmp(upgrade, "websocket") != 0 || !key ||
		!web_socket_accept(key, accept)) {
		reply_mistake(reply,
			"failed to upgrade connection: this is asked for with the headers of a "
			"WebSocket (Connection, Upgrade, Sec-WebSocket-Key)");
		return;
	}
	request->close_code = (uint16_t)code;
	va_start(arguments, format);
	vsnprintf(request->close_reason, sizeof request->close_reason, format, arguments);
	va_end(arguments);
	reply->status = MHD_HTTP_SWITCHING_PROTOCOLS;
}

// What came in meanwhile is read and dropped: a socket that is closed with something unread is reset.
static void web_socket_end(void *context, struct MHD_Connection *connection, void *request_context,
	const char *extra, size_t extra_size, MHD_socket socket,
	struct MHD_UpgradeResponseHandle *handle)
{
	const struct request *request = context;
	unsigned char frame[4 + WEB_SOCKET_REASON_BYTES], dropped[512];
	size_t size = strlen(request->close_reason);
	frame[0] = 0x88;
	frame[1] = (unsigned char)(2 + size);
	frame[2] = (unsigned char)(request->close_code >> 8);
	frame[3] = (unsigned char)request->close_code;
	memcpy(frame + 4, request->close_reason, size);
	// A client that left does not get to know the reason.
	if (send(socket, frame, 4 + size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		(void)shutdown(socket, SHUT_WR);
	while (recv(socket, dropped, sizeof dropped, MSG_DONTWAIT) > 0)
		continue;
	(void)MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

struct MHD_Response *web_socket_response(struct request *request)
{
	char accept[WEB_SOCKET_ACCEPT_BYTES];
	struct MHD_Response *response = MHD_create_response_for_upgrade(web_socket_end, request);
	const char *key = web_socket_header(request, "Sec-WebSocket-Key");
	if (!response || !key || !web_socket_accept(key, accept))
		return response;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_UPGRADE, "websocket");
	(void)MHD_add_response_header(response, "Sec-WebSocket-Accept", accept);
	return response;
}
