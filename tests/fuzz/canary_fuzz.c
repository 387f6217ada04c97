// Known bugs, each one bit away from a corpus file: proof that the loop would find a real one.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile uint8_t sink;
	if (size < 5)
		return 0;
	if (memcmp(data, "abor!", 5) == 0)
		abort();
	if (memcmp(data, "over!", 5) == 0)
		sink = data[size];
	while (memcmp(data, "hang!", 5) == 0)
		sink++;
	return 0;
}
