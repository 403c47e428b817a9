/* Token masks with an image of `fst export`. See fst.h for loading, errors and threads; `most` of fst_work_new may be 0.
 *
 * A state is a number: a text begins in fst_guide_start, and fst_guide_step gives the state after each token. One fst_work serves any number of
 * texts. FST_OTHER: a number is not a state. FST_MISSING: the image has no guide. */
#ifndef FST_GUIDE_H
#define FST_GUIDE_H

#include "fst.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The state before the first token. */
int64_t fst_guide_start(fst_work *work);
/* The number of bits of a mask: 1 more than the highest id. */
int64_t fst_guide_size(fst_work *work);
/* The id of the token that ends a text; -1: there is none. */
int64_t fst_guide_end_id(fst_work *work);
/* The tokens that are allowed in a state: the bit of id i is bit i % 32 of mask[i / 32]. Return the number of words. The mask remains valid until
 * the next call with the same fst_work. */
int64_t fst_guide_mask(fst_work *work, int64_t state, const uint32_t **mask);
/* The state after a token; -1: the token is not allowed. */
int64_t fst_guide_step(fst_work *work, int64_t state, int32_t id);
/* 1: a text may end in a state; 0: it may not. */
int64_t fst_guide_is_final(fst_work *work, int64_t state);

#ifdef __cplusplus
}
#endif
#endif
