/* tests/support/engines/listed.h - the devices that HYBRID_DEVICES lists.

   With HYBRID_DEVICES=0,1 in the environment, every device engine of a test that names no
   devices uses these devices. Each of them computes a part of every product that it can
   compute. The same tests thus run on several devices. */
#ifndef LISTED_H
#define LISTED_H

enum { LISTED_MOST = 16 };

/* Returns the number of listed devices; 0 if the variable is not set. */
int listed_devices(int devices[LISTED_MOST]);

#endif /* LISTED_H */
