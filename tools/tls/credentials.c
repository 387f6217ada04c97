#include "tools/tls/credentials.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "tools/tls/key_match.h"
#include "tools/tls/pem_file.h"
#include "tools/tls/secret_file.h"
#include <gnutls/abstract.h>
#include <gnutls/x509.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define WHAT_CERTIFICATE "http.tls.certificate"
#define WHAT_KEY "http.tls.key"
#define WHAT_CLIENT_CA "http.tls.client_ca"

// The key exchanges of RSA alone are left out: who gets the key later could read what was said before.
const char credentials_priorities[] =
	"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%SERVER_PRECEDENCE";

static int refuse_session(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
	gnutls_pcert_st **certificates, unsigned *certificate_count, gnutls_ocsp_data_st **ocsp,
	unsigned *ocsp_count, gnutls_privkey_t *key, unsigned *flags)
{
	return -1;
}
void *const credentials_unasked = refuse_session;

struct credentials {
	_Atomic uint32_t owners;
	gnutls_certificate_credentials_t certificate;
	int64_t end_s;
	bool wants_client;
};

// The certificates of one file.
struct chain {
	const char *what, *path;
	unsigned flags; // of enum gnutls_certificate_import_flags
	gnutls_x509_crt_t *items;
	unsigned count;
};

struct loading {
	const struct credentials_files *files;
	int64_t now_s;
	char *message;
	uint32_t message_size;
};

