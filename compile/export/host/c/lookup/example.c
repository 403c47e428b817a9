/* Look up each line of standard input.
 *
 *     cc -O2 example.c lookup.c fst.c fst.o -o example && echo "flies" | ./example
 */
#include "lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

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

int main(void) {
    static char line[MOST + 2];
    int error = FST_IMAGE;
    size_t size = 0;
    void *image = contents("table.fst", &size);
    fst *table = image ? fst_load(image, size, &error) : NULL;
    fst_work *work = table ? fst_work_new(table, MOST) : NULL;
    if (!work) return fprintf(stderr, "table.fst cannot be loaded: error %d\n", error), 1;
    while (fgets(line, sizeof line, stdin)) {
        fst_analysis found[8];
        int64_t count = fst_lookup(work, line, strcspn(line, "\n"), 0, found, 8, NULL);
        if (count < 0) return fprintf(stderr, "a line cannot be looked up: error %d\n", (int)count), 1;
        printf("%.*s", (int)strcspn(line, "\n"), line);
        for (int64_t i = 0; i < count && i < 8; i++) {
            char text[1000];
            int64_t written = fst_decode(table, found[i].pieces, found[i].count, 0, text, sizeof text);
            printf("\t%.*s", written < 1000 ? (int)written : 1000, text);
        }
        puts("");
    }
    fst_work_free(work), fst_free(table), free(image);
    return 0;
}
