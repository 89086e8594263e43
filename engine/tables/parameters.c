/* engine/tables/parameters.c - parameters of variants in a plan option. */
#include "engine/tables/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of a string, from `begin` on. */
typedef struct span {
    const char *begin;
    int length;
} span;

/* Returns the text from `begin` to before the first character that is one of `ends`, or
   to the end of the string. */
static span until(const char *begin, const char *ends)
{
    return (span){begin, (int)strcspn(begin, ends)};
}

static int equal(span a, span b)
{
    return a.length == b.length && strncmp(a.begin, b.begin, (size_t)a.length) == 0;
}

static const hy_variant *find(const hy_variant *const *variants, span name)
{
    for (; *variants; variants++)
        if (equal(until((*variants)->name, ""), name))
            return *variants;
    return NULL;
}

/* Returns 0 unless `value` is in `allowed`, a list "value|value" that ends at a space or
   at the string's end. Else returns `value` as a number if it is a positive one, or its
   place in the list, from 1. */
static int32_t value_of(const char *allowed, span value)
{
    for (int32_t place = 1;; place++) {
        const span one = until(allowed, "| ");
        if (equal(one, value)) {
            const int32_t number = (int32_t)strtol(one.begin, NULL, 10);
            return number > 0 ? number : place;
        }
        if (one.begin[one.length] != '|')
            return 0;
        allowed = one.begin + one.length + 1;
    }
}

/* If the variant has a parameter `name`, sets *known to 1, and *found and the parameter's
   element of `values` to the number of `value` (value_of(), 0 if it is not allowed). Else
   changes nothing. */
static void read_one(const hy_variant *variant, span name, span value, int *known,
                     int32_t values[HY_PARAMETERS], int32_t *found)
{
    const char *rest = variant->parameters ? variant->parameters : "";

    for (int i = 0; *rest && i < HY_PARAMETERS; i++) {
        const span one = until(rest, "=");
        if (equal(one, name)) {
            *known = 1;
            *found = values[i] = value_of(one.begin + one.length + 1, value);
            return;
        }
        rest += strcspn(rest, " ");
        rest += *rest == ' ';
    }
}

hybrid_status hy_parameters_read(hy_context *ctx, const hy_variant *const *variants,
                                 const char *wanted, int32_t values[HY_PARAMETERS])
{
    const char *rest = wanted ? strchr(wanted, ':') : NULL;

    memset(values, 0, HY_PARAMETERS * sizeof *values);
    if (!rest)
        return HYBRID_OK;
    const span name           = until(wanted, ":");
    const hy_variant *variant = find(variants, name);
    if (!variant)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "plan options: parameters follow the full name of a variant, and "
                       "no variant has the name '%.*s'",
                       name.length, name.begin);
    do {
        const span key   = until(rest + 1, "=,");
        const char *end  = key.begin + key.length;
        const span value = *end == '=' ? until(end + 1, ",") : (span){end, 0};
        int known        = 0;
        int32_t found    = 0;
        read_one(variant, key, value, &known, values, &found);
        if (!known)
            return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                           "plan options: %s has no parameter '%.*s'; it has: %s",
                           variant->name, key.length, key.begin,
                           variant->parameters ? variant->parameters : "none");
        if (!found)
            return hy_fail(
                ctx, HYBRID_BAD_ARGUMENT,
                "plan options: parameter '%.*s' of %s has no value '%.*s'; the "
                "parameters are: %s",
                key.length, key.begin, variant->name, value.length, value.begin,
                variant->parameters);
        rest = value.begin + value.length;
    } while (*rest);
    return HYBRID_OK;
}

/* Returns the text of the value with number `value` (value_of()) in `allowed`, a list
   "value|value" that ends at a space or at the string's end; the last text if none has
   this number. */
static span text_of(const char *allowed, int32_t value)
{
    span one = until(allowed, "| ");

    for (int32_t place = 1; one.length > 0; place++) {
        const int32_t number = (int32_t)strtol(one.begin, NULL, 10);
        if ((number > 0 ? number : place) == value || one.begin[one.length] != '|')
            break;
        one = until(one.begin + one.length + 1, "| ");
    }
    return one;
}

void hy_parameters_text(const hy_variant *variant, const int32_t values[HY_PARAMETERS],
                        char *text, size_t room)
{
    const char *rest = variant->parameters ? variant->parameters : "";
    size_t used      = 0;

    text[0] = '\0';
    for (int i = 0; *rest && i < HY_PARAMETERS; i++) {
        const span name  = until(rest, "=");
        const span value = text_of(name.begin + name.length + 1, values[i]);
        if (values[i] > 0 && used < room)
            used += (size_t)snprintf(text + used, room - used, "%s%.*s=%.*s",
                                     used > 0 ? "," : "", name.length, name.begin,
                                     value.length, value.begin);
        rest += strcspn(rest, " ");
        rest += *rest == ' ';
    }
}

int hy_parameters_want(const hy_variant *const *variants, const char *wanted,
                       const char *name)
{
    if (!wanted)
        return 1;
    const span asked = until(wanted, ":");
    if (wanted[asked.length] == ':' || find(variants, asked))
        return equal(asked, until(name, ""));
    return strncmp(name, wanted, (size_t)asked.length) == 0;
}
