/* Encode each line of standard input, and print its ids.
 *
 *     cc -O2 example.c fst.c fst.o -o example && echo "Hello world" | ./example
 */
#include "example.h"

int main(void) {
    static char line[MOST + 2];
    loaded l;
    if (!load(&l)) return 1;
    while (fgets(line, sizeof line, stdin)) {
        const int32_t *ids;
        int64_t count = fst_encode(l.work, line, strcspn(line, "\n"), &ids);
        if (count < 0) return fprintf(stderr, "a line cannot be encoded: error %d\n", (int)count), 1;
        for (int64_t i = 0; i < count; i++) printf(i ? " %d" : "%d", (int)ids[i]);
        puts("");
    }
    unload(&l);
    return 0;
}
