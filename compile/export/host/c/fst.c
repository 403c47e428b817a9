/* See fst.h, and the format of images in the documentation of fst-toolkit. */
#include "fst.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
uint64_t fst_run(const uint64_t *words); /* in the exported object */
uint64_t fst_abi(void);
extern const uint8_t fst_forms[];        /* a byte for each argument of each kernel: AXES | WRITES | bytes of an element << ITEM */
#ifdef __cplusplus
}
#endif

enum { TEXT, STARTS, STATE, IDS, IDS_SPANS, OFFSETS, EARLIER, REWRITTEN, CONTENTS, SPANS_OF, FLAGS, DROPS, PATH, ROLES };
enum { IS_UNCHANGED, ENCODE, PART, TRIM, SPANS, PATHS = 2 * SPANS, CALLS = PATHS + 2 };
enum { KEPT, COUNT, BEFORE = 4, SIZE_BITS = 16, PAST_END = 64, ALIGNMENT = 64, LONG_WORD = 1024, UNKNOWN = 1, SKIPPED = 2, SHORTENED = 4 };
enum { WORKING, BUILT };                 /* kinds of fields that are not stored */
enum { AXES = 7, WRITES = 8, ITEM = 4, ENDS = 255 };
static const uint64_t FAILED = UINT64_MAX, MOST = (1u << 29) - 1, MOST_BYTES = 1u << 31, MOST_PER_UNIT = 1u << 12;
static const size_t BLOCK = 1 << 14; /* the units that kernels read at once, unless a word is longer */

typedef struct { char magic[8]; uint64_t checksum, abi, size; uint32_t unit, fields, words, calls, roles, own; } header;
typedef struct { uint64_t at, size, per_unit; } field;
typedef struct { uint32_t field, per_unit; uint64_t number; } word;
typedef struct { uint32_t first, count; } call;
typedef struct { char *at; size_t filled, room; } buffer; /* bytes in memory that grows */

struct fst {
    const char *image;
    const header *head;
    const field *fields;
    const word *words;
    const call *calls;
    const uint32_t *roles;
    char *memory;        /* of the fields that are built */
    char *base[];        /* the address of each field in the image, or of each built one */
};

struct fst_work {
    const fst *table;
    size_t most;         /* the most bytes of a text */
    size_t units;        /* the most units that kernels can read at once */
    uint64_t *words;     /* of all calls; `base` and the fields that are not in the image are in the same memory */
    char **base;         /* the address of each field */
    buffer ids, offsets; /* of several blocks; those of a single block remain in the memory of kernels */
    buffer unread;       /* the end of a stream, which is not encoded yet */
    uint64_t seen;       /* the size of the text that was not encoded when the stream was read last */
    int is_open;         /* whether there is a stream */
};

static uint64_t aligned(uint64_t size) { return (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1); }

static uint64_t sum(const uint64_t *words, uint64_t count) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++) found += words[i] * (2 * i + 1);
    return found;
}

/* Allocate zeros. */
static void *zeros(uint64_t size) { return size < SIZE_MAX / 2 ? calloc((size_t)size + 1, 1) : NULL; }

/* The number of bytes of an array for texts of at most `units` units; 0 without the array. */
static uint64_t room(const fst *t, int role, size_t units) {
    const field *f = t->fields + t->roles[role] - 1;
    return t->roles[role] ? f->size + f->per_unit * units : 0;
}

/* An array, by the addresses of the fields; NULL without the array. */
static void *array(const fst *t, char *const *base, int role) { return t->roles[role] ? base[t->roles[role] - 1] : NULL; }

static int is_stored(const field *f) { return f->at > BUILT; }

/* Point to the tables of an image, and prove that they are inside it, and that their numbers refer to parts of them. What kernels need of the
 * numbers in its arrays is not proven: kernels of an object that is exported with --checked check each index. */
