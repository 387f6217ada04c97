#include "tools/http_client/curl_tls.h"
#include "state/base/curl/curl_memory.h"

static bool has_text(const char *text)
{
	return text && *text;
}

void curl_tls_set(CURL *curl, const struct http_tls *tls)
{
	curl_set(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (!tls)
		return;
	if (has_text(tls->ca_file)) {
		// Only these: a certificate that the system's authorities signed is another's.
		curl_set(curl, CURLOPT_CAINFO, tls->ca_file);
		curl_set(curl, CURLOPT_CAPATH, NULL);
	}
	// Files that change are read anew with the next connection.
	curl_set(curl, CURLOPT_CA_CACHE_TIMEOUT, 0L);
	if (has_text(tls->certificate_file))
		curl_set(curl, CURLOPT_SSLCERT, tls->certificate_file);
	if (has_text(tls->key_file))
		curl_set(curl, CURLOPT_SSLKEY, tls->key_file);
	if (tls->is_unverified) {
		curl_set(curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_set(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}
