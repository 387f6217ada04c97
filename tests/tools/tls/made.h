// Certificates for tests, in a folder that goes away with them: an authority, and what it signs.
#pragma once
#include "tools/tls/certificate.h"

struct made {
	char folder[64];
	struct certificate authority;
};

int64_t made_now_s(void); // Unix time

// Makes the folder, and ca.pem and ca-key.pem in it.
void made_begin(struct made *);
void made_end(struct made *); // removes all
// Makes NAME.pem and NAME-key.pem, or others in their place, which hold from now + from_s until now + until_s. host
// NULL: a client's.
void made_sign(struct made *, const char *name, const char *host, int64_t from_s, int64_t until_s);
// The path of a file; one of a few buffers, in turn.
const char *made_path(const struct made *, const char *file);
void made_write(const struct made *, const char *file, const char *text);
