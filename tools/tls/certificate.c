#include "tools/tls/certificate.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include "tools/tls/key_match.h"
#include "tools/tls/pem_file.h"
#include <arpa/inet.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

#define SERIAL_BYTES 16u
#define HOST_BYTES_MAX 253u // of a name of DNS

// One certificate in the making, with what signs it.
struct making {
	const struct certificate_wish *wish;
	gnutls_x509_crt_t certificate, issuer;
	gnutls_x509_privkey_t key, issuer_key;
	char *message;
	uint32_t message_size;
};

static bool refuse_making(const struct making *m, const char *what, int error)
{
	snprintf(m->message, m->message_size, "%s: %s", what, gnutls_strerror(error));
	return false;
}

static void making_free(struct making *m)
{
	if (m->issuer != m->certificate)
		gnutls_x509_crt_deinit(m->issuer);
	if (m->issuer_key != m->key)
		gnutls_x509_privkey_deinit(m->issuer_key);
	gnutls_x509_crt_deinit(m->certificate);
	gnutls_x509_privkey_deinit(m->key);
}

void certificate_free(struct certificate *c)
{
	pem_text_free(c->certificate);
	pem_text_free(c->key);
	*c = (struct certificate){0};
}

static bool is_host_name(struct text name)
{
	if (name.size > 2 && memcmp(name.data, "*.", 2) == 0)
		name = (struct text){name.data + 2, name.size - 2};
	if (name.size == 0 || name.size > HOST_BYTES_MAX || *name.data == '.' || *name.data == '-')
		return false;
	return text_is_word(name, "-._");
}

static bool add_host(struct making *m, const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];
	uint32_t size = inet_pton(AF_INET, host, address) == 1    ? sizeof(struct in_addr)
			: inet_pton(AF_INET6, host, address) == 1 ? sizeof(struct in6_addr)
								  : 0;
	if (!size && !is_host_name(text_of(host))) {
		snprintf(m->message, m->message_size,
			"\"%.80s\" is neither a name of DNS nor an address", host);
		return false;
	}
	int error = size ? gnutls_x509_crt_set_subject_alt_name(m->certificate,
				   GNUTLS_SAN_IPADDRESS, address, size, GNUTLS_FSAN_APPEND)
			 : gnutls_x509_crt_set_subject_alt_name(m->certificate, GNUTLS_SAN_DNSNAME,
				   host, (unsigned)strlen(host), GNUTLS_FSAN_APPEND);
	return error == 0 || refuse_making(m, "adding a host", error);
}

