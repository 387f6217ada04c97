#include "tools/web_socket/handshake.h"
#include "state/base/base64.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
