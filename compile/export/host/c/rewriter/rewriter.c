/* See rewriter.h. */
#include "rewriter.h"

#include "own.h"

enum { NEW_TEXT, NEW_STARTS, NEW_SPANS };
enum { DONE, FAULT };
static const uint64_t MOST_BYTES = 1u << 29;

/* Run a sequence of calls; return the result of the first that does not end with DONE. */
static uint64_t run_all(fst_work *w, uint32_t first, uint32_t end) {
    uint64_t result = DONE;
    while (result == DONE && first < end) result = fst_own_run(w, first++);
    return result;
}

int64_t fst_rewrite(fst_work *w, const char *text, size_t size, const char **new_text, const int32_t **offsets) {
    uint32_t half = fst_own_calls(w) / 2;
    uint64_t needed = size, sizes[3];
    int64_t units;
    if (!half) return FST_MISSING;
    do {
        if ((units = fst_own_put(w, text, size, needed)) < 0) return units;
        needed = run_all(w, offsets ? half : 0, offsets ? 2 * half : half);
        if (needed == FAULT || needed > MOST_BYTES) return FST_OTHER;
    } while (needed != DONE);
    const char *found = (const char *)fst_own_array(w, NEW_TEXT, sizes);
    const int64_t *starts = (const int64_t *)fst_own_array(w, NEW_STARTS, sizes + 1);
    const int32_t *spans = (const int32_t *)fst_own_array(w, NEW_SPANS, sizes + 2);
    if (sizes[1] < 16 || starts[1] < 0 || (uint64_t)starts[1] > sizes[0] || (uint64_t)starts[1] > sizes[2] / 8) return FST_OTHER;
    for (int64_t i = 0; offsets && i < 2 * starts[1]; i++)
        if ((uint32_t)spans[i] > size) return FST_OTHER;
    if (new_text) *new_text = found;
    if (offsets) *offsets = spans;
    return starts[1];
}
