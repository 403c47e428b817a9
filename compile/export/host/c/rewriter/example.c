/* Rewrite each line of standard input.
 *
 *     cc -O2 example.c rewriter.c fst.c fst.o -o example && echo "Hello world" | ./example
 */
#include "example.h"
#include "rewriter.h"

int main(void) {
    static char line[MOST + 2];
    loaded l;
    if (!load(&l)) return 1;
    while (fgets(line, sizeof line, stdin)) {
        const char *text;
        int64_t count = fst_rewrite(l.work, line, strcspn(line, "\n"), &text, NULL);
        if (count < 0) return fprintf(stderr, "a line cannot be rewritten: error %d\n", (int)count), 1;
        printf("%.*s\n", (int)count, text);
    }
    unload(&l);
    return 0;
}
