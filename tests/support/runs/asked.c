/* tests/support/runs/asked.c - a progress function that checks what it receives. */
#include "support/runs/asked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

void asked_set(asked *a, hybrid_engine *engine, int64_t stop)
{
    *a                            = (asked){.engine = engine, .caller = pthread_self()};
    engine->ctx.progress.every_ns = 0;
    hybrid_engine_progress(engine, asked_fn, a);
    asked_again(a, stop);
}

void asked_again(asked *a, int64_t stop)
{
    a->calls = a->done = a->part = a->over = 0;
    a->rows                                = -1;
    a->stop                                = stop;
}

static void refuses_calls(hybrid_engine *engine)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_csr C         = {0};

    assert_int_equal(hybrid_generate(engine, "road:3", HYBRID_F64, 1, &C),
                     HYBRID_BAD_STATE);
    assert_int_equal(hybrid_engine_report(engine, &report), HYBRID_BAD_STATE);
    assert_non_null(strstr(hybrid_engine_message(engine), "hybrid_engine_progress()"));
    hybrid_engine_progress(engine, NULL, NULL);
    hybrid_engine_trim(engine);
    hybrid_engine_destroy(engine);
}

int asked_fn(void *user, int64_t rows_done, int64_t rows)
{
    asked *a = user;

    assert_true(pthread_equal(pthread_self(), a->caller));
    assert_false(a->over);
    assert_true(a->calls == 0 || rows == a->rows);
    assert_in_range(rows_done, (uintmax_t)a->done, (uintmax_t)rows);
    if (a->calls++ == 0 && a->engine)
        refuses_calls(a->engine);
    a->rows = rows;
    a->done = rows_done;
    a->part += rows_done > 0 && rows_done < rows;
    a->over = rows_done == rows || a->calls == a->stop;
    return a->calls == a->stop ? ASKED_ANSWER : 0;
}

void asked_check(const asked *a, hybrid_status status, int64_t rows)
{
    assert_true(a->calls == 0 || a->rows == rows);
    if (status == HYBRID_OK) {
        assert_true(a->over);
        assert_int_equal(a->done, rows);
        return;
    }
    assert_int_equal(status, HYBRID_CANCELLED);
    assert_int_equal(a->calls, a->stop);
    assert_non_null(strstr(hybrid_engine_message(a->engine), "returned 7 after"));
}
