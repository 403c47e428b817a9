/* See guide.h. */
#include "guide.h"

#include "own.h"

enum { DESCRIBE, MASK, STEP, CHECK_FINAL, CALLS };
enum { NUMBERS, BITS, COUNT = 4 };
enum { START, SIZE, END_ID };
static const uint64_t DONE = 0;

/* Run a call with two numbers, and set *numbers to the array of its results. */
static int64_t ask(fst_work *w, uint32_t call, int64_t first, int64_t second, const int64_t **results) {
    uint64_t size;
    int64_t *numbers = (int64_t *)fst_own_array(w, NUMBERS, &size);
    if (fst_own_calls(w) != CALLS || size < COUNT * 8) return FST_MISSING;
    numbers[0] = first, numbers[1] = second, *results = numbers;
    return fst_own_run(w, call) == DONE ? 0 : FST_OTHER;
}

/* A number of the results of a call. */
static int64_t answer(fst_work *w, uint32_t call, int64_t first, int64_t second, int place) {
    const int64_t *results;
    int64_t error = ask(w, call, first, second, &results);
    return error ? error : results[place];
}

int64_t fst_guide_start(fst_work *w) { return answer(w, DESCRIBE, 0, 0, START); }

int64_t fst_guide_size(fst_work *w) { return answer(w, DESCRIBE, 0, 0, SIZE); }

int64_t fst_guide_end_id(fst_work *w) { return answer(w, DESCRIBE, 0, 0, END_ID); }

int64_t fst_guide_mask(fst_work *w, int64_t state, const uint32_t **mask) {
    const int64_t *results;
    uint64_t size;
    int64_t error = ask(w, MASK, state, 0, &results);
    const uint32_t *found = (const uint32_t *)fst_own_array(w, BITS, &size);
    if (error) return error;
    if (mask) *mask = found;
    return (int64_t)(size / 4);
}

int64_t fst_guide_step(fst_work *w, int64_t state, int32_t id) { return answer(w, STEP, state, id, 0); }

int64_t fst_guide_is_final(fst_work *w, int64_t state) { return answer(w, CHECK_FINAL, state, 0, 1); }
