/* engine/window.h - X passes through the device, a window of its rows at a time. */
#ifndef HY_WINDOW_H
#define HY_WINDOW_H

#include "engine/layout.h"

/* Between which columns rows of A lie, if X could pass through: else its blocks are NULL. To
   be freed, also after a failure. */
hybrid_status hy_window_look(const hy_planning *p, hy_extents *out);

/* Once p->extents are known: a layout with a window of X, in half of the budget if the rows
   of all chunks in flight find a place there; else in more, and then with fewer slots. 0
   slots: none holds what chunks touch. */
hybrid_status hy_window_try(const hy_planning *p, int depth, int least_depth,
                            hy_layout *out);

#endif /* HY_WINDOW_H */