static int prove(fst *t, const char *image, size_t size) {
    const header *h = (const header *)image;
    t->image = image, t->head = h, t->fields = (const field *)(h + 1), t->words = (const word *)(t->fields + h->fields);
    t->calls = (const call *)(t->words + h->words), t->roles = (const uint32_t *)(t->calls + h->calls);
    uint64_t tables = sizeof *h + h->fields * (uint64_t)sizeof(field) + h->words * (uint64_t)sizeof(word) + h->calls * (uint64_t)sizeof(call);
    if (h->calls < CALLS || h->own > h->calls - CALLS || h->roles < ROLES || tables + h->roles * (uint64_t)4 > size || (h->unit != 1 && h->unit != 2)) return FST_IMAGE;
    for (const field *f = t->fields; f < t->fields + h->fields; f++)
        if (f->size > MOST_BYTES || f->per_unit > (f->at == WORKING ? MOST_PER_UNIT : 0) ||
            (is_stored(f) && (f->at % 8 || f->at > size || f->size > size - f->at)))
            return FST_IMAGE;
    for (const word *x = t->words; x < t->words + h->words; x++)
        if (x->field > h->fields) return FST_IMAGE;
    for (const call *c = t->calls; c < t->calls + h->calls; c++)
        if (c->first > h->words || c->count > h->words - c->first) return FST_IMAGE;
    for (uint32_t i = 0; i < h->roles; i++)
        if (t->roles[i] > h->fields || (i < IDS && !t->roles[i]) ||
            ((i <= REWRITTEN || i >= ROLES) && t->roles[i] && t->fields[t->roles[i] - 1].at != WORKING))
            return FST_IMAGE;
    return room(t, TEXT, 0) < PAST_END * h->unit || t->fields[t->roles[TEXT] - 1].per_unit < h->unit || room(t, STARTS, 0) < 16 ||
           room(t, STATE, 0) < (BEFORE + 1) * 8 || (t->roles[EARLIER] && room(t, EARLIER, 0) < 8) ? FST_IMAGE : 0;
}

/* Prove that the spans of all tokens are inside their bytes. */
static int prove_tokens(const fst *t) {
    uint64_t known = room(t, FLAGS, 0), size = room(t, CONTENTS, 0);
    if (!t->roles[CONTENTS]) return 0;
    for (int i = CONTENTS; i <= DROPS; i++)
        if (!array(t, t->base, i)) return FST_IMAGE;
    if (room(t, SPANS_OF, 0) / 8 < known || room(t, DROPS, 0) < known) return FST_IMAGE;
    for (const uint64_t *span = (const uint64_t *)array(t, t->base, SPANS_OF); known--; span++)
        if ((*span >> SIZE_BITS) + (*span & ((1 << SIZE_BITS) - 1)) > size) return FST_IMAGE;
    return 0;
}

/* Give memory to the fields that are not stored and have a kind, `at`; return the number of bytes. Without memory, only count. */
static uint64_t lay_out(const fst *t, uint64_t kind, size_t units, char *memory, char **base) {
    uint64_t end = ALIGNMENT, shift = memory ? aligned((uintptr_t)memory) - (uintptr_t)memory : 0;
    for (uint32_t i = 0; i < t->head->fields; i++) {
        const field *f = t->fields + i;
        if (f->at != kind) continue;
        if (memory) base[i] = memory + shift + end - ALIGNMENT;
        end += aligned(f->size + f->per_unit * units);
    }
    return end;
}

static uint64_t number(const word *x, size_t units) { return x->number + (uint64_t)x->per_unit * units; }

/* The forms of the arguments of a kernel; NULL: there is no such kernel. */
static const uint8_t *forms_of(uint64_t kernel) {
    const uint8_t *form = fst_forms;
    for (; kernel > 1 && *form != ENDS; kernel--, form++)
        while (*form != ENDS) form++;
    return kernel && *form != ENDS ? form : NULL;
}

/* Compute the words of a call: addresses of fields, and numbers. Prove that they are the arguments of its kernel, that arrays are inside their
 * fields, and that those to which the kernel may write are of a kind. */
static int fill(const fst *t, char *const *base, size_t units, const call *c, uint64_t kind, uint64_t *words) {
    const word *x = t->words + c->first, *end = x + c->count;
    const uint8_t *form = c->count ? forms_of(number(x, units)) : NULL;
    if (!form || x->field) return !c->count;
    for (*words++ = number(x++, units); *form != ENDS; form++) {
        int axes = *form & AXES;
        if (end - x < 1 + axes || !x->field != !*form) return 0;
        if (!*form) {
            *words++ = number(x++, units);
            continue;
        }
        const field *f = t->fields + x->field - 1;
        uint64_t size = *form >> ITEM, most = f->size + f->per_unit * units;
        *words++ = (uint64_t)(uintptr_t)base[x++->field - 1];
        for (; axes; axes--, x++, words++) {
            *words = number(x, units);
            if (x->field || (*words && size > most / *words)) return 0;
            size *= *words;
        }
        if (size && ((*form & WRITES && f->at != kind) || !base[f - t->fields])) return 0;
    }
    return x == end;
}

