#include "tools/tls/secret_file.h"
#include <unistd.h>

const char *secret_file_fault(const struct stat *found)
{
	if (found->st_mode & (S_IRWXO | S_IWGRP))
		return "is open to everybody, or may be written by its group: chmod 600 it, or 640";
	if (found->st_uid != 0 && found->st_uid != geteuid() && geteuid() != 0)
		return "is another user's, who may change it: make it root's or the user's that "
		       "reads it (chown)";
	return NULL;
}
