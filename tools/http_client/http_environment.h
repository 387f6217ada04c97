// What the environment says of a controller, in variables that Nomad's programs know by another first word.
#pragma once
#include "tools/http_client/http_client.h"

// The value of BERTH_<name>, else of NOMAD_<name>; NULL when neither is there or has anything in it.
const char *http_environment(const char *name);
// Whether a word means yes, in the words of Go's strconv.ParseBool. NULL does not.
bool http_word_is_yes(const char *word);
// CACERT, CLIENT_CERT, CLIENT_KEY, TLS_SERVER_NAME and SKIP_VERIFY.
struct http_tls http_environment_tls(void);