static int build(fst *t) {
    uint64_t *words = (uint64_t *)zeros(t->head->words * (uint64_t)8);
    int error = words && (t->memory = (char *)zeros(lay_out(t, BUILT, 0, NULL, NULL))) ? 0 : FST_MEMORY;
    for (uint32_t i = 0; !error && i < t->head->fields; i++)
        if (is_stored(t->fields + i)) t->base[i] = (char *)t->image + t->fields[i].at;
    if (!error) lay_out(t, BUILT, 0, t->memory, t->base);
    for (const call *c = t->calls + CALLS + t->head->own; !error && c < t->calls + t->head->calls; c++)
        if (!c->count || !fill(t, t->base, 0, c, BUILT, words) || fst_run(words) == FAILED) error = FST_IMAGE;
    return free(words), error;
}

fst *fst_load(const void *image, size_t size, int *error) {
    const header *h = (const header *)image;
    fst *t = NULL;
    int ignored;
    if (!error) error = &ignored;
    *error = FST_IMAGE;
    if (size < sizeof *h || size % 8 || (uintptr_t)image % 8) return NULL;
    if (memcmp(h->magic, "fstimage", 8) || h->size != size || h->fields > size / sizeof(field)) return NULL;
    if (h->checksum != sum((const uint64_t *)image + 2, size / 8 - 2)) return NULL;
    if (h->abi != fst_abi()) return *error = FST_ABI, (fst *)NULL;
    *error = FST_MEMORY;
    if (!(t = (fst *)zeros(sizeof *t + h->fields * (uint64_t)sizeof(char *)))) return NULL;
    if (!(*error = prove(t, (const char *)image, size)) && !(*error = build(t))) *error = prove_tokens(t);
    return *error ? fst_free(t), (fst *)NULL : t;
}

void fst_free(fst *t) {
    if (t) free(t->memory), free(t);
}

/* Give kernels memory for `units` units, with the contents of their memory for another number; after an error, the memory is unchanged. */
static int lay_out_work(fst_work *w, size_t units) {
    const fst *t = w->table;
    uint64_t tables = t->head->words * (uint64_t)8 + t->head->fields * (uint64_t)sizeof(char *);
    uint64_t *words = units > MOST ? NULL : (uint64_t *)zeros(tables + lay_out(t, WORKING, units, NULL, NULL));
    if (!words) return FST_MEMORY;
    char **base = (char **)(void *)(words + t->head->words);
    memcpy(base, t->base, t->head->fields * sizeof(char *));
    lay_out(t, WORKING, units, (char *)words + tables, base);
    for (const call *c = t->calls; c < t->calls + CALLS + t->head->own; c++)
        if (!fill(t, base, units, c, WORKING, words + c->first)) return free(words), FST_IMAGE;
    for (uint32_t i = 0; w->words && i < t->head->fields; i++) {
        const field *f = t->fields + i;
        if (f->at == WORKING) memcpy(base[i], w->base[i], (size_t)(f->size + f->per_unit * (units < w->units ? units : w->units)));
    }
    free(w->words), w->words = words, w->base = base, w->units = units;
    return 0;
}

static size_t usual_units(const fst_work *w) { return w->most < BLOCK ? w->most : BLOCK; }

fst_work *fst_work_new(const fst *t, size_t most) {
    fst_work *w = most > MOST ? NULL : (fst_work *)zeros(sizeof *w);
    if (!w) return NULL;
    w->table = t, w->most = most, w->unread.room = usual_units(w), w->unread.at = (char *)zeros(w->unread.room);
    return w->unread.at && !lay_out_work(w, usual_units(w)) ? w : (fst_work_free(w), (fst_work *)NULL);
}

static void *role(const fst_work *w, int name) { return array(w->table, w->base, name); }

static uint64_t *state_of(const fst_work *w) { return (uint64_t *)role(w, STATE); }

void fst_work_free(fst_work *w) {
    if (w) free(w->words), free(w->ids.at), free(w->offsets.at), free(w->unread.at), free(w);
}

/* Append bytes to a buffer. */
static int append(buffer *b, const void *bytes, size_t size) {
    size_t filled = b->filled + size, room = filled + filled / 2;
    if (filled > b->room) {
        char *larger = (char *)zeros(room);
        if (!larger) return FST_MEMORY;
        if (b->filled) memcpy(larger, b->at, b->filled);
        free(b->at), b->at = larger, b->room = room;
    }
    if (size) memcpy(b->at + b->filled, bytes, size);
    return b->filled = filled, 0;
}

