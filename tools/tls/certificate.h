// Certificates of our own making (X.509): an authority, and what it signs for servers and clients.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// As X.509 has it for a common name.
#define CERTIFICATE_NAME_BYTES_MAX 64u
#define CERTIFICATE_HOSTS_MAX 64u

enum certificate_key { CERTIFICATE_KEY_P256, CERTIFICATE_KEY_ED25519 };

struct certificate_wish {
	const char *name; // whom it is about
	enum certificate_key key;
	int64_t from_s, until_s; // when it holds, Unix time
	// Names and addresses of a server; none: it is a client's. A server may be a client as well: controllers ask
	// each other.
	const char *const *hosts;
	uint32_t host_count;
};

// A certificate and its key as PEM.
struct certificate {
	char *certificate, *key;
};
void certificate_free(struct certificate *); // wipes the key

// Makes an authority that signs itself. False, and a sentence.
bool authority_make(const struct certificate_wish *, struct certificate *, char *message,
	uint32_t message_size);
// Makes a certificate that the authority signs. False, and a sentence: a host that is neither a name nor an address, an
// authority that is none, whose key is another's, or that ends before the certificate would.
bool certificate_make(const struct certificate_wish *, const struct certificate *authority,
	struct certificate *, char *message, uint32_t message_size);
