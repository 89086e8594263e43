/* engine/rates/calibrate_set.c - calibration with the usual products. */
#include "engine/api/struct_size.h"
#include "engine/rates/calibrate.h"

/* The order of each list is mixed, so that the products timed before the time limit cover
   all kinds and sizes. Fixed costs need small products, and factors need large ones: a
   list goes from some thousand scalar products to a hundred million or more. Row lengths
   are from 2 to 64, even and uneven. */
static const char *const device_spmm[]   = {"er:2000,4",    "er:262144,8",
                                            "fem3:12",      "powerlaw:100000,6,20000",
                                            "er:20000,3",   "stencil27:50",
                                            "rmat:14,16",   "band:60000,8",
                                            "er:131072,2",  "fem3:28",
                                            "stencil7:40",  "rmat:17,8",
                                            "er:131072,24", "road:300",
                                            "er:30000,40",  "powerlaw:131072,16,50000",
                                            "er:262144,12", "band:250000,2",
                                            "stencil7:60",  "er:65536,64",
                                            "er:262144,4",  NULL};
static const char *const device_spgemm[] = {"er:1000,3",
                                            "er:262144,4",
                                            "stencil27:25",
                                            "powerlaw:200000,3,2000",
                                            "rmat:14,8",
                                            "band:16000,4",
                                            "fem3:14",
                                            "rmat:12,2",
                                            "er:20000,6",
                                            "fem3:5",
                                            "powerlaw:20000,3,500",
                                            "er:32768,24",
                                            "road:300",
                                            "rmat:10,16",
                                            "band:131072,4",
                                            "rmat:15,2",
                                            "stencil7:40",
                                            "powerlaw:100000,2,500",
                                            "band:32768,16",
                                            NULL};
static const char *const host_spmm[]     = {"er:500,3",    "stencil27:40",
                                            "er:20000,8",  "powerlaw:100000,6,20000",
                                            "er:3000,4",   "fem3:28",
                                            "er:200000,4", "stencil27:14",
                                            "rmat:14,16",  "powerlaw:20000,4,1000",
                                            "er:65536,16", "fem3:14",
                                            "stencil7:60", NULL};
static const char *const host_spgemm[]   = {"er:200,3",
                                            "er:20000,6",
                                            "rmat:11,8",
                                            "stencil27:12",
                                            "fem3:5",
                                            "er:8000,24",
                                            "er:3000,4",
                                            "rmat:9,2",
                                            "powerlaw:20000,4,1000",
                                            "fem3:9",
                                            "band:16000,4",
                                            "er:200000,3",
                                            "stencil27:25",
                                            NULL};

hybrid_status hybrid_engine_calibrate(hybrid_engine *engine, const char *path,
                                      hybrid_calibrate_fn fn, void *user,
                                      hybrid_calibration *out)
{
    static const int64_t columns[]    = {1, 8, 32, 128, 0};
    static const hy_calibrate_set set = {
        {device_spmm, device_spgemm, 36}, {host_spmm, host_spgemm, 8}, columns, 5, 50};
    hybrid_calibration found;

    HY_TRY(hy_engine_begin(engine));
    if (out)
        HY_TRY(hy_struct_check(&engine->ctx, &hy_calibration_struct, out->struct_size));
    if (path && !path[0])
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT,
                       "calibrate: a file needs a name");
    HY_TRY(hy_calibrate(engine, path, &set, fn, user, &found));
    if (out)
        hy_struct_write(&hy_calibration_struct, &found, out);
    return HYBRID_OK;
}