/* The number of bytes of a character with this first byte; 0: no character has it. */
static size_t size_of(unsigned char first) {
    return first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

/* Read a character; return the number of its bytes, or 0 if it is not UTF-8. */
static size_t read(const unsigned char *s, size_t left, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = size_of(s[0]);
    if (!size || size > left) return 0;
    *code = size == 1 ? s[0] : s[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3F);
    }
    return *code < least[size] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000) ? 0 : size;
}

/* Copy a text to the memory of kernels, in their units; return the number of units. */
static int64_t put(fst_work *w, const char *text, size_t size) {
    const unsigned char *s = (const unsigned char *)text;
    uint16_t *units = (uint16_t *)role(w, TEXT);
    int is_utf_8 = w->table->head->unit == 1;
    size_t n = 0;
    for (size_t i = 0, step; i < size; i += step) {
        uint32_t code;
        uint64_t eight;
        if (is_utf_8 && i + 8 <= size && (memcpy(&eight, s + i, 8), !(eight & 0x8080808080808080u))) {
            step = 8;
            continue;
        }
        if (!(step = read(s + i, size - i, &code))) return FST_TEXT;
        if (is_utf_8) continue;
        if (code >= 0x10000) units[n++] = (uint16_t)(0xD7C0 + (code >> 10)), code = 0xDC00 | (code & 0x3FF);
        units[n++] = (uint16_t)code;
    }
    if (!is_utf_8) return (int64_t)n;
    if (size) memcpy(units, text, size);
    return (int64_t)size;
}

static uint64_t run(fst_work *w, int name) {
    const call *c = w->table->calls + name;
    return c->count ? fst_run(w->words + c->first) : FAILED;
}

/* The number of ids that kernels have written. */
static int64_t counted(const fst_work *w, int spans) {
    uint64_t count = state_of(w)[COUNT], most = room(w->table, spans ? IDS_SPANS : IDS, w->units) / 4;
    if (count > most || (spans && count > room(w->table, OFFSETS, w->units) / 8)) return FST_OTHER;
    return (int64_t)count;
}

/* The size of a text without a character at its end that later bytes may complete. */
static size_t whole(const char *text, size_t size) {
    for (size_t back = 1; back < 4 && back <= size; back++) {
        unsigned char c = (unsigned char)text[size - back];
        if ((c & 0xC0) != 0x80) return size_of(c) > back ? size - back : size;
    }
    return size;
}

/* The number of bytes of the first units of a text. */
static size_t bytes_of(const char *text, int64_t units, int is_utf_8) {
    size_t size = 0, step;
    for (; !is_utf_8 && units > 0; size += step, units -= step < 4 ? 1 : 2) step = size_of((unsigned char)text[size]);
    return is_utf_8 ? (size_t)units : size;
}

static int is_continuation(char byte) { return (byte & 0xC0) == 0x80; }

static size_t characters(const char *text, size_t size) {
    size_t count = 0;
    while (size--) count += !is_continuation(*text++);
    return count;
}

/* The size of the next block, for which kernels get memory: at least `least` bytes and what they have kept, or all that are left, as without a
 * call for parts. */
static int64_t next_block(fst_work *w, const char *text, size_t left, uint64_t least, int spans) {
    const field *rewritten = w->table->fields + w->table->roles[REWRITTEN] - 1;
    uint64_t kept = state_of(w)[KEPT], growth = w->table->roles[REWRITTEN] ? rewritten->per_unit : 1;
    int error;
    if (kept > MOST_BYTES || !growth) return FST_OTHER;
    least = w->table->calls[spans + PART].count ? least + kept : left;
    uint64_t reserved = (kept + growth - 1) / growth, units = reserved + (least < left ? least : left);
    if (units > w->units && (error = lay_out_work(w, (size_t)units))) return error;
    size_t most = w->units - (size_t)reserved;
    return (int64_t)(most < left ? whole(text, most) : left);
}

