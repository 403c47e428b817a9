/* Print the ids that may begin a text, and the states after them.
 *
 *     cc -O2 example.c guide.c fst.c fst.o -o example && ./example
 */
#include "example.h"
#include "guide.h"

int main(void) {
    loaded l;
    if (!load(&l)) return 1;
    const uint32_t *mask;
    int64_t start = fst_guide_start(l.work), count = fst_guide_size(l.work);
    for (int32_t id = 0; id < count; id++)
        if (fst_guide_mask(l.work, start, &mask) > id / 32 && mask[id / 32] >> (id % 32) & 1)
            printf("%d %d\n", (int)id, (int)fst_guide_step(l.work, start, id));
    unload(&l);
    return 0;
}
