// Who may get at a file that holds a secret: a key, a password, a token.
#pragma once
#include <sys/stat.h>

// NULL, or what is wrong with its rights and what to do, to follow the file's name. Nobody but its owner may write it,
// everybody may not read it, and its owner is root or who this is; root may read whosever file it is. A group may
// read it, such as Debian's ssl-cert.
const char *secret_file_fault(const struct stat *);