/* Encode a block; return the number of its bytes that are read. */
static int64_t encode_block(fst_work *w, int name, const char *text, size_t size, int spans) {
    int64_t units = put(w, text, size), *starts = (int64_t *)role(w, STARTS);
    uint64_t *earlier = (uint64_t *)role(w, EARLIER), read;
    if (units < 0) return units;
    starts[0] = 0, starts[1] = units, state_of(w)[COUNT] = 0;
    if (w->table->calls[spans + IS_UNCHANGED].count && run(w, spans + IS_UNCHANGED) != 1) return FST_OTHER;
    if ((read = run(w, spans + name)) > (uint64_t)units) return FST_OTHER;
    if (earlier) *earlier = w->ids.filled / 4;
    if (w->table->calls[spans + TRIM].count && run(w, spans + TRIM) == FAILED) return FST_OTHER;
    return (int64_t)bytes_of(text, (int64_t)read, w->table->head->unit == 1);
}

/* Encode a text or a part of one in blocks; set *size to the number of bytes that are read, and return the number of ids. What waits after a
 * block is read again with as much new text, so that the time is linear in a word of any size. */
static int64_t encode_blocks(fst_work *w, const char *text, size_t *size, int is_last, int spans) {
    uint64_t before = 0, waiting = 0;
    w->ids.filled = w->offsets.filled = 0;
    for (size_t at = 0;;) {
        int64_t block = next_block(w, text + at, *size - at, 2 * waiting, spans), read, count;
        int is_end = block == (int64_t)(*size - at);
        if (block < 0) return block;
        state_of(w)[BEFORE] = before;
        if ((read = encode_block(w, is_end && is_last ? ENCODE : PART, text + at, (size_t)block, spans)) < 0) return read;
        if ((count = counted(w, spans)) < 0) return count;
        if (is_end && !w->ids.filled) return *size = at + (size_t)read, count;
        if (append(&w->ids, role(w, spans ? IDS_SPANS : IDS), 4 * (size_t)count)) return FST_MEMORY;
        if (spans && append(&w->offsets, role(w, OFFSETS), 8 * (size_t)count)) return FST_MEMORY;
        if (spans) before += characters(text + at, (size_t)read);
        waiting = (uint64_t)(block - read), at += (size_t)read;
        if (is_end) return *size = at, (int64_t)(w->ids.filled / 4);
    }
}

/* Begin a text, with memory for a usual block. */
static int begin(fst_work *w) {
    int error = w->units == usual_units(w) ? 0 : lay_out_work(w, usual_units(w));
    memset(state_of(w), 0, (size_t)room(w->table, STATE, 0));
    return w->is_open = 0, error;
}

static int64_t encode(fst_work *w, const char *text, size_t size, int spans) {
    int error = begin(w);
    if (!w->table->calls[spans + ENCODE].count) return FST_MISSING;
    if (size > w->most) return FST_LONG;
    return error ? error : encode_blocks(w, text, &size, 1, spans);
}

/* The ids or offsets that a call has found. */
static int32_t *found(const fst_work *w, const buffer *b, int name) { return (int32_t *)(b->filled ? (void *)b->at : role(w, name)); }

int64_t fst_encode(fst_work *w, const char *text, size_t size, const int32_t **ids) {
    int64_t count = encode(w, text, size, 0);
    if (ids) *ids = found(w, &w->ids, IDS);
    return count;
}

/* Convert places from characters to bytes. Nearly all places ascend; that of special ids is 0. */
static int in_bytes(const char *text, size_t size, int32_t *places, int64_t count) {
    size_t at = 0;
    int32_t character = 0;
    for (int32_t *place = places; place < places + count; place++) {
        if (!*place) continue;
        for (; character < *place && at < size; character++)
            for (at++; at < size && is_continuation(text[at]);) at++;
        for (; character > *place && at; character--)
            for (at--; at && is_continuation(text[at]);) at--;
        if (character != *place) return FST_OTHER;
        *place = (int32_t)at;
    }
    return 0;
}

int64_t fst_encode_offsets(fst_work *w, const char *text, size_t size, const int32_t **ids, const int32_t **offsets) {
    int64_t count = encode(w, text, size, SPANS);
    int32_t *places = found(w, &w->offsets, OFFSETS);
    if (count > 0 && in_bytes(text, size, places, 2 * count)) return FST_OTHER;
    if (ids) *ids = found(w, &w->ids, IDS_SPANS);
    if (offsets) *offsets = places;
    return count;
}

/* Whether to wait for more of a long word before it is read again, so that the time is linear in its size. */
static int waits(const fst_work *w, uint64_t waiting) {
    uint64_t seen = w->seen, rest = (w->most - seen) / 2;
    return seen >= LONG_WORD && waiting - seen < (seen < rest ? seen : rest);
}