static bool make_key(struct making *m)
{
	bool is_ed25519 = m->wish->key == CERTIFICATE_KEY_ED25519;
	int error = gnutls_x509_privkey_generate(m->key,
		is_ed25519 ? GNUTLS_PK_EDDSA_ED25519 : GNUTLS_PK_ECDSA,
		is_ed25519 ? 0 : GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	return error == 0 || refuse_making(m, "making a key", error);
}

// A random serial number; its first bit is clear, or it would be negative.
static int set_serial(gnutls_x509_crt_t certificate)
{
	unsigned char serial[SERIAL_BYTES];
	int error = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
	serial[0] = (serial[0] & 0x7f) | 0x40;
	return error ? error : gnutls_x509_crt_set_serial(certificate, serial, sizeof serial);
}

static int set_key_id(const struct making *m)
{
	unsigned char id[64];
	size_t size = sizeof id;
	int error = gnutls_x509_crt_get_key_id(m->certificate, 0, id, &size);
	if (!error)
		error = gnutls_x509_crt_set_subject_key_id(m->certificate, id, size);
	size = sizeof id;
	if (!error && m->issuer != m->certificate) {
		error = gnutls_x509_crt_get_subject_key_id(m->issuer, id, &size, NULL);
		if (error == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
			return 0; // an authority of others that has none
		if (!error)
			error = gnutls_x509_crt_set_authority_key_id(m->certificate, id, size);
	}
	return error;
}

// What every certificate has.
static bool describe_certificate(struct making *m)
{
	const struct certificate_wish *w = m->wish;
	gnutls_x509_crt_t c = m->certificate;
	int error = gnutls_x509_crt_set_version(c, 3);
	if (!error)
		error = set_serial(c);
	if (!error)
		error = gnutls_x509_crt_set_activation_time(c, (time_t)w->from_s);
	if (!error)
		error = gnutls_x509_crt_set_expiration_time(c, (time_t)w->until_s);
	if (!error)
		error = gnutls_x509_crt_set_dn_by_oid(
			c, GNUTLS_OID_X520_COMMON_NAME, 0, w->name, (unsigned)strlen(w->name));
	if (!error)
		error = gnutls_x509_crt_set_key(c, m->key);
	if (!error)
		error = set_key_id(m);
	return error == 0 || refuse_making(m, "describing a certificate", error);
}

static bool sign_certificate(struct making *m)
{
	gnutls_digest_algorithm_t digest;
	gnutls_pubkey_t public_key;
	int error = gnutls_pubkey_init(&public_key);
	if (error)
		return refuse_making(m, "signing", error);
	error = gnutls_pubkey_import_x509(public_key, m->issuer, 0);
	if (!error)
		error = gnutls_pubkey_get_preferred_hash_algorithm(public_key, &digest, NULL);
	if (!error)
		error = gnutls_x509_crt_sign2(m->certificate, m->issuer, m->issuer_key, digest, 0);
	gnutls_pubkey_deinit(public_key);
	return error == 0 || refuse_making(m, "signing", error);
}

// The text of what gnutls exported, as one of ours.
static char *text_take(gnutls_datum_t *data)
{
	char *text = text_copy((struct text){(const char *)data->data, data->size});
	gnutls_memset(data->data, 0, data->size);
	gnutls_free(data->data);
	return text;
}

static bool export_certificate(const struct making *m, struct certificate *out)
{
	gnutls_datum_t certificate = {0}, key = {0};
	int error = gnutls_x509_crt_export2(m->certificate, GNUTLS_X509_FMT_PEM, &certificate);
	if (!error)
		error = gnutls_x509_privkey_export2_pkcs8(
			m->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &key);
	if (error) {
		gnutls_free(certificate.data);
		return refuse_making(m, "writing a certificate", error);
	}
	*out = (struct certificate){text_take(&certificate), text_take(&key)};
	return true;
}

static bool making_begin(struct making *m)
{
	const struct certificate_wish *w = m->wish;
	int error = gnutls_x509_crt_init(&m->certificate);
	if (!error)
		error = gnutls_x509_privkey_init(&m->key);
	if (error)
		return refuse_making(m, "making a certificate", error);
	size_t size = strlen(w->name);
	if (size == 0 || size > CERTIFICATE_NAME_BYTES_MAX ||
		!text_is_printable(text_of(w->name))) {
		snprintf(m->message, m->message_size,
			"a certificate's name has 1 to %u printable characters",
			CERTIFICATE_NAME_BYTES_MAX);
		return false;
	}
	return make_key(m);
}

bool authority_make(const struct certificate_wish *w, struct certificate *out, char *message,
	uint32_t message_size)
{
	struct making m = {.wish = w, .message = message, .message_size = message_size};
	CHECK(w->until_s > w->from_s && w->host_count == 0);
	*out = (struct certificate){0};
	bool good = making_begin(&m);
	m.issuer = m.certificate;
	m.issuer_key = m.key;
	good = good && describe_certificate(&m);
	// It signs what servers and clients show, and no further authorities.
	int error = good ? gnutls_x509_crt_set_basic_constraints(m.certificate, 1, 0) : 0;
	if (good && !error)
		error = gnutls_x509_crt_set_key_usage(
			m.certificate, GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN);
	if (error)
		good = refuse_making(&m, "describing an authority", error);
	good = good && sign_certificate(&m) && export_certificate(&m, out);
	making_free(&m);
	return good;
}

static bool refuse_authority(const struct making *m, const char *why)
{
	snprintf(m->message, m->message_size, "the authority %s", why);
	return false;
}

static gnutls_datum_t datum_of(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

static bool read_authority(struct making *m, const struct certificate *authority)
{
	gnutls_datum_t certificate = datum_of(authority->certificate),
		       key = datum_of(authority->key);
	int error = gnutls_x509_crt_init(&m->issuer);
	if (!error)
		error = gnutls_x509_privkey_init(&m->issuer_key);
	if (error)
		return refuse_making(m, "reading the authority", error);
	if (gnutls_x509_crt_import(m->issuer, &certificate, GNUTLS_X509_FMT_PEM) != 0)
		return refuse_authority(m, "is no certificate in PEM");
	if (gnutls_x509_privkey_import2(m->issuer_key, &key, GNUTLS_X509_FMT_PEM, NULL, 0) != 0)
		return refuse_authority(m, "has a key that is no key in PEM without a pass phrase");
	if (gnutls_x509_crt_get_ca_status(m->issuer, NULL) <= 0)
		return refuse_authority(m, "is none: its certificate may not sign others");
	if (!key_matches(m->issuer, m->issuer_key))
		return refuse_authority(m, "has another key than the one given");
	if (gnutls_x509_crt_get_expiration_time(m->issuer) < (time_t)m->wish->until_s)
		return refuse_authority(m,
			"ends before the certificate would: ask for fewer days, or make a new one");
	return true;
}

static bool describe_use(struct making *m)
{
	const struct certificate_wish *w = m->wish;
	int error = gnutls_x509_crt_set_basic_constraints(m->certificate, 0, -1);
	if (!error)
		error = gnutls_x509_crt_set_key_usage(m->certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (!error && w->host_count)
		error = gnutls_x509_crt_set_key_purpose_oid(
			m->certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (!error)
		error = gnutls_x509_crt_set_key_purpose_oid(
			m->certificate, GNUTLS_KP_TLS_WWW_CLIENT, 0);
	if (error)
		return refuse_making(m, "describing a certificate", error);
	for (uint32_t i = 0; i < w->host_count; i++)
		if (!add_host(m, w->hosts[i]))
			return false;
	return true;
}

bool certificate_make(const struct certificate_wish *w, const struct certificate *authority,
	struct certificate *out, char *message, uint32_t message_size)
{
	struct making m = {.wish = w, .message = message, .message_size = message_size};
	CHECK(w->until_s > w->from_s && w->host_count <= CERTIFICATE_HOSTS_MAX);
	*out = (struct certificate){0};
	bool good = making_begin(&m) && read_authority(&m, authority) && describe_certificate(&m) &&
		    describe_use(&m) && sign_certificate(&m) && export_certificate(&m, out);
	making_free(&m);
	return good;
}
