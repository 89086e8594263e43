/* tests/support/fake/fake_lane.h - functions of the fake device that its files share. */
#ifndef FAKE_LANE_H
#define FAKE_LANE_H

#include "base/contract/backend.h"

hybrid_status fake_lane_open(hy_backend *self, const char *name, int urgent,
                             hy_lane **out);
void fake_lane_close(hy_lane *lane);
hybrid_status fake_borrow(hy_backend *self, void *stream, hy_lane **out);
void fake_lane_drain(hy_lane *lane);
hybrid_status fake_lane_copy(hy_lane *lane, const hy_row_copy *rows);

hybrid_status fake_mark_new(hy_backend *self, hy_mark **out);
void fake_mark_free(hy_mark *mark);
hybrid_status fake_mark_set(hy_lane *lane, hy_mark *mark);
hybrid_status fake_mark_untimed(hy_lane *lane, hy_mark *mark);
hybrid_status fake_lane_wait(hy_lane *lane, hy_mark *mark);
hybrid_status fake_host_wait(hy_mark *mark);
hybrid_status fake_mark_reached(hy_mark *mark, int *out);
int64_t fake_mark_ns(const hy_mark *mark);

/* ---- between fake_lane.c and fake_mark.c ---- */

/* Begins a setting of the mark on a lane, and returns its number. fake_mark_reach() ends
   it with the status of the lane. fake_mark_wait() returns that status once the setting
   has ended. A setting that is `untimed` has no time to ask for. */
int64_t fake_mark_begin(hy_mark *mark, hy_lane *on, int untimed);
void fake_mark_reach(hy_mark *mark, int64_t turn, hybrid_status status);
hybrid_status fake_mark_wait(hy_mark *mark, int64_t turn);

/* Returns the number of the latest setting, and sets *on to its lane. */
int64_t fake_mark_latest(hy_mark *mark, hy_lane **on);

/* The failure of the lane has been told: the lane works again once it is idle. */
void fake_lane_report(hy_lane *lane);

/* Returns the backend that created the mark. */
const hy_backend *fake_mark_backend(const hy_mark *mark);

/* Adds `by` to fake_alive(): 1 after an object was created, -1 after one was freed. */
void fake_count(int64_t by);

enum { FAKE_PIN_BYTES = 4096 };

/* Returns 1 if all `bytes` bytes are in memory that this device allocated or, outside
   the engine, that fake_memory() gave it. */
int fake_on_device(hy_backend *base, const void *ptr, size_t bytes);

hybrid_status fake_transpose(hy_lane *lane, const hy_transposition *transposition);
hybrid_status fake_rebase(hy_lane *lane, const hy_rebasing *r);
hybrid_status fake_collect(hy_lane *lane, const hy_collecting *c);
hybrid_status fake_products(hy_lane *lane, int64_t rows, const int64_t *a_row_ptr,
                            const int32_t *a_col, const int64_t *b_row_ptr,
                            uint32_t *products);
enum { FAKE_SURVEY_BYTES = 64 };
/* implemented in fake_survey.c */
hybrid_status fake_survey(hy_lane *lane, const hy_surveying *s);

/* ---- fake_pin.c ---- */

hybrid_status fake_pin(hy_backend *base, void *ptr, size_t bytes);
void fake_unpin(hy_backend *base, void *ptr);
size_t fake_pinned(hy_backend *base, const void *ptr, size_t bytes);

/* Returns 1 if all `bytes` bytes lie in one range that a caller pinned for the engine of
   `base`. fake_direct() then counts `used` more bytes. */
int fake_pin_direct(const hy_backend *base, const void *ptr, size_t bytes, size_t used);

#endif /* FAKE_LANE_H */
