/* tests/install/consumer.c - what a user's first program looks like to the linker. */
#include <hybrid_spmm.h>

int main(void)
{
    return hybrid_version() == HYBRID_VERSION ? 0 : 1;
}
