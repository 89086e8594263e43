/* engine/panels.h - into which panels of columns an X on the device is cut. */
#ifndef HY_PANELS_H
#define HY_PANELS_H

#include "engine/layout.h"

/* Panels with which the product is shortest, all of them on the device at once;
   whole if they are no gain. The layout has X whole: it tells what each chunk needs of
   it. X and Y are not pinned. */
hy_image hy_panels_best(const hy_product *product, const hy_layout *whole);

/* If they are: prepare a layout that has X whole for runs in panels too, should they be a
   gain, and A and X fit so. layout->if_pinned says. */
void hy_panels_offer(const hy_product *product, hy_layout *layout);

/* Seconds that the device is expected to take alone for such a run, if it is the first. */
double hy_panels_pinned_s(const hy_product *product, const hy_layout *layout);

/* The layout with X in these panels, and as much of A as fits beside them. 0 slots: they
   do not fit, or some row does not. */
hybrid_status hy_panels_try(const hy_planning *p, int depth, hy_image panels,
                            hy_layout *out);

/* The fewest panels of which two take no more than so many bytes of the device; whole: not
   even a narrow one fits, or the variant takes none. */
hy_image hy_panels_within(const hy_product *product, size_t bytes);

/* Bits of a sum depend on the lanes that share a row, those on a panel's width: where
   they shall be the same in every run, panels are the same wherever Y lies. */
int hy_panels_may_move(const hy_product *product);

#endif /* HY_PANELS_H */
