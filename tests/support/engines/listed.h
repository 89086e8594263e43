/* tests/support/engines/listed.h - the devices that HYBRID_DEVICES lists.

   A test that names no devices uses those of the environment variable HYBRID_DEVICES,
   such as 0,1. Each of them computes a part of every product that it can compute, so that
   tests for one device also test several. */
#ifndef LISTED_H
#define LISTED_H

enum { LISTED_MOST = 16 };

/* Stores the numbers of the devices that HYBRID_DEVICES lists. Returns how many they are;
   0 if the variable is not set. */
int listed_devices(int devices[LISTED_MOST]);

#endif /* LISTED_H */
