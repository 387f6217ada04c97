#include "tools/tls/key_match.h"
#include <string.h>

#define ID_BYTES 64u

bool key_matches(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key)
{
	unsigned char one[ID_BYTES], other[ID_BYTES];
	size_t one_size = sizeof one, other_size = sizeof other;
	if (gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256, one, &one_size) != 0 ||
		gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, other, &other_size) !=
			0)
		return false;
	return one_size == other_size && memcmp(one, other, one_size) == 0;
}
