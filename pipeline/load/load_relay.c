/* pipeline/load/load_relay.c - devices that load the same image bring it up once between
   them.

   Without a relay every device receives all of B or X from host memory, which then bounds
   a run on several devices. With a relay the image is divided into pieces, and piece k is
   sent up to device k mod n only. The other devices copy it from that device, through a
   direct connection such as NVLink.

   A device sends its own piece of a round (n pieces) before it copies the pieces of the
   round before, so its bus never waits for another device. Peer copies have a lane of
   their own. A chunk may begin when all pieces up to its last row are on their way.

   If one device has received B since planning began, it alone receives all of B, and the
   others copy B from it (load_follow.c). */
#include "base/data/min_max.h"
#include "pipeline/load/relay_pieces.h"

/* ---- the loaders of a relay -------------------------------------------------------- */

void hy_relay_open(hy_relay *relay)
{
    *relay = (hy_relay){.piece_bytes = SIZE_MAX};
    pthread_mutex_init(&relay->lock, NULL);
    pthread_cond_init(&relay->changed, NULL);
}

/* Makes `leader` the leader of `relay`, or of no relay if that is NULL. Does nothing if
   `leader` is NULL. */
static void set_led(hy_loader *leader, hy_relay *relay)
{
    if (!leader)
        return;
    pthread_mutex_lock(&leader->progress.lock);
    leader->led = relay;
    pthread_mutex_unlock(&leader->progress.lock);
}

void hy_relay_close(hy_relay *relay)
{
    for (int i = 0; i < relay->count; i++)
        relay->of[i]->relay = NULL;
    set_led(relay->leader, NULL);
    pthread_cond_destroy(&relay->changed);
    pthread_mutex_destroy(&relay->lock);
}

/* Returns 1 if the loader can join the relay: its image is complete and the same as that
   of the other loaders, and the devices can read each other's memory. */
static int may_join(const hy_relay *relay, const hy_loader *loader, const hy_image *image)
{
    if (!hy_image_is_complete(image) || hy_image_bytes(image) == 0)
        return 0;
    for (int i = 0; i < relay->count; i++) {
        const hy_loader *other = relay->of[i];
        if (!hy_image_is_same(&other->image, image) ||
            !hy_backend_reads(other->backend, loader->backend) ||
            !hy_backend_reads(loader->backend, other->backend))
            return 0;
    }
    return 1;
}

/* Returns the number of rounds in which `count` loaders send all pieces of the image. */
static int64_t rounds_of(const hy_loader *loader, int64_t count)
{
    return (hy_relay_pieces(loader) + count - 1) / count;
}

/* Makes sure that there is a mark for each piece that the loader sends, one a round.
   Marks of earlier runs are used again. */
static hybrid_status open_marks(hy_loader *loader, int64_t count)
{
    hy_context *ctx     = loader->backend->ctx;
    hy_relay_part *part = &loader->relayed;
    void *marks;

    if (count <= part->count)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, count, sizeof(void *), "marks of pieces", &marks));
    hy_mark **sent = marks;
    for (int64_t i = 0; i < part->count; i++)
        sent[i] = part->sent[i];
    hy_array_free(ctx, part->sent);
    part->sent = sent;
    for (; part->count < count; part->count++)
        HY_TRY(hy_lane_set_mark(loader->lane_set, &sent[part->count]));
    return HYBRID_OK;
}

/* Creates the lane and the marks that the loader needs to follow `leader` or, if that is
   NULL, for `rounds` rounds of the relay. */
static hybrid_status prepare(hy_loader *loader, hy_loader *leader, int64_t rounds)
{
    hy_relay_part *part = &loader->relayed;

    part->bytes = 0;
    if (leader && !part->led)
        HY_TRY(hy_lane_set_mark(leader->lane_set, &part->led));
    if (!part->begin) {
        HY_TRY(hy_lane_set_peer(loader->lane_set));
        HY_TRY(hy_lane_set_mark(loader->lane_set, &part->end));
        HY_TRY(hy_lane_set_mark(loader->lane_set, &part->begin));
    }
    return leader ? HYBRID_OK : open_marks(loader, rounds);
}

void hy_relay_add(hy_relay *relay, hy_loader *loader, const hy_image *image)
{
    if (loader->begun && !relay->leader && image->form == HY_FORM_CSR)
        relay->leader = loader;
    if (loader->begun || !may_join(relay, loader, image))
        return;
    loader->image             = *image;
    loader->relayed.index     = relay->count;
    relay->piece_bytes        = hy_smaller(relay->piece_bytes, loader->ring.piece_bytes);
    relay->of[relay->count++] = loader;
}

