/* Look up each line of standard input.
 *
 *     cc -O2 example.c lookup.c fst.c fst.o -o example && echo "flies" | ./example
 */
#include "example.h"
#include "lookup.h"

int main(void) {
    static char line[MOST + 2];
    loaded l;
    if (!load(&l)) return 1;
    while (fgets(line, sizeof line, stdin)) {
        fst_analysis found[8];
        int64_t count = fst_lookup(l.work, line, strcspn(line, "\n"), 0, found, 8, NULL);
        if (count < 0) return fprintf(stderr, "a line cannot be looked up: error %d\n", (int)count), 1;
        printf("%.*s", (int)strcspn(line, "\n"), line);
        for (int64_t i = 0; i < count && i < 8; i++) {
            char text[1000];
            int64_t written = fst_decode(l.table, found[i].pieces, found[i].count, 0, text, sizeof text);
            printf("\t%.*s", written < 1000 ? (int)written : 1000, text);
        }
        puts("");
    }
    unload(&l);
    return 0;
}
