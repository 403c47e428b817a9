/* Rewrite text with an image of `fst export`. See fst.h for loading, errors and threads. */
#ifndef FST_REWRITER_H
#define FST_REWRITER_H

#include "fst.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rewrite a text; return the number of bytes of the new text, which remains valid until the next call with the same fst_work. Any pointer may be
 * NULL. offsets[2 * i] and offsets[2 * i + 1] are the first byte of the characters that became byte i of the new text, and the byte after
 * their last one. FST_LONG: the text, or a text that a stage of rules writes, is longer than the fst_work allows. FST_OTHER: the text has no path
 * through a weighted transducer, or paths that only the Python runtime finds. FST_MISSING: the image has no rewriter. */
int64_t fst_rewrite(fst_work *work, const char *text, size_t size, const char **new_text, const int32_t **offsets);

#ifdef __cplusplus
}
#endif
#endif
