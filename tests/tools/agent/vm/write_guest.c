// write_guest FILE: makes a disk that boots (guest.h).
#include "tests/tools/agent/vm/guest.h"
#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc == 2 && guest_write_disk(argv[1]))
		return 0;
	fprintf(stderr, "write_guest: cannot write %s: %m\n", argc == 2 ? argv[1] : "FILE");
	return 1;
}
