/* See fst.h, and the format of images in the documentation of fst-toolkit. */
#include "fst.h"

#include <stdlib.h>
#include <string.h>

uint64_t fst_run(const uint64_t *words); /* in the exported object */
uint64_t fst_abi(void);

enum { TEXT, STARTS, STATE, IDS, IDS_SPANS, OFFSETS, CONTENTS, SPANS_OF, FLAGS, DROPS, PATH, ROLES };
enum { IS_UNCHANGED, ENCODE, REWRITE, ENCODE_REWRITTEN, RESTORE, TRIM, SPANS, PATHS = 2 * SPANS, PART = PATHS + 2, CALLS };
enum { KEPT, COUNT, BEFORE = 4, SIZE_BITS = 16, PAST_END = 64, ALIGNMENT = 64, UNKNOWN = 1, SKIPPED = 2, SHORTENED = 4, BUILT = 1 };
static const uint64_t FAILED = UINT64_MAX, MOST = (1u << 29) - 1, MOST_BYTES = 1u << 31, MOST_PER_UNIT = 1u << 12;

typedef struct { char magic[8]; uint64_t checksum, abi, size; uint32_t unit, fields, words, calls, roles, zero; } header;
typedef struct { uint64_t at, size, per_unit; } field;
typedef struct { uint32_t field, per_unit; uint64_t number; } word;
typedef struct { uint32_t first, count; } call;

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
    size_t units;        /* the most units of a text */
    char *memory;        /* of all fields that are not in the image */
    uint64_t *words;     /* of all calls */
    uint32_t *places;    /* the first byte of each character of the text */
    char *unread;        /* the end of a stream, which is not encoded yet */
    size_t left;         /* its size */
    int is_open;         /* whether there is a stream */
    char *base[];        /* the address of each field */
};

static uint64_t aligned(uint64_t size) { return (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1); }

static uint64_t sum(const uint64_t *words, uint64_t count) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++) found += words[i] * (2 * i + 1);
    return found;
}

static int is_stored(const field *f) { return f->at > BUILT; }

/* Point to the tables of an image, and prove that they are inside it, and that their numbers refer to parts of them. */
static int prove(fst *t, const char *image, size_t size) {
    const header *h = (const header *)image;
    t->image = image, t->head = h, t->fields = (const field *)(h + 1), t->words = (const word *)(t->fields + h->fields);
    t->calls = (const call *)(t->words + h->words), t->roles = (const uint32_t *)(t->calls + h->calls);
    uint64_t tables = sizeof *h + h->fields * (uint64_t)sizeof(field) + h->words * (uint64_t)sizeof(word) + h->calls * (uint64_t)sizeof(call);
    if (h->calls < CALLS || h->roles != ROLES || tables + ROLES * 4 > size) return FST_IMAGE;
    for (const field *f = t->fields; f < t->fields + h->fields; f++)
        if (f->size > MOST_BYTES || f->per_unit > MOST_PER_UNIT || (is_stored(f) && (f->at % 8 || f->at > size || f->size > size - f->at)))
            return FST_IMAGE;
    for (const word *x = t->words; x < t->words + h->words; x++)
        if (x->field > h->fields) return FST_IMAGE;
    for (const call *c = t->calls; c < t->calls + h->calls; c++)
        if (c->first > h->words || c->count > h->words - c->first) return FST_IMAGE;
    for (int i = 0; i < ROLES; i++)
        if (t->roles[i] > h->fields || (i <= IDS && !t->roles[i])) return FST_IMAGE;
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

/* Compute words from `first` on: addresses of fields, and numbers. */
static void fill(const fst *t, char *const *base, size_t units, uint64_t *words, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; i++) {
        const word *x = t->words + i;
        words[i - first] = x->field ? (uint64_t)(uintptr_t)base[x->field - 1] : x->number + (uint64_t)x->per_unit * units;
    }
}

static int build(fst *t) {
    uint64_t *words = malloc((t->head->words + 1) * 8);
    if (!words || !(t->memory = calloc(lay_out(t, BUILT, 0, NULL, NULL), 1))) return free(words), 0;
    for (uint32_t i = 0; i < t->head->fields; i++)
        if (is_stored(t->fields + i)) t->base[i] = (char *)t->image + t->fields[i].at;
    lay_out(t, BUILT, 0, t->memory, t->base);
    for (uint32_t i = CALLS; i < t->head->calls; i++) fill(t, t->base, 0, words, t->calls[i].first, t->calls[i].count), fst_run(words);
    return free(words), 1;
}

