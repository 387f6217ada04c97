// Lays the answers of a server beside the document that describes them: what a client generated from it would read.
#pragma once
#include "tests/tools/api/server.h"
#include <jansson.h>

// The document of all routes. It stays in memory.
const json_t *described_document(void);
// Fails the test, naming the place, when an answer of 200 in JSON is not as the document says: a member that is
// missing, of another type, or that the document does not name.
void expect_described(const char *method, const char *path, const struct response *);
