/* Encode the texts of a file, which end with a NUL each, PASSES times: print the seconds of processor time of each pass, and the number of ids.
 * With 0 passes, find the ids and their offsets once, and print what Linux reports of the process. */
#include "fst.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *contents(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    char *data = NULL;
    if (file && !fseek(file, 0, SEEK_END) && (data = malloc(*size = (size_t)ftell(file)))) {
        rewind(file);
        if (fread(data, 1, *size, file) != *size) *size = 0;
    }
    if (file) fclose(file);
    return data;
}

int main(int argc, char **argv) {
    size_t size = 0, length = 0;
    int error = 0;
    char *image = argc == 4 ? contents(argv[1], &size) : NULL, *texts = image ? contents(argv[2], &length) : NULL;
    fst *table = texts ? fst_load(image, size, &error) : NULL;
    fst_work *work = table ? fst_work_new(table, length) : NULL;
    if (!work) return fprintf(stderr, "error %d\n", error), 1;
    for (const char *text = texts; !atoi(argv[3]) && text < texts + length; text += strlen(text) + 1)
        if (fst_encode_offsets(work, text, strlen(text), NULL, NULL) < 0) return 1;
    FILE *status = atoi(argv[3]) ? NULL : fopen("/proc/self/status", "r");
    for (char line[256]; status && fgets(line, sizeof line, status);) fputs(line, stdout);
    for (int pass = atoi(argv[3]); pass--;) {
        int64_t ids = 0;
        clock_t begin = clock();
        for (const char *text = texts; text < texts + length; text += strlen(text) + 1) ids += fst_encode(work, text, strlen(text), NULL);
        printf("%.6f %lld\n", (double)(clock() - begin) / CLOCKS_PER_SEC, (long long)ids);
    }
    return 0;
}