fst *fst_load(const void *image, size_t size, int *error) {
    const header *h = image;
    fst *t = NULL;
    *error = FST_IMAGE;
    if (size < sizeof *h || size % 8 || memcmp(h->magic, "fstimage", 8) || h->size != size || h->fields > size) return NULL;
    if (h->checksum != sum((const uint64_t *)image + 2, size / 8 - 2)) return NULL;
    if (h->abi != fst_abi()) return *error = FST_ABI, NULL;
    *error = FST_MEMORY;
    if (!(t = calloc(1, sizeof *t + h->fields * sizeof(char *)))) return NULL;
    if (!(*error = prove(t, image, size)) && !build(t)) *error = FST_MEMORY;
    return *error ? fst_free(t), NULL : t;
}

void fst_free(fst *t) {
    if (t) free(t->memory), free(t);
}

fst_work *fst_work_new(const fst *t, size_t most) {
    size_t pointers = t->head->fields * sizeof(char *);
    fst_work *w = calloc(1, sizeof *w + pointers);
    if (!w || most > MOST) return free(w), NULL;
    w->table = t, w->units = most;
    memcpy(w->base, t->base, pointers);
    w->memory = calloc(lay_out(t, 0, most, NULL, NULL), 1), w->words = malloc((t->head->words + 1) * 8), w->places = malloc((most + 2) * 4);
    w->unread = malloc(most + 1);
    if (!w->memory || !w->words || !w->places || !w->unread) return fst_work_free(w), NULL;
    lay_out(t, 0, most, w->memory, w->base);
    fill(t, w->base, most, w->words, 0, t->head->words);
    return w;
}

static char *role(const fst_work *w, int name) {
    uint32_t place = w->table->roles[name];
    return place ? w->base[place - 1] : NULL;
}

void fst_work_free(fst_work *w) {
    if (w) free(w->memory), free(w->words), free(w->places), free(w->unread), free(w);
}

/* Read a character; return the number of its bytes, or 0 if it is not UTF-8. */
static size_t read(const unsigned char *s, size_t left, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (!size || size > left) return 0;
    *code = size == 1 ? s[0] : s[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3F);
    }
    return *code < least[size] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000) ? 0 : size;
}

/* Copy a text to the memory of kernels, in their units, and with `spans` note its characters; return the number of units. */
static int64_t put(fst_work *w, const char *text, size_t size, int spans) {
    const unsigned char *s = (const unsigned char *)text;
    uint16_t *units = (uint16_t *)role(w, TEXT);
    int is_utf_8 = w->table->head->unit == 1;
    size_t n = 0, characters = 0;
    if (size > w->units) return FST_LONG;
    for (size_t i = 0, step; i < size; i += step) {
        uint32_t code;
        uint64_t eight;
        if (is_utf_8 && !spans && i + 8 <= size && (memcpy(&eight, s + i, 8), !(eight & 0x8080808080808080u))) {
            step = 8;
            continue;
        }
        if (!(step = read(s + i, size - i, &code))) return FST_TEXT;
        if (spans) w->places[characters++] = (uint32_t)i;
        if (is_utf_8) continue;
        if (code >= 0x10000) units[n++] = (uint16_t)(0xD7C0 + (code >> 10)), code = 0xDC00 | (code & 0x3FF);
        units[n++] = (uint16_t)code;
    }
    w->places[characters] = (uint32_t)size;
    if (is_utf_8) memcpy(units, text, size), n = size;
    return (int64_t)n;
}

static uint64_t run(fst_work *w, int name) { return fst_run(w->words + w->table->calls[name].first); }

static int64_t encode(fst_work *w, const char *text, size_t size, int spans) {
    const call *calls = w->table->calls + spans;
    const field *fields = w->table->fields;
    uint64_t *state = (uint64_t *)role(w, STATE), read;
    int64_t units, *starts = (int64_t *)role(w, STARTS);
    if (!calls[ENCODE].count) return FST_MISSING;
    if ((units = put(w, text, size, spans)) < 0) return units;
    memset(state, 0, fields[w->table->roles[STATE] - 1].size);
    w->is_open = 0, starts[0] = 0, starts[1] = units;
    if (!calls[IS_UNCHANGED].count || run(w, spans + IS_UNCHANGED) == 1) {
        if ((read = run(w, spans + ENCODE)) > (uint64_t)units) return FST_OTHER;
    } else {
        if (!calls[REWRITE].count || run(w, spans + REWRITE) == FAILED || run(w, spans + ENCODE_REWRITTEN) == FAILED) return FST_OTHER;
        if (spans && (!calls[RESTORE].count || run(w, spans + RESTORE) == FAILED)) return FST_OTHER;
    }
    if (calls[TRIM].count) run(w, spans + TRIM);
    return (int64_t)state[COUNT];
}

int64_t fst_encode(fst_work *w, const char *text, size_t size, const int32_t **ids) {
    int64_t count = encode(w, text, size, 0);
    if (ids) *ids = (const int32_t *)role(w, IDS);
    return count;
}

