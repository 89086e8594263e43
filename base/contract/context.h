/* base/contract/context.h - includes what code of every layer needs: the state of an
   engine (hy_context), working memory, status codes and error sentences. */
#ifndef HY_CONTEXT_H
#define HY_CONTEXT_H

#include "base/memory/memory.h"
#include "base/text/message.h"
#include "base/contract/state.h"
#include "base/contract/status.h"

#endif /* HY_CONTEXT_H */
