/* See fst.h, and the format of images in the documentation of fst-toolkit. */
#include "fst.h"

#include <stdlib.h>
#include <string.h>

uint64_t fst_run(const uint64_t *words); /* in the exported object */
uint64_t fst_abi(void);

enum { TEXT, STARTS, STATE, IDS, IDS_SPANS, OFFSETS, CONTENTS, FIRST, NEXT, FLAGS, ROLES };
enum { IS_UNCHANGED, ENCODE, REWRITE, ENCODE_REWRITTEN, RESTORE, SPANS, CALLS = 2 * SPANS };
enum { COUNT = 1, SIZE_BITS = 16, PAST_END = 64, ALIGNMENT = 64, UNKNOWN = 1, SKIPPED = 2, SHORTENED = 4 };
static const uint64_t FAILED = UINT64_MAX, MOST = (1u << 29) - 1;

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
};

struct fst_work {
    const fst *table;
    size_t units;        /* the most units of a text */
    char *memory;        /* of all fields that are not in the image */
    uint64_t *words;     /* of all calls */
    uint32_t *places;    /* the first byte of each character of the text */
    char *base[];        /* the address of each field */
};

static uint64_t aligned(uint64_t size) { return (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1); }

static uint64_t sum(const uint64_t *words, uint64_t count) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++) found += words[i] * (2 * i + 1);
    return found;
}

static int proven(const fst *t, size_t size) {
    const header *h = t->head;
    uint64_t tables = sizeof(header) + (uint64_t)h->fields * sizeof(field) + (uint64_t)h->words * sizeof(word);
    if (size < sizeof(header) || memcmp(h->magic, "fstimage", 8) || h->size != size || size % 8) return FST_IMAGE;
    if (h->checksum != sum((const uint64_t *)t->image + 2, size / 8 - 2)) return FST_IMAGE;
    if (h->abi != fst_abi()) return FST_ABI;
    if (h->calls != CALLS || h->roles != ROLES || tables + CALLS * sizeof(call) + ROLES * 4 > size) return FST_IMAGE;
    return 0;
}

fst *fst_load(const void *image, size_t size, int *error) {
    fst *t = malloc(sizeof *t);
    if (t) {
        t->image = image, t->head = image;
        *error = size < sizeof(header) ? FST_IMAGE : proven(t, size);
        if (!*error) {
            t->fields = (const field *)(t->head + 1);
            t->words = (const word *)(t->fields + t->head->fields);
            t->calls = (const call *)(t->words + t->head->words);
            t->roles = (const uint32_t *)(t->calls + CALLS);
            return t;
        }
        free(t);
    } else {
        *error = FST_MEMORY;
    }
    return NULL;
}

void fst_free(fst *table) { free(table); }

static uint64_t size_of(const field *f, size_t units) { return f->at ? 0 : aligned(f->size + f->per_unit * units); }

static char *role(const fst_work *w, int name) {
    uint32_t place = w->table->roles[name];
    return place ? w->base[place - 1] : NULL;
}

fst_work *fst_work_new(const fst *t, size_t most) {
    const header *h = t->head;
    uint64_t total = ALIGNMENT, at;
    fst_work *w = calloc(1, sizeof *w + h->fields * sizeof(char *));
    if (!w || most > MOST) return free(w), NULL;
    w->table = t, w->units = most;
    for (uint32_t i = 0; i < h->fields; i++) total += size_of(t->fields + i, most);
    w->memory = calloc(total, 1), w->words = malloc((h->words + 1) * 8), w->places = malloc((most + 2) * 4);
    if (!w->memory || !w->words || !w->places) return fst_work_free(w), NULL;
    at = aligned((uintptr_t)w->memory) - (uintptr_t)w->memory;
    for (uint32_t i = 0; i < h->fields; i++) {
        w->base[i] = t->fields[i].at ? (char *)t->image + t->fields[i].at : w->memory + at;
        at += size_of(t->fields + i, most);
    }
    for (uint32_t i = 0; i < h->words; i++) {
        const word *x = t->words + i;
        w->words[i] = x->field ? (uint64_t)(uintptr_t)w->base[x->field - 1] : x->number + (uint64_t)x->per_unit * most;
    }
    return w;
}

void fst_work_free(fst_work *w) {
    if (w) free(w->memory), free(w->words), free(w->places), free(w);
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
    starts[0] = 0, starts[1] = units;
    if (!calls[IS_UNCHANGED].count || run(w, spans + IS_UNCHANGED) == 1) {
        read = run(w, spans + ENCODE);
        return read > (uint64_t)units ? FST_OTHER : (int64_t)state[COUNT];
    }
    if (!calls[REWRITE].count || run(w, spans + REWRITE) == FAILED || run(w, spans + ENCODE_REWRITTEN) == FAILED) return FST_OTHER;
    return spans && (!calls[RESTORE].count || run(w, spans + RESTORE) == FAILED) ? FST_OTHER : (int64_t)state[COUNT];
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

/* The array of a role, and its number of bytes. */
static const void *stored(const fst *t, int name, uint64_t *size) {
    const field *f = t->fields + t->roles[name] - 1;
    *size = f->size;
    return t->image + f->at;
}

int64_t fst_decode(const fst *t, const int32_t *ids, size_t count, int skip_special_tokens, char *text, size_t capacity) {
    uint64_t known, unused, end = 0, is_first = 1;
    if (!t->roles[CONTENTS]) return FST_MISSING;
    const char *contents = stored(t, CONTENTS, &unused);
    const uint64_t *first = stored(t, FIRST, &unused), *next = stored(t, NEXT, &unused);
    const uint8_t *flags = stored(t, FLAGS, &known);
    int mask = skip_special_tokens ? UNKNOWN | SKIPPED : UNKNOWN;
    while (count && ((uint32_t)ids[count - 1] >= known || flags[ids[count - 1]] & mask)) count--;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = (uint32_t)ids[i];
        if (id >= known || flags[id] & mask) continue;
        uint64_t span = is_first ? first[id] : next[id], size = span & ((1 << SIZE_BITS) - 1);
        is_first = is_first && !(next[id] & ((1 << SIZE_BITS) - 1));
        if (size && i + 1 == count && flags[id] & SHORTENED) size--;
        for (uint64_t k = 0; k < size; k++, end++)
            if (end < capacity) text[end] = contents[(span >> SIZE_BITS) + k];
    }
    return (int64_t)end;
}