int64_t fst_encode_offsets(fst_work *w, const char *text, size_t size, const int32_t **ids, const int32_t **offsets) {
    int64_t count = encode(w, text, size, SPANS);
    int32_t *found = (int32_t *)role(w, OFFSETS);
    for (int64_t i = 0; i < 2 * count; i++) found[i] = (int32_t)w->places[found[i]]; /* from characters to bytes */
    if (ids) *ids = (const int32_t *)role(w, IDS_SPANS);
    if (offsets) *offsets = found;
    return count;
}

/* The size of a text without a character at its end that later bytes may complete. */
static size_t whole(const char *text, size_t size) {
    for (size_t back = 1; back < 4 && back <= size; back++) {
        unsigned char c = (unsigned char)text[size - back];
        if ((c & 0xC0) != 0x80) return c >= 0xC2 && c < 0xF5 && (c < 0xE0 ? 2u : c < 0xF0 ? 3u : 4u) > back ? size - back : size;
    }
    return size;
}

/* The number of bytes of the first units of a text. */
static size_t bytes_of(const char *text, int64_t units, int is_utf_8) {
    size_t size = 0;
    while (!is_utf_8 && units > 0) {
        unsigned char c = (unsigned char)text[size];
        size += c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4, units -= c < 0xF0 ? 1 : 2;
    }
    return is_utf_8 ? (size_t)units : size;
}

static int64_t part(fst_work *w, const char *text, size_t size, int is_last) {
    const fst *t = w->table;
    uint64_t *state = (uint64_t *)role(w, STATE), read;
    int64_t units, *starts = (int64_t *)role(w, STARTS);
    if (!t->calls[PART].count) return FST_MISSING;
    if (!w->is_open) memset(state, 0, t->fields[t->roles[STATE] - 1].size), w->left = 0;
    w->is_open = 1, state[COUNT] = state[BEFORE] = 0;
    if (size > w->units - w->left || w->left + size + state[KEPT] > w->units) return FST_LONG;
    if (size) memcpy(w->unread + w->left, text, size);
    w->left += size, size = is_last ? w->left : whole(w->unread, w->left), w->is_open = 0;
    if ((units = put(w, w->unread, size, 0)) < 0) return units;
    starts[0] = 0, starts[1] = units;
    if (t->calls[IS_UNCHANGED].count && run(w, IS_UNCHANGED) != 1) return FST_OTHER;
    if ((read = run(w, is_last ? ENCODE : PART)) > (uint64_t)units) return FST_OTHER;
    size = bytes_of(w->unread, (int64_t)read, t->head->unit == 1);
    w->is_open = !is_last, w->left -= size;
    memmove(w->unread, w->unread + size, w->left);
    return (int64_t)state[COUNT];
}

int64_t fst_stream_push(fst_work *w, const char *text, size_t size, const int32_t **ids) {
    if (ids) *ids = (const int32_t *)role(w, IDS);
    return part(w, text, size, 0);
}

int64_t fst_stream_end(fst_work *w, const int32_t **ids) {
    if (ids) *ids = (const int32_t *)role(w, IDS);
    return part(w, NULL, 0, 1);
}

int64_t fst_decode(const fst *t, const int32_t *ids, size_t count, int skip_special_tokens, char *text, size_t capacity) {
    uint64_t end = 0, is_first = 1;
    int mask = skip_special_tokens ? UNKNOWN | SKIPPED : UNKNOWN;
    if (!t->roles[CONTENTS]) return FST_MISSING;
    const char *contents = t->base[t->roles[CONTENTS] - 1];
    const uint64_t *spans = (const uint64_t *)t->base[t->roles[SPANS_OF] - 1], known = t->fields[t->roles[FLAGS] - 1].size;
    const uint8_t *flags = (const uint8_t *)t->base[t->roles[FLAGS] - 1], *drops = (const uint8_t *)t->base[t->roles[DROPS] - 1];
    while (count && ((uint32_t)ids[count - 1] >= known || flags[ids[count - 1]] & mask)) count--;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = (uint32_t)ids[i];
        if (id >= known || flags[id] & mask) continue;
        uint64_t at = spans[id] >> SIZE_BITS, stop = at + (spans[id] & ((1 << SIZE_BITS) - 1)), has_bytes = at + (drops[id] >> 4) < stop;
        at += is_first ? drops[id] & 15 : drops[id] >> 4;
        is_first = is_first && !has_bytes;
        if (i + 1 == count && at < stop && flags[id] & SHORTENED) stop--;
        for (; at < stop; at++, end++)
            if (end < capacity) text[end] = contents[at];
    }
    return (int64_t)end;
}
