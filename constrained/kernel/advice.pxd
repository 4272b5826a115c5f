# What the C library does not say portably. There is no Python of it: only ``arena`` asks, where it is compiled.

cdef extern from *:
    """
    #if defined(__linux__)
    #include <stdint.h>
    #include <sys/mman.h>
    #endif

    /* Large pages for what lies wholly within them; a wish, so what comes of it does not matter. */
    static void advise_large_pages(void *at, size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        const uintptr_t page = (uintptr_t)1 << 21;
        uintptr_t first = ((uintptr_t)at + page - 1) & ~(page - 1);
        uintptr_t last = ((uintptr_t)at + size) & ~(page - 1);
        if (first < last) {
            (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
        }
    #else
        (void)at;
        (void)size;
    #endif
    }
    """
    void advise_large_pages(void* at, size_t size) noexcept nogil
