/* tests/support/engines/listed.h - the devices that tests are to use, where they do not
   say.

   With HYBRID_DEVICES=0,1 in the environment engines for a device have these, and each
   computes a part of every product that it can: the same tests, on several devices. */
#ifndef LISTED_H
#define LISTED_H

enum { LISTED_MOST = 16 };

/* Returns how many; 0: none are listed. */
int listed_devices(int devices[LISTED_MOST]);

#endif /* LISTED_H */
