/* See lookup.h. */
#include "lookup.h"

#include <string.h>

#include "own.h"

enum { PIECES, FOUND, WEIGHTED };
enum { END = -1, CUT = -2, SLOW = -3 }; /* ids that are no pieces */
enum { COUNT = 1 };

int64_t fst_lookup(fst_work *w, const char *word, size_t size, int generate, fst_analysis *found, size_t capacity, int *is_complete) {
    uint64_t sizes[3];
    uint32_t call = generate != 0;
    int64_t units, analyses = 0;
    if (call >= fst_own_calls(w)) return FST_MISSING;
    if ((units = fst_own_put(w, word, size, size)) < 0) return units; /* may move the arrays */
    const int32_t *pieces = (const int32_t *)fst_own_array(w, PIECES, sizes);
    uint64_t *state = (uint64_t *)fst_own_array(w, FOUND, sizes + 1), is_weighted = fst_own_array(w, WEIGHTED, sizes + 2) != NULL;
    if (sizes[1] < (COUNT + 1) * 8) return FST_MISSING;
    memset(state, 0, (size_t)sizes[1]);
    if (fst_own_run(w, call) > (uint64_t)units || state[COUNT] > sizes[0] / 4) return FST_OTHER;
    if (is_complete) *is_complete = 1;
    for (uint64_t i = 0, first = 0; i < state[COUNT]; i++) {
        if (pieces[i] == SLOW) return FST_OTHER;
        if (pieces[i] == CUT && is_complete) *is_complete = 0;
        if (pieces[i] != END) continue;
        fst_analysis each = {pieces + first, (size_t)(i - first), 0};
        if (is_weighted && ++i < state[COUNT]) memcpy(&each.weight, pieces + i, 4);
        if ((size_t)analyses++ < capacity) found[analyses - 1] = each;
        first = i + 1;
    }
    return analyses;
}
