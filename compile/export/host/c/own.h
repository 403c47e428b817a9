/* The functions of fst.c for the files of one machine, such as rewriter.c; programs need none of them. */
#ifndef FST_OWN_H
#define FST_OWN_H

#include "fst.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of calls that belong to the machine. */
uint32_t fst_own_calls(const fst_work *work);
/* Run one of them; return its result: 0 without this call, UINT64_MAX if it fails. */
uint64_t fst_own_run(fst_work *work, uint32_t call);
/* An array of the machine, or with a negative number, counted from the end, a common one; NULL without it. */
void *fst_own_array(const fst_work *work, int role, uint64_t *size);
/* Copy a text for kernels, with memory for `units` units of it and of other texts, so arrays may move; return the number of its units. */
int64_t fst_own_put(fst_work *work, const char *text, size_t size, uint64_t units);

#ifdef __cplusplus
}
#endif
#endif
