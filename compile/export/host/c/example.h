/* The begin and the end of all example programs: read table.fst into memory, and free it. */
#ifndef FST_EXAMPLE_H
#define FST_EXAMPLE_H

#include "fst.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 }; /* bytes of a line */

typedef struct { void *image; fst *table; fst_work *work; } loaded;

static void *contents(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    char *data = NULL;
    if (file && !fseek(file, 0, SEEK_END) && (data = (char *)malloc(*size = (size_t)ftell(file)))) {
        rewind(file);
        if (fread(data, 1, *size, file) != *size) *size = 0;
    }
    if (file) fclose(file);
    return data;
}

/* Load the table; return 0 after an error. */
static int load(loaded *l) {
    int error = FST_IMAGE;
    size_t size = 0;
    l->image = contents("table.fst", &size);
    l->table = l->image ? fst_load(l->image, size, &error) : NULL;
    l->work = l->table ? fst_work_new(l->table, MOST) : NULL;
    if (!l->work) fprintf(stderr, "table.fst cannot be loaded: error %d\n", error);
    return l->work != NULL;
}

static void unload(loaded *l) { fst_work_free(l->work), fst_free(l->table), free(l->image); }

#endif
