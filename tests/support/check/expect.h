/* tests/support/check/expect.h - what is checked where there is no test framework. */
#ifndef EXPECT_H
#define EXPECT_H

/* Unless it is the truth, print `what` is wrong and remember it. */
void expect(int truth, const char *what);

/* How often it was not. */
int expect_failed(void);

#endif /* EXPECT_H */
