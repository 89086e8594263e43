/* base/contract/context.h - what every layer of one engine shares, with its memory and
   its message. */
#ifndef HY_CONTEXT_H
#define HY_CONTEXT_H

#include "base/memory/memory.h"
#include "base/text/message.h"
#include "base/contract/state.h"
#include "base/contract/status.h"

#endif /* HY_CONTEXT_H */