/* Returns 1 if all loaders can copy the image of the leader. */
static int can_lead(const hy_relay *relay)
{
    const hy_loader *leader = relay->leader;
    int can                 = leader && relay->count > 0;

    for (int i = 0; i < relay->count && can; i++)
        can = hy_image_is_same(&leader->image, &relay->of[i]->image) &&
              hy_backend_reads(relay->of[i]->backend, leader->backend);
    return can;
}

hybrid_status hy_relay_begin(hy_relay *relay)
{
    if (!can_lead(relay))
        relay->leader = NULL;
    if (relay->count < 2 && !relay->leader)
        relay->count = 0;
    for (int i = 0; i < relay->count; i++) {
        hy_loader *loader = relay->of[i];
        loader->relay     = relay;
        HY_TRY(prepare(loader, relay->leader, rounds_of(loader, relay->count)));
    }
    set_led(relay->leader, relay);
    return HYBRID_OK;
}

/* Stops the relay: wakes all loaders that wait for each other. `failed` is a loader that
   has failed, or NULL. */
static void stop(hy_relay *relay, const hy_loader *failed)
{
    pthread_mutex_lock(&relay->lock);
    relay->stopped = 1;
    relay->failed  = relay->failed ? relay->failed : failed;
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
}

void hy_relay_stop(hy_relay *relay)
{
    stop(relay, NULL);
}

/* ---- own pieces -------------------------------------------------------------------- */

static hybrid_status load_piece(hy_loader *loader, const hy_relay_piece *p)
{
    if (loader->image.form == HY_FORM_CSR && p->region.begin == HY_CSR_VALUES) {
        const hy_region cols = hy_image_region(&loader->image, HY_CSR_COLS);
        HY_TRY(hy_load_elements(loader, &cols, p->begin, p->end));
    }
    for (int64_t done = p->begin, step; done < p->end; done += step) {
        step = hy_min(hy_load_step(loader, &p->region, done), p->end - done);
        HY_TRY(hy_load_some(loader, &p->region, done, done + step));
    }
    return HYBRID_OK;
}

/* Sends piece k from the host to the loader's device, and notes this, so that the other
   loaders copy the piece from there. */
static hybrid_status send_piece(hy_loader *loader, int64_t k)
{
    hy_relay *relay        = loader->relay;
    const int index        = loader->relayed.index;
    const hy_relay_piece p = hy_relay_piece_at(loader, k);

    HY_TRY(load_piece(loader, &p));
    HY_TRY(hy_load_flush(loader));
    HY_TRY(hy_mark_untimed(loader->lane_set->lanes[HY_ON_IN],
                           loader->relayed.sent[k / relay->count]));
    pthread_mutex_lock(&relay->lock);
    relay->sent[index]++;
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
    return HYBRID_OK;
}

/* ---- pieces of other devices ------------------------------------------------------- */

static hybrid_status copy_bytes(hy_loader *loader, const hy_loader *from, size_t at,
                                size_t bytes)
{
    hy_lane *lane = loader->lane_set->peer;

    if (bytes == 0)
        return HYBRID_OK;
    loader->relayed.bytes += (int64_t)bytes;
    return lane->backend->ops->copy_peer(
        lane, (char *)loader->image_memory.ptr + at, from->backend,
        (const char *)from->image_memory.ptr + at, bytes);
}

hybrid_status hy_relay_copy(hy_loader *loader, const hy_loader *from,
                            const hy_region *region, int64_t begin, int64_t end)
{
    return copy_bytes(loader, from, hy_image_at(&loader->image, region, begin),
                      (size_t)(end - begin) * region->size);
}

/* Enqueues the copy of the rows of piece `p`, and of their tail columns, which lie behind
   all rows, from the device of loader `from`. */
static hybrid_status copy_rows(hy_loader *loader, const hy_loader *from,
                               const hy_relay_piece *p)
{
    const hy_region *r = &p->region;
    const int64_t row  = p->begin / hy_region_row(r),
                  rows = p->end / hy_region_row(r) - row;

    HY_TRY(copy_bytes(loader, from, hy_image_row_at(&loader->image, r, row),
                      (size_t)(rows * r->ld) * r->size));
    return copy_bytes(loader, from, hy_image_tail_at(&loader->image, r, row),
                      (size_t)(rows * r->tail_ld) * r->size);
}

static hybrid_status copy_piece(hy_loader *loader, const hy_loader *from,
                                const hy_relay_piece *p)
{
    if (loader->image.form == HY_FORM_CSR && p->region.begin == HY_CSR_VALUES) {
        const hy_region cols = hy_image_region(&loader->image, HY_CSR_COLS);
        HY_TRY(hy_relay_copy(loader, from, &cols, p->begin, p->end));
    }
    if (p->region.tail > 0)
        return copy_rows(loader, from, p);
    return hy_relay_copy(loader, from, &p->region, p->begin, p->end);
}

