/* tests/run/ring/test_entry_positions.c - places of entries of B in their ring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "support/fake/fake_backend.h"

/* ---- positions in the ring ---- */

enum { ENTRIES = 1000 };

/* Copies entries [begin, end) of B into a ring as the loader does: entry e to place e
   modulo `held` (number of entries in the ring), and a second time behind the end of the
   ring, so that a chunk reads entries that follow each other. */
static void load(const hy_image *image, int64_t begin, int64_t end, int64_t *memory)
{
    for (int64_t e = begin; e < end; e++) {
        const int64_t at = e % image->held;
        memory[at]       = e;
        if (at < image->span && e >= image->held)
            memory[image->held + at] = e;
    }
}

/* A chunk may read any entries in a span of the ring. They must follow each other in
   memory once the last of them is loaded, and the piece with that last entry must have
   replaced none of them. */
static void what_a_chunk_reads_is_there(void **state)
{
    const hy_image whole = hy_image_of_csr(200, 50, ENTRIES, HYBRID_F64);

    (void)state;
    for (int64_t held = 64; held < 300; held += 7) {
        const hy_image image = hy_image_entry_ring(&whole, held, hy_ring_max_span(held));
        const hy_region values = hy_image_region(&image, HY_CSR_VALUES);
        int64_t *memory        = malloc((size_t)(held + image.span) * sizeof *memory);
        assert_non_null(memory);
        for (int64_t done = 0; done < ENTRIES;) {
            const int64_t stop = hy_image_piece(&image, &values, done, ENTRIES);
            load(&image, done, stop, memory);
            for (int64_t last = done + 1; last <= stop; last++) {
                const int64_t first = last > image.span ? last - image.span : 0;
                const int64_t base  = hy_entry_ring_base(&image, first);
                assert_true(hy_image_displaced(&image, 0, stop) <= first);
                for (int64_t e = first; e < last; e++)
                    assert_int_equal(memory[e - base], e);
            }
            done = stop;
        }
        free(memory);
    }
}

static void room_and_bytes_count_what_is_stored_twice(void **state)
{
    const hy_image whole = hy_image_of_csr(100, 50, ENTRIES, HYBRID_F64);
    const hy_image ring  = hy_image_entry_ring(&whole, 300, 40);

    (void)state;
    assert_int_equal(hy_image_room(&ring),
                     hy_align(101 * 8) + hy_align(340 * 4) + 340 * 8);
    assert_int_equal(hy_image_bytes(&ring), 101 * 8 + (ENTRIES + 3 * 40) * 12);
    assert_int_equal(hy_image_blocks(&ring), ENTRIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_chunk_reads_is_there),
        cmocka_unit_test(room_and_bytes_count_what_is_stored_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
