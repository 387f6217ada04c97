// What is made is read by GnuTLS and judged as a client would.
#include "tests/tools/tls/made.h"
#include "tools/tls/certificate.h"
#include <gnutls/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char message[256];
static struct certificate authority;
static int64_t now_s;

static struct certificate_wish wish_of(const char *name, enum certificate_key key)
{
	return (struct certificate_wish){
		.name = name, .key = key, .from_s = now_s - 10, .until_s = now_s + 1000};
}

static int set_up(void **unused)
{
	now_s = made_now_s();
	struct certificate_wish wish = wish_of("authority", CERTIFICATE_KEY_P256);
	assert_true(authority_make(&wish, &authority, message, sizeof message));
	return 0;
}

static int tear_down(void **unused)
{
	certificate_free(&authority);
	return 0;
}

static gnutls_x509_crt_t read_certificate(const char *pem)
{
	gnutls_x509_crt_t crt;
	gnutls_datum_t data = {(unsigned char *)pem, (unsigned)strlen(pem)};
	assert_int_equal(gnutls_x509_crt_init(&crt), 0);
	assert_int_equal(gnutls_x509_crt_import(crt, &data, GNUTLS_X509_FMT_PEM), 0);
	return crt;
}

// Whether the certificate is one of the authority's for this host (NULL: any) and purpose.
static bool is_good(const char *by, const char *pem, const char *host, const char *purpose)
{
	gnutls_x509_crt_t ca = read_certificate(by), crt = read_certificate(pem);
	gnutls_x509_trust_list_t list;
	unsigned status = 1;
	gnutls_typed_vdata_st data[] = {
		{.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)purpose},
		{.type = GNUTLS_DT_DNS_HOSTNAME, .data = (unsigned char *)host},
	};
	assert_int_equal(gnutls_x509_trust_list_init(&list, 0), 0);
	assert_int_equal(gnutls_x509_trust_list_add_cas(list, &ca, 1, 0), 1);
	assert_int_equal(gnutls_x509_trust_list_verify_crt2(
				 list, &crt, 1, data, host ? 2 : 1, 0, &status, NULL),
		0);
	gnutls_x509_trust_list_deinit(list, 1);
	gnutls_x509_crt_deinit(crt);
	return status == 0;
}

static void a_server_is_known_by_its_hosts(void **unused)
{
	static const char *const hosts[] = {
		"berth.example", "*.rack.example", "127.0.0.1", "fd00::1"};
	for (int key = CERTIFICATE_KEY_P256; key <= CERTIFICATE_KEY_ED25519; key++) {
		struct certificate_wish wish = wish_of("server", (enum certificate_key)key);
		struct certificate c;
		wish.hosts = hosts;
		wish.host_count = 4;
		assert_true(certificate_make(&wish, &authority, &c, message, sizeof message));
		assert_true(is_good(authority.certificate, c.certificate, "berth.example",
			GNUTLS_KP_TLS_WWW_SERVER));
		assert_true(is_good(authority.certificate, c.certificate, "a.rack.example",
			GNUTLS_KP_TLS_WWW_SERVER));
		assert_true(is_good(authority.certificate, c.certificate, "127.0.0.1",
			GNUTLS_KP_TLS_WWW_SERVER));
		assert_true(is_good(
			authority.certificate, c.certificate, "fd00::1", GNUTLS_KP_TLS_WWW_SERVER));
		assert_true(is_good(
			authority.certificate, c.certificate, NULL, GNUTLS_KP_TLS_WWW_CLIENT));
		assert_false(is_good(authority.certificate, c.certificate, "other.example",
			GNUTLS_KP_TLS_WWW_SERVER));
		assert_false(is_good(authority.certificate, c.certificate, "127.0.0.2",
			GNUTLS_KP_TLS_WWW_SERVER));
		assert_non_null(strstr(c.key, "-----BEGIN PRIVATE KEY-----"));
		certificate_free(&c);
	}
}

static void a_client_is_no_server(void **unused)
{
	struct certificate_wish wish = wish_of("client", CERTIFICATE_KEY_P256);
	struct certificate c;
	assert_true(certificate_make(&wish, &authority, &c, message, sizeof message));
	assert_true(is_good(authority.certificate, c.certificate, NULL, GNUTLS_KP_TLS_WWW_CLIENT));
	assert_false(is_good(authority.certificate, c.certificate, NULL, GNUTLS_KP_TLS_WWW_SERVER));
	certificate_free(&c);
}