hybrid_status hy_relay_fail_as(const hy_loader *loader, const hy_loader *failed)
{
    return hy_fail(loader->backend->ctx, failed->progress.status, "%s",
                   failed->said.text);
}

/* Waits until loader j has sent more than `round` of its pieces. *goes_on is 0 if the
   relay has been stopped. Fails if another loader has failed, because the driver may wait
   for this loader only. */
static hybrid_status await_sent(const hy_loader *loader, int j, int64_t round,
                                int *goes_on)
{
    hy_relay *relay = loader->relay;

    pthread_mutex_lock(&relay->lock);
    while (!relay->stopped && relay->sent[j] <= round)
        pthread_cond_wait(&relay->changed, &relay->lock);
    *goes_on                = !relay->stopped;
    const hy_loader *failed = relay->failed;
    pthread_mutex_unlock(&relay->lock);
    return failed ? hy_relay_fail_as(loader, failed) : HYBRID_OK;
}

/* Enqueues the copy of piece k from the device of loader j, which has sent it. */
static hybrid_status copy_from(hy_loader *loader, int j, int64_t k)
{
    const hy_relay *relay     = loader->relay;
    hy_relay_part *part       = &loader->relayed;
    const hy_backend_ops *ops = loader->backend->ops;
    hy_lane *lane             = loader->lane_set->peer;
    const hy_relay_piece p    = hy_relay_piece_at(loader, k);

    HY_TRY(ops->lane_wait(lane, relay->of[j]->relayed.sent[k / relay->count]));
    if (part->bytes == 0)
        HY_TRY(ops->mark_set(lane, part->begin));
    return copy_piece(loader, relay->of[j], &p);
}

/* Enqueues the copies of the other devices' pieces of a round. *goes_on is 0 if the relay
   has been stopped. The mark `end` is set then, too, because hy_relay_retire() must wait
   for the copies that this round has enqueued. */
static hybrid_status copy_round(hy_loader *loader, int64_t round, int64_t pieces,
                                int *goes_on)
{
    const hy_relay *relay     = loader->relay;
    const hy_relay_part *part = &loader->relayed;
    const hy_backend_ops *ops = loader->backend->ops;

    for (int j = 0; j < relay->count && *goes_on; j++) {
        const int64_t k = round * relay->count + j;
        if (j == part->index || k >= pieces)
            continue;
        HY_TRY(await_sent(loader, j, round, goes_on));
        if (*goes_on)
            HY_TRY(copy_from(loader, j, k));
    }
    HY_TRY(ops->mark_set(loader->lane_set->peer, part->end));
    return ops->lane_wait(loader->lane_set->lanes[HY_ON_IN], part->end);
}

/* Reports the leading elements that are on their way after a round. Returns 0 if loading
   must stop. */
static int tell_round(hy_loader *loader, int64_t round, int64_t pieces)
{
    const int64_t last     = hy_min((round + 1) * loader->relay->count, pieces) - 1;
    const hy_relay_piece p = hy_relay_piece_at(loader, last);

    return hy_load_tell(loader, p.reached, HYBRID_OK);
}

/* ---- the loader's thread ----------------------------------------------------------- */

static hybrid_status load_rounds(hy_loader *loader)
{
    const int64_t pieces = hy_relay_pieces(loader), count = loader->relay->count;
    const int64_t rounds = rounds_of(loader, count);
    int goes_on          = 1;

    for (int64_t round = 0; round <= rounds && goes_on; round++) {
        const int64_t own = round * count + loader->relayed.index;
        if (own < pieces)
            HY_TRY(send_piece(loader, own));
        if (round > 0)
            HY_TRY(copy_round(loader, round - 1, pieces, &goes_on));
        goes_on = goes_on && (round == 0 || tell_round(loader, round - 1, pieces));
    }
    return HYBRID_OK;
}

hybrid_status hy_relay_load(hy_loader *loader)
{
    const hybrid_status status =
        loader->relay->leader ? hy_relay_follow(loader) : load_rounds(loader);

    if (status != HYBRID_OK) {
        hy_load_tell(loader, 0, status);
        stop(loader->relay, loader);
    }
    return status;
}

hybrid_status hy_relay_retire(hy_loader *loader)
{
    const hy_backend_ops *ops = loader->backend->ops;
    hy_relay_part *part       = &loader->relayed;

    if (part->bytes == 0)
        return HYBRID_OK;
    HY_TRY(ops->host_wait(part->end));
    loader->times.peer_bytes    = part->bytes;
    loader->times.peer_begin_ns = ops->mark_ns(part->begin);
    loader->times.peer_end_ns   = ops->mark_ns(part->end);
    return HYBRID_OK;
}
