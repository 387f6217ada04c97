#include "tools/berthd/berthd.h"

int main(int argc, char **argv)
{
	return berthd_run(argc, argv);
}
