#include "tools/fleet/net/pcap.h"
#include "state/base/time_units.h"
#include <errno.h>

int pcap_create(struct pcap *p, const char *path)
{
	*p = (struct pcap){.path = path, .file = fopen(path, "we")};
	if (!p->file)
		return -errno;
	// Magic (microseconds, in this machine's byte order), version 2.4, zone, accuracy, length kept, Ethernet.
	const uint32_t header[6] = {0xa1b2c3d4, 4u << 16 | 2u, 0, 0, 65535, 1};
	fwrite(header, sizeof header, 1, p->file);
	return 0;
}

void pcap_add(struct pcap *p, const uint8_t *packet, uint32_t size, uint64_t wall_ns)
{
	const uint32_t header[4] = {(uint32_t)(wall_ns / NS_PER_S),
		(uint32_t)(wall_ns / NS_PER_US % US_PER_S), size, size};
	fwrite(header, sizeof header, 1, p->file);
	fwrite(packet, size, 1, p->file);
	p->packets++;
}

int pcap_close(struct pcap *p)
{
	int rc = ferror(p->file) ? -EIO : 0;
	if (fclose(p->file) != 0)
		rc = -errno;
	p->file = NULL;
	return rc;
}
