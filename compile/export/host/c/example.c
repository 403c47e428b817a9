/* Encode each line of standard input, and print its ids.
 *
 *     cc -O2 example.c fst.c fst.o -o example && echo "Hello world" | ./example
 */
#include "fst.h"

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
        const int32_t *ids;
        int64_t count = fst_encode(work, line, strcspn(line, "\n"), &ids);
        if (count < 0) return fprintf(stderr, "a line cannot be encoded: error %d\n", (int)count), 1;
        for (int64_t i = 0; i < count; i++) printf(i ? " %d" : "%d", (int)ids[i]);
        puts("");
    }
    fst_work_free(work), fst_free(table), free(image);
    return 0;
}