static int64_t part(fst_work *w, const char *text, size_t size, int is_last) {
    buffer *unread = &w->unread;
    int64_t count;
    int error;
    if (!w->is_open) {
        if ((error = begin(w))) return error;
        unread->filled = 0, w->seen = 0;
    }
    uint64_t kept = state_of(w)[KEPT];
    w->is_open = 1, w->ids.filled = 0;
    if (size > w->most - unread->filled || unread->filled + size + kept > w->most) return FST_LONG;
    if (append(unread, text, size)) return w->is_open = 0, FST_MEMORY;
    if (size && waits(w, unread->filled + kept)) return 0;
    w->is_open = 0, size = is_last ? unread->filled : whole(unread->at, unread->filled);
    if ((count = encode_blocks(w, unread->at, &size, is_last, 0)) < 0) return count;
    w->is_open = !is_last, unread->filled -= size, w->seen = unread->filled + state_of(w)[KEPT];
    memmove(unread->at, unread->at + size, unread->filled);
    return count;
}

int64_t fst_stream_push(fst_work *w, const char *text, size_t size, const int32_t **ids) {
    int64_t count = part(w, text, size, 0);
    if (ids) *ids = found(w, &w->ids, IDS);
    return count;
}

int64_t fst_stream_end(fst_work *w, const int32_t **ids) {
    int64_t count = part(w, NULL, 0, 1);
    if (ids) *ids = found(w, &w->ids, IDS);
    return count;
}

int64_t fst_decode_push(const fst *t, fst_decoder *decoder, const int32_t *ids, size_t count, int skip_special_tokens, char *text, size_t capacity) {
    fst_decoder d = *decoder;
    uint64_t end = 0;
    int mask = skip_special_tokens ? UNKNOWN | SKIPPED : UNKNOWN;
    const char *contents = (const char *)array(t, t->base, CONTENTS);
    const uint64_t *spans = (const uint64_t *)array(t, t->base, SPANS_OF), known = room(t, FLAGS, 0);
    const uint8_t *flags = (const uint8_t *)array(t, t->base, FLAGS), *drops = (const uint8_t *)array(t, t->base, DROPS);
    if (!contents) return FST_MISSING;
    for (; count--; ids++) {
        uint32_t id = (uint32_t)*ids;
        if (id >= known || flags[id] & mask) continue;
        uint64_t at = spans[id] >> SIZE_BITS, stop = at + (spans[id] & ((1 << SIZE_BITS) - 1)), later = at + (drops[id] >> 4);
        if (d.is_held && end++ < capacity) text[end - 1] = d.held;
        at = d.is_inside ? later : at + (drops[id] & 15);
        d.is_inside |= later < stop;
        if ((d.is_held = at < stop && flags[id] & SHORTENED)) d.held = contents[--stop];
        for (; at < stop; at++, end++)
            if (end < capacity) text[end] = contents[at];
    }
    if (end <= capacity) *decoder = d;
    return (int64_t)end;
}

int64_t fst_decode(const fst *t, const int32_t *ids, size_t count, int skip_special_tokens, char *text, size_t capacity) {
    fst_decoder decoder = {0, 0, 0};
    return fst_decode_push(t, &decoder, ids, count, skip_special_tokens, text, capacity);
}

/* For the files of machines, see own.h. */

uint32_t fst_own_calls(const fst_work *w) { return w->table->head->own; }

uint64_t fst_own_run(fst_work *w, uint32_t number) {
    const call *c = w->table->calls + CALLS + number;
    return number >= fst_own_calls(w) ? FAILED : c->count ? fst_run(w->words + c->first) : 0;
}

void *fst_own_array(const fst_work *w, int number, uint64_t *size) {
    int is_known = number >= -ROLES && (number < 0 || (uint32_t)number < w->table->head->roles - ROLES);
    *size = is_known ? room(w->table, ROLES + number, w->units) : 0;
    return *size ? role(w, ROLES + number) : NULL;
}

int64_t fst_own_put(fst_work *w, const char *text, size_t size, uint64_t units) {
    int64_t put_units, *starts;
    int error;
    w->is_open = 0;
    if (size > w->most || units > w->most) return FST_LONG;
    if (units < size) units = size;
    if (units > w->units && (error = lay_out_work(w, (size_t)units))) return error;
    starts = (int64_t *)role(w, STARTS);
    if ((put_units = put(w, text, size)) >= 0) starts[0] = 0, starts[1] = put_units;
    return put_units;
}
