/* tests/support/check/expect.h - checks for programs without a test framework. */
#ifndef EXPECT_H
#define EXPECT_H

/* If `truth` is 0, prints "wrong: " and `what`, and counts a failure. */
void expect(int truth, const char *what);

/* Returns how many calls of expect() had a `truth` of 0 so far. */
int expect_failed(void);

#endif /* EXPECT_H */
