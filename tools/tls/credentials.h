// What a server of TLS shows of itself, and whom it lets in: read from files once, then shared by connections and never
// changed. A newer one is another one, so a connection ends with what it began with.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct credentials_files {
	const char *certificate; // PEM; those of its authorities may follow, but for the last
	const char *key;         // of it, without a pass phrase
	const char *
		client_ca; // whoever shows no certificate that one of these signed is refused; NULL or "": all may
};

struct credentials;

// now_s: Unix time, outside of which no certificate may be. NULL and a sentence, which begins with the setting
// (http.tls.…), for a file that is missing or unreadable, holds something else, does not fit the others, or expired.
struct credentials *credentials_load(
	const struct credentials_files *, int64_t now_s, char *message, uint32_t message_size);
// Any thread. One more owner; the last one frees.
struct credentials *credentials_share(struct credentials *);
void credentials_release(struct credentials *); // NULL is fine
// When the certificate ends, Unix time.
int64_t credentials_end_s(const struct credentials *);

// Of libmicrohttpd's option MHD_OPTION_HTTPS_PRIORITIES: TLS 1.2 and 1.3, with forward secrecy.
extern const char credentials_priorities[];
// Of its option MHD_OPTION_HTTPS_CERT_CALLBACK2, which it must have: a function that no session calls, because each has
// credentials of its own.
extern void *const credentials_unasked;
// Before the handshake of a gnutls_session_t, which must not outlive them.
void credentials_use(struct credentials *, void *session);
// The common name of the certificate that the other end of a session showed, as far as it fits. False: it showed none.
bool credentials_peer_name(void *session, char *name, uint32_t size);
