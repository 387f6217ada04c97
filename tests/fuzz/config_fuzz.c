// The YAML configuration: any bytes give a configuration or a message with a place, never a crash.
#include "state/base/check.h"
#include "tools/berthd/config.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	static struct config config;
	char message[CONFIG_MESSAGE_BYTES] = "";
	config_defaults(&config);
	FILE *file = fmemopen((void *)data, size, "r");
	CHECK(file);
	bool good = config_read(&config, file, "f", message);
	fclose(file);
	if (good)
		config_check(&config, message);
	else
		CHECK(strncmp(message, "f:", 2) == 0);
	return 0;
}
