/* Look words up with an image of `fst export`. See fst.h for loading, errors and threads. */
#ifndef FST_LOOKUP_H
#define FST_LOOKUP_H

#include "fst.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An analysis: its text is fst_decode(table, pieces, count, 0, …). Tables without weights have the weight 0. */
typedef struct { const int32_t *pieces; size_t count; float weight; } fst_analysis;

/* Find the analyses of a word, or with `generate` the words of an analysis, in the order of Python; write at most `capacity` of them, which remain
 * valid until the next call with the same fst_work, and return their number, which may be larger. *is_complete, unless it is NULL, becomes 0 if
 * there may be more than 4,096. FST_OTHER: the word takes too many steps. FST_MISSING: the image has no look-up, or not this direction. */
int64_t fst_lookup(fst_work *work, const char *word, size_t size, int generate, fst_analysis *found, size_t capacity, int *is_complete);

#ifdef __cplusplus
}
#endif
#endif
