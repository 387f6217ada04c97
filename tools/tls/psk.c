#include "tools/tls/psk.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Key exchanges without a certificate, and never without Diffie-Hellman.
#define PRIORITIES "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-PSK"

static const char *const protocols[] = {
	[LINE_CONTROLLER_ASKS] = "berth-node/1", [LINE_NODE_ASKS] = "http/1.1"};

static gnutls_datum_t datum_of(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

bool psk_identity_read(const char *text, size_t size, struct psk_identity *identity)
{
	char copy[PSK_IDENTITY_BYTES];
	unsigned id = 0, digits = 0;
	if (size >= sizeof copy || memchr(text, '\0', size))
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	while (digits < 3 && copy[digits] >= '0' && copy[digits] <= '9')
		id = id * 10 + (unsigned)(copy[digits++] - '0');
	if (digits == 0 || copy[0] == '0' || id > UINT8_MAX || copy[digits] != ':')
		return false;
	identity->key_id = (uint8_t)id;
	return uuid_parse(copy + digits + 1, &identity->node);
}

void psk_identity_write(const struct psk_identity *identity, char text[static PSK_IDENTITY_BYTES])
{
	char node[UUID_TEXT_BYTES];
	uuid_format(&identity->node, node);
	snprintf(text, PSK_IDENTITY_BYTES, "%u:%s", identity->key_id, node);
}

struct psk_server {
	gnutls_psk_server_credentials_t credentials;
	psk_find *find;
};

struct psk_client {
	gnutls_psk_client_credentials_t credentials;
};

// GnuTLS frees the key.
static int find_key(gnutls_session_t session, const gnutls_datum_t *name, gnutls_datum_t *key)
{
	struct psk_server *server = gnutls_db_get_ptr(session);
	uint8_t found[PSK_KEY_BYTES];
	if (!server->find(
		    gnutls_session_get_ptr(session), (const char *)name->data, name->size, found))
		return -1;
	key->data = gnutls_malloc(sizeof found);
	if (key->data) {
		memcpy(key->data, found, sizeof found);
		key->size = sizeof found;
	}
	explicit_bzero(found, sizeof found);
	return key->data ? 0 : -1;
}

struct psk_server *psk_server_create(psk_find *find)
{
	struct psk_server *server = memory_take(sizeof *server);
	server->find = find;
	if (gnutls_psk_allocate_server_credentials(&server->credentials) != GNUTLS_E_SUCCESS) {
		free(server);
		return NULL;
	}
	gnutls_psk_set_server_credentials_function2(server->credentials, find_key);
	return server;
}

void psk_server_destroy(struct psk_server *server)
{
	if (!server)
		return;
	gnutls_psk_free_server_credentials(server->credentials);
	free(server);
}

// Prepares what both sides have.
static int prepare_session(gnutls_session_t session, int fd, void *credentials)
{
	int error = gnutls_priority_set_direct(session, PRIORITIES, NULL);
	if (error == GNUTLS_E_SUCCESS)
		error = gnutls_credentials_set(session, GNUTLS_CRD_PSK, credentials);
	if (error == GNUTLS_E_SUCCESS)
		gnutls_transport_set_int(session, fd);
	return error;
}

static int offer_protocols(gnutls_session_t session, enum line_kind first, enum line_kind last)
{
	gnutls_datum_t offered[2];
	unsigned count = 0;
	for (enum line_kind kind = first; kind <= last; kind++)
		offered[count++] = datum_of(protocols[kind]);
	return gnutls_alpn_set_protocols(session, offered, count, 0);
}

// Frees a session that cannot be prepared.
static int give_session_up(gnutls_session_t *session, int error)
{
	gnutls_deinit(*session);
	*session = NULL;
	return error;
}

int psk_server_session(struct psk_server *server, int fd, void *context, gnutls_session_t *session)
{
	int error = CAN_BREAK(LINE_TLS, GNUTLS_E_MEMORY_ERROR,
		gnutls_init(session,
			GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS));
	if (error != GNUTLS_E_SUCCESS) {
		*session = NULL;
		return error;
	}
	error = prepare_session(*session, fd, server->credentials);
	if (error == GNUTLS_E_SUCCESS)
		error = offer_protocols(*session, LINE_CONTROLLER_ASKS, LINE_NODE_ASKS);
	if (error != GNUTLS_E_SUCCESS)
		return give_session_up(session, error);
	gnutls_session_set_ptr(*session, context);
	gnutls_db_set_ptr(*session, server);
	return GNUTLS_E_SUCCESS;
}

struct psk_client *psk_client_create(
	const struct psk_identity *identity, const uint8_t key[static PSK_KEY_BYTES])
{
	struct psk_client *client = memory_take(sizeof *client);
	char name[PSK_IDENTITY_BYTES];
	uint8_t copy[PSK_KEY_BYTES];
	psk_identity_write(identity, name);
	memcpy(copy, key, sizeof copy);
	gnutls_datum_t secret = {copy, sizeof copy};
	int error = gnutls_psk_allocate_client_credentials(&client->credentials);
	if (error == GNUTLS_E_SUCCESS)
		error = gnutls_psk_set_client_credentials(
			client->credentials, name, &secret, GNUTLS_PSK_KEY_RAW);
	explicit_bzero(copy, sizeof copy);
	if (error == GNUTLS_E_SUCCESS)
		return client;
	psk_client_destroy(client);
	return NULL;
}

void psk_client_destroy(struct psk_client *client)
{
	if (!client)
		return;
	if (client->credentials)
		gnutls_psk_free_client_credentials(client->credentials);
	free(client);
}

int psk_client_session(
	struct psk_client *client, int fd, enum line_kind kind, gnutls_session_t *session)
{
	int error = CAN_BREAK(DIAL_TLS, GNUTLS_E_MEMORY_ERROR,
		gnutls_init(session,
			GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS));
	if (error != GNUTLS_E_SUCCESS) {
		*session = NULL;
		return error;
	}
	error = prepare_session(*session, fd, client->credentials);
	if (error == GNUTLS_E_SUCCESS)
		error = offer_protocols(*session, kind, kind);
	return error == GNUTLS_E_SUCCESS ? error : give_session_up(session, error);
}

enum line_kind psk_session_kind(gnutls_session_t session)
{
	gnutls_datum_t chosen;
	if (gnutls_alpn_get_selected_protocol(session, &chosen) != GNUTLS_E_SUCCESS)
		return LINE_UNKNOWN;
	for (enum line_kind kind = LINE_CONTROLLER_ASKS; kind <= LINE_NODE_ASKS; kind++)
		if (chosen.size == strlen(protocols[kind]) &&
			memcmp(chosen.data, protocols[kind], chosen.size) == 0)
			return kind;
	return LINE_UNKNOWN;
}
