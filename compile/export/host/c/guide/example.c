/* Print the ids that may begin a text, and the states after them.
 *
 *     cc -O2 example.c guide.c fst.c fst.o -o example && ./example
 */
#include "guide.h"

#include <stdio.h>
#include <stdlib.h>

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
    int error = FST_IMAGE;
    size_t size = 0;
    void *image = contents("table.fst", &size);
    fst *table = image ? fst_load(image, size, &error) : NULL;
    fst_work *work = table ? fst_work_new(table, 0) : NULL;
    if (!work) return fprintf(stderr, "table.fst cannot be loaded: error %d\n", error), 1;
    const uint32_t *mask;
    int64_t start = fst_guide_start(work), count = fst_guide_size(work);
    for (int32_t id = 0; id < count; id++)
        if (fst_guide_mask(work, start, &mask) > id / 32 && mask[id / 32] >> (id % 32) & 1)
            printf("%d %d\n", (int)id, (int)fst_guide_step(work, start, id));
    fst_work_free(work), fst_free(table), free(image);
    return 0;
}
