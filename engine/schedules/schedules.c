/* engine/schedules/schedules.c - the table of schedules. Of equally fast schedules the
   first is used, so simple ones come first. */
#include "engine/schedules/schedule.h"

const hy_schedule *const hy_schedules[] = {
    &hy_schedule_whole,
    &hy_schedule_row_ring,
    &hy_schedule_entry_ring,
    &hy_schedule_column_ring,
    &hy_schedule_gather,
    &hy_schedule_in_place,
    NULL,
};
