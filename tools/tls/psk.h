// TLS of the line between nodes and controllers (docs/wire.md, The line): each side is proved by the node's key, which
// both have, and ephemeral Diffie-Hellman keeps what was said from who gets that key later.
#pragma once
#include "state/base/uuid.h"
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>

#define PSK_KEY_BYTES 16u
// "255:", a UUID, NUL.
#define PSK_IDENTITY_BYTES (4u + UUID_TEXT_BYTES)

// Who asks over a connection, which the node says with its ALPN.
enum line_kind { LINE_UNKNOWN, LINE_CONTROLLER_ASKS, LINE_NODE_ASKS };

struct psk_identity {
	struct uuid node;
	uint8_t key_id; // of the master key that the node's key follows from
};

// "7:7f1e9c1a-52f4-4f0e-9d39-1c07b6c4a0de". False: the text is none.
bool psk_identity_read(const char *text, size_t size, struct psk_identity *);
void psk_identity_write(const struct psk_identity *, char text[static PSK_IDENTITY_BYTES]);

// Finds the key of who comes, whose name may be anything. False: it is refused. Called in the handshake of a session.
typedef bool psk_find(
	void *session_context, const char *name, size_t size, uint8_t key[static PSK_KEY_BYTES]);
struct psk_server;
struct psk_server *psk_server_create(psk_find *); // NULL: memory is short
void psk_server_destroy(struct psk_server *);     // after its sessions
// A session over a connected socket, before its handshake. Returns 0, or an error of GnuTLS and no session
// (NULL). The caller ends it with gnutls_deinit().
int psk_server_session(struct psk_server *, int fd, void *session_context, gnutls_session_t *);

struct psk_client;
struct psk_client *psk_client_create(const struct psk_identity *,
	const uint8_t key[static PSK_KEY_BYTES]); // NULL: memory is short
void psk_client_destroy(struct psk_client *);     // the same
// The same; without a session it is NULL.
int psk_client_session(struct psk_client *, int fd, enum line_kind, gnutls_session_t *);

// After the handshake.
enum line_kind psk_session_kind(gnutls_session_t);
