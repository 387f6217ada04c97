#include "tools/berthd/run.h"

int main(int argc, char **argv)
{
	return berthd_run(argc, argv);
}
