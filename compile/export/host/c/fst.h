/* Encode text into the ids of tokens, and decode ids, with an image of `fst export`.
 *
 * All text is UTF-8. A result below 0 is an error. Threads may share an fst; each needs its own fst_work. */
#ifndef FST_H
#define FST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FST_IMAGE = -1,   /* the image is damaged, or not an image */
    FST_ABI = -2,     /* the image belongs to another object */
    FST_MEMORY = -3,  /* there is no memory; the text is not encoded */
    FST_TEXT = -4,    /* the text is not UTF-8 */
    FST_LONG = -5,    /* the text is longer than the fst_work allows */
    FST_OTHER = -6,   /* the text has characters that only the Python runtime encodes */
    FST_MISSING = -7  /* the image has no offsets, or no decoder */
};

typedef struct fst fst;
typedef struct fst_work fst_work;

/* Load an image, of which no copy is made: it must stay in memory, unchanged, at an address that is a multiple of 8. NULL: see *error, unless
 * `error` is NULL.
 * An image by a stranger needs an object that `fst export --checked` has written: a wrong image then gives wrong ids, FST_OTHER, or a loop
 * without end, and reaches no memory but its own. With other objects, load only images that you trust. */
fst *fst_load(const void *image, size_t size, int *error);
void fst_free(fst *table);

/* Allocate the memory of one thread, for texts of at most `most` bytes. NULL: there is no memory, or `most` is 512 MB or more.
 * Kernels read a text in blocks of 16 kB, so `most` itself takes no memory. A call allocates only for a text or a part of several blocks: its ids
 * and offsets; the part of a stream that waits; and for kernels, if a word is longer than a block, until the next text begins. With `most` of
 * at most 16 kB, no call allocates memory. */
fst_work *fst_work_new(const fst *table, size_t most);
void fst_work_free(fst_work *work);

/* Encode a text; return the number of ids. The arrays remain valid until the next call with the same fst_work. Any pointer may be NULL.
 * offsets[2 * i] and offsets[2 * i + 1] are the first byte of id i, and the byte after its last one. */
int64_t fst_encode(fst_work *work, const char *text, size_t size, const int32_t **ids);
int64_t fst_encode_offsets(fst_work *work, const char *text, size_t size, const int32_t **ids, const int32_t **offsets);

/* Encode a text that arrives in parts, cut at any byte; return the number of ids that no later part can change. The ids of all calls are those
 * of fst_encode. The first call after fst_stream_end, or after an error other than FST_LONG, begins a new text; fst_encode ends a text, too.
 * A word of a kilobyte or more is read again when it has doubled, or at a part without bytes; until then, its ids and later ones wait.
 * FST_LONG: the part is not read, because it and the text that waits are longer than the fst_work allows. Push no bytes, then try again. */
int64_t fst_stream_push(fst_work *work, const char *text, size_t size, const int32_t **ids);
int64_t fst_stream_end(fst_work *work, const int32_t **ids);

/* Decode ids; write at most `capacity` bytes, without a final 0, and return the number of bytes of the whole text. Bytes of tokens that are
 * not UTF-8 are written as they are. */
int64_t fst_decode(const fst *table, const int32_t *ids, size_t count, int skip_special_tokens, char *text, size_t capacity);

/* Decode ids that arrive in parts. The bytes of all calls are those of fst_decode, and a character may be in two parts. Zeros begin a text, and
 * no call ends it. If the result exceeds `capacity`, the decoder is unchanged: call again with more memory. */
typedef struct { char is_inside, is_held, held; } fst_decoder;
int64_t fst_decode_push(const fst *table, fst_decoder *decoder, const int32_t *ids, size_t count, int skip_special_tokens, char *text,
                        size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
