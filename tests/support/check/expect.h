/* tests/support/check/expect.h - checks for programs without a test framework. */
#ifndef EXPECT_H
#define EXPECT_H

/* If `truth` is 0, prints "wrong: " and `what`, and counts a failure. */
void expect(int truth, const char *what);

/* Returns the number of failures. */
int expect_failed(void);

#endif /* EXPECT_H */
