// Whether a private key is the one that a certificate is about.
#pragma once
#include <gnutls/x509.h>
#include <stdbool.h>

bool key_matches(gnutls_x509_crt_t, gnutls_x509_privkey_t);