static void another_authority_of_the_same_name_vouches_for_nobody(void **unused)
{
	struct certificate_wish wish = wish_of("authority", CERTIFICATE_KEY_ED25519);
	struct certificate other, c;
	assert_true(authority_make(&wish, &other, message, sizeof message));
	wish = wish_of("client", CERTIFICATE_KEY_P256);
	assert_true(certificate_make(&wish, &other, &c, message, sizeof message));
	assert_true(is_good(other.certificate, c.certificate, NULL, GNUTLS_KP_TLS_WWW_CLIENT));
	assert_false(is_good(authority.certificate, c.certificate, NULL, GNUTLS_KP_TLS_WWW_CLIENT));
	certificate_free(&c);
	certificate_free(&other);
}

static void serial_numbers_differ(void **unused)
{
	struct certificate_wish wish = wish_of("client", CERTIFICATE_KEY_P256);
	unsigned char serials[2][64];
	for (int i = 0; i < 2; i++) {
		struct certificate c;
		size_t size = sizeof serials[i];
		assert_true(certificate_make(&wish, &authority, &c, message, sizeof message));
		gnutls_x509_crt_t crt = read_certificate(c.certificate);
		assert_int_equal(gnutls_x509_crt_get_serial(crt, serials[i], &size), 0);
		assert_int_equal(size, 16);
		assert_false(serials[i][0] & 0x80);
		gnutls_x509_crt_deinit(crt);
		certificate_free(&c);
	}
	assert_memory_not_equal(serials[0], serials[1], 16);
}

static void expect_refusal(
	const struct certificate_wish *wish, const struct certificate *by, const char *why)
{
	struct certificate c;
	assert_false(certificate_make(wish, by, &c, message, sizeof message));
	if (!strstr(message, why))
		fail_msg("\"%s\" does not say \"%s\"", message, why);
	assert_null(c.certificate);
	assert_null(c.key);
}

static void hosts_are_names_or_addresses(void **unused)
{
	static const char *const wrong[] = {"", "http://berth", "a b", "-a", ".a", "*", "*.", "a/b",
		"10.0.0.1/8", "berth:4646"};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct certificate_wish wish = wish_of("server", CERTIFICATE_KEY_P256);
		wish.hosts = &wrong[i];
		wish.host_count = 1;
		expect_refusal(&wish, &authority, "is neither a name of DNS nor an address");
	}
}

static void names_are_short_and_printable(void **unused)
{
	char longest[CERTIFICATE_NAME_BYTES_MAX + 2];
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	const char *wrong[] = {"", "a\nb", longest};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct certificate_wish wish = wish_of(wrong[i], CERTIFICATE_KEY_P256);
		expect_refusal(&wish, &authority, "1 to 64 printable characters");
	}
}

static void an_authority_must_be_one(void **unused)
{
	struct certificate_wish wish = wish_of("client", CERTIFICATE_KEY_P256);
	struct certificate client, mixed;
	assert_true(certificate_make(&wish, &authority, &client, message, sizeof message));
	expect_refusal(&wish, &client, "may not sign others");
	mixed = (struct certificate){authority.certificate, client.key};
	expect_refusal(&wish, &mixed, "has another key");
	mixed = (struct certificate){client.key, authority.key};
	expect_refusal(&wish, &mixed, "is no certificate in PEM");
	mixed = (struct certificate){authority.certificate, client.certificate};
	expect_refusal(&wish, &mixed, "no key in PEM");
	certificate_free(&client);
	wish.until_s = now_s + 2000;
	expect_refusal(&wish, &authority, "ends before the certificate would");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_is_known_by_its_hosts),
		cmocka_unit_test(a_client_is_no_server),
		cmocka_unit_test(another_authority_of_the_same_name_vouches_for_nobody),
		cmocka_unit_test(serial_numbers_differ),
		cmocka_unit_test(hosts_are_names_or_addresses),
		cmocka_unit_test(names_are_short_and_printable),
		cmocka_unit_test(an_authority_must_be_one),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
