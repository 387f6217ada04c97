#include "dataplane/port/packet_pool.h"
#include "dataplane/port/numa.h"
#include "dataplane/port/port_memory.h"
#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <stddef.h>
#include <sys/mman.h>

// Sizes of huge pages, the usual one first.
static const uint32_t page_shifts[] = {21, 30};

static void unmap_packets(struct rte_mempool_memhdr *chunk, void *bytes)
{
	munmap(chunk->addr, (size_t)(uintptr_t)bytes);
}

// Memory of its own in pages of that size, none of which can be missing later.
static void *map_packets(size_t bytes, uint32_t page_shift, int numa_node)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | (int)(page_shift << MAP_HUGE_SHIFT);
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	(void)numa_prefer(start, bytes, numa_node); // on another node is better than not at all
	if (madvise(start, bytes, MADV_POPULATE_WRITE) == 0)
		return start;
	munmap(start, bytes);
	return NULL;
}

static int fill_pool(struct rte_mempool *pool, uint32_t packets, uint32_t page_shift, int numa_node)
{
	size_t least, align, page = (size_t)1 << page_shift;
	ssize_t needed = rte_mempool_op_calc_mem_size_default(pool, packets, 0, &least, &align);
	if (needed < 0)
		return (int)needed;
	size_t bytes = ((size_t)needed + align + page - 1) & ~(page - 1);
	void *start = map_packets(bytes, page_shift, numa_node);
	if (start == NULL)
		return -ENOMEM;
	int filled = rte_mempool_populate_virt(
		pool, start, bytes, page, unmap_packets, (void *)(uintptr_t)bytes);
	if (filled <= 0)
		munmap(start, bytes);
	return filled == (int)packets ? 0 : -ENOMEM;
}

// EAL reserves 64 GB of addresses for each size of huge pages that the kernel knows; so a pool that no card has to
// reach has its huge pages from the kernel.
static struct rte_mempool *create_in_huge_pages(const char *name, uint32_t packets, int numa_node)
{
	struct rte_mempool *pool = rte_mempool_create_empty(name, packets,
		sizeof(struct rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE, PORT_POOL_CACHE,
		sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY,
		RTE_MEMPOOL_F_NO_IOVA_CONTIG); // only the processor looks there
	if (pool == NULL)
		return NULL;
	int error = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);
	if (error == 0) {
		rte_pktmbuf_pool_init(pool, NULL);
		error = -ENOMEM;
	}
	for (size_t i = 0; i < sizeof page_shifts / sizeof page_shifts[0] && error == -ENOMEM; i++)
		error = fill_pool(pool, packets, page_shifts[i], numa_node);
	if (error != 0) {
		rte_mempool_free(pool);
		rte_errno = -error;
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

struct rte_mempool *packet_pool_create(const char *name, uint32_t packets, int numa_node)
{
	if (numa_node != SOCKET_ID_ANY && !rte_eal_has_hugepages())
		return create_in_huge_pages(name, packets, numa_node);
	return rte_pktmbuf_pool_create(
		name, packets, PORT_POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, numa_node);
}
