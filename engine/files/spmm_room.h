/* engine/files/spmm_room.h - how Y = alpha*A*X with operands in files divides host
   memory.

   A is read in parts. Two parts are in memory, and each is multiplied by all rows of X
   that it touches. An X in a file is read completely if several parts would each
   read it, and if it takes at most half of the memory for operands. Otherwise blocks of X
   pass through memory once for each part (partition/parts/x_block.h), so parts are as
   large as memory allows. */
#ifndef HY_SPMM_ROOM_H
#define HY_SPMM_ROOM_H

#include "engine/files/files.h"

typedef struct hy_spmm_room {
    int whole_x;        /* 1: X is read completely before the first part */
    int in_parts;       /* 1: an A in memory is copied in parts, too */
    int64_t part_bytes; /* maximum bytes of a part of A */
    int64_t panel_rows; /* maximum rows of a part of A, and of the panel of Y that belongs
                           to it; the number of rows of A if Y is in memory */
    int64_t piece_bytes; /* maximum bytes of Y that are written at once, if Y goes to a
                            file */
    int64_t x_passes;    /* number of times that X is read from its file, if A touches all
                            of its rows in every part; 0: X is in memory */
    int64_t peak_bytes;  /* most host memory that operands and Y will take, about */
    int64_t block_bytes; /* part of peak_bytes that blocks of X take, which only the CPU
                            needs: a device gets X through pinned memory */
} hy_spmm_room;

/* Divides the host memory that is free now. to_file: 1 if Y goes to a file, else 0. */
hy_spmm_room hy_spmm_room_of(const hy_files *call, const hy_sparse *A, const hy_source *X,
                             int to_file);

#endif /* HY_SPMM_ROOM_H */