__attribute__((format(printf, 4, 5))) static bool refuse_file(
	const struct loading *l, const char *what, const char *path, const char *format, ...)
{
	char why[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(why, sizeof why, format, arguments);
	va_end(arguments);
	snprintf(l->message, l->message_size, "%s: %s %s", what, path, why);
	return false;
}

static void chain_free(struct chain *c)
{
	for (unsigned i = 0; i < c->count; i++)
		gnutls_x509_crt_deinit(c->items[i]);
	gnutls_free(c->items);
}

static const char *day_text(int64_t seconds, char text[static 32])
{
	struct tm parts;
	time_t when = (time_t)seconds;
	if (!gmtime_r(&when, &parts) || strftime(text, 32, "%Y-%m-%d %H:%M UTC", &parts) == 0)
		*text = '\0';
	return text;
}

static bool is_in_time(const struct loading *l, const struct chain *c)
{
	char day[32];
	for (unsigned i = 0; i < c->count; i++) {
		int64_t from_s = gnutls_x509_crt_get_activation_time(c->items[i]);
		int64_t until_s = gnutls_x509_crt_get_expiration_time(c->items[i]);
		if (l->now_s > until_s)
			return refuse_file(l, c->what, c->path,
				"expired at %s: have it signed anew (berth tls cert create)",
				day_text(until_s, day));
		if (l->now_s < from_s)
			return refuse_file(l, c->what, c->path,
				"is not valid before %s: look at the clock of this machine",
				day_text(from_s, day));
	}
	return true;
}

static bool load_chain(const struct loading *l, struct chain *c)
{
	char *text = pem_file_read(c->what, c->path, l->message, l->message_size);
	if (!text)
		return false;
	gnutls_datum_t data = {(unsigned char *)text, (unsigned)strlen(text)};
	int error = gnutls_x509_crt_list_import2(
		&c->items, &c->count, &data, GNUTLS_X509_FMT_PEM, c->flags);
	pem_text_free(text);
	if (error == GNUTLS_E_CERTIFICATE_LIST_UNSORTED)
		return refuse_file(l, c->what, c->path,
			"is out of order: each certificate must be followed by the one that signed "
			"it");
	if (error < 0)
		return refuse_file(l, c->what, c->path,
			"holds no certificate in PEM (%s); it begins with -----BEGIN "
			"CERTIFICATE-----",
			gnutls_strerror(error));
	return is_in_time(l, c);
}

static bool load_key(const struct loading *l, gnutls_x509_privkey_t key)
{
	const char *path = l->files->key;
	struct stat found;
	const char *fault = stat(path, &found) == 0 && S_ISREG(found.st_mode)
				    ? secret_file_fault(&found)
				    : NULL;
	if (fault)
		return refuse_file(l, WHAT_KEY, path, "%s", fault);
	char *text = pem_file_read(WHAT_KEY, path, l->message, l->message_size);
	if (!text)
		return false;
	gnutls_datum_t data = {(unsigned char *)text, (unsigned)strlen(text)};
	int error = gnutls_x509_privkey_import2(key, &data, GNUTLS_X509_FMT_PEM, NULL, 0);
	pem_text_free(text);
	if (error == GNUTLS_E_DECRYPTION_FAILED)
		return refuse_file(l, WHAT_KEY, path,
			"is locked with a pass phrase, which nobody is there to type: store it "
			"without one");
	return error == 0 || refuse_file(l, WHAT_KEY, path, "holds no private key in PEM (%s)",
				     gnutls_strerror(error));
}

static bool set_own(const struct loading *l, struct credentials *credentials, const struct chain *c,
	gnutls_x509_privkey_t key)
{
	const struct credentials_files *files = l->files;
	if (!key_matches(c->items[0], key))
		return refuse_file(l, WHAT_KEY, files->key,
			"is not the key of the certificate in %s: name the two that were made "
			"together",
			files->certificate);
	int error = gnutls_certificate_set_x509_key(
		credentials->certificate, c->items, (int)c->count, key);
	if (error < 0)
		return refuse_file(l, WHAT_CERTIFICATE, files->certificate, "cannot be used: %s",
			gnutls_strerror(error));
	credentials->end_s = gnutls_x509_crt_get_expiration_time(c->items[0]);
	return true;
}

static bool load_own(const struct loading *l, struct credentials *credentials)
{
	struct chain chain = {.what = WHAT_CERTIFICATE,
		.path = l->files->certificate,
		.flags = GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED};
	gnutls_x509_privkey_t key;
	if (gnutls_x509_privkey_init(&key) != 0)
		return refuse_file(l, WHAT_KEY, l->files->key, "cannot be read: out of memory");
	bool good =
		load_chain(l, &chain) && load_key(l, key) && set_own(l, credentials, &chain, key);
	gnutls_x509_privkey_deinit(key);
	chain_free(&chain);
	return good;
}

static bool load_clients(const struct loading *l, struct credentials *credentials)
{
	struct chain chain = {.what = WHAT_CLIENT_CA, .path = l->files->client_ca};
	if (!chain.path || !*chain.path)
		return true;
	bool good = load_chain(l, &chain);
	for (unsigned i = 0; good && i < chain.count; i++)
		if (gnutls_x509_crt_get_ca_status(chain.items[i], NULL) <= 0)
			good = refuse_file(l, chain.what, chain.path,
				"holds a certificate that may not sign others: name the "
				"authority's "
				"(berth tls ca create)");
	if (good && gnutls_certificate_set_x509_trust(
			    credentials->certificate, chain.items, (int)chain.count) < 0)
		good = refuse_file(l, chain.what, chain.path, "cannot be used");
	credentials->wants_client = good;
	chain_free(&chain);
	return good;
}

struct credentials *credentials_load(
	const struct credentials_files *files, int64_t now_s, char *message, uint32_t message_size)
{
	struct loading l = {files, now_s, message, message_size};
	struct credentials *credentials = memory_take(sizeof *credentials);
	atomic_init(&credentials->owners, 1);
	bool good = gnutls_certificate_allocate_credentials(&credentials->certificate) == 0;
	if (!good)
		snprintf(message, message_size, "http.tls: GnuTLS cannot be set up");
	if (good && load_own(&l, credentials) && load_clients(&l, credentials))
		return credentials;
	credentials_release(credentials);
	return NULL;
}

struct credentials *credentials_share(struct credentials *credentials)
{
	uint32_t before = atomic_fetch_add(&credentials->owners, 1);
	CHECK(before > 0);
	return credentials;
}

void credentials_release(struct credentials *credentials)
{
	if (!credentials || atomic_fetch_sub(&credentials->owners, 1) > 1)
		return;
	if (credentials->certificate)
		gnutls_certificate_free_credentials(credentials->certificate);
	free(credentials);
}

int64_t credentials_end_s(const struct credentials *credentials)
{
	return credentials->end_s;
}

void credentials_use(struct credentials *credentials, void *session)
{
	// GnuTLS keeps the pointer, and its functions take no pointer to const.
	static gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT};
	if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials->certificate) !=
		0) {
		// Without credentials of its own no handshake succeeds.
		log_warn("tls-not-served",
			"error=\"memory is short\" meaning=\"a client is refused\"");
		return;
	}
	if (!credentials->wants_client)
		return;
	gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	gnutls_session_set_verify_cert2(session, &purpose, 1, 0);
}

bool credentials_peer_name(void *session, char *name, uint32_t size)
{
	unsigned count = 0;
	size_t room = size;
	const gnutls_datum_t *shown = gnutls_certificate_get_peers(session, &count);
	gnutls_x509_crt_t certificate;
	if (!shown || count == 0 || gnutls_x509_crt_init(&certificate) != 0)
		return false;
	bool good = gnutls_x509_crt_import(certificate, &shown[0], GNUTLS_X509_FMT_DER) == 0 &&
		    gnutls_x509_crt_get_dn_by_oid(
			    certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &room) == 0;
	gnutls_x509_crt_deinit(certificate);
	return good;
}
